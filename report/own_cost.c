#include "report/own_cost.h"

#include <stdlib.h>

#include "report/busy.h"
#include "report/room.h"

/*
 * ns on the calling thread, each, from docs/cupti-notes.md section 3 and bench/overhead: an H200,
 * driver 580, CUPTI 13.0, the median of four runs on machines with more and less to do besides.
 * Entry and exit callbacks of a call, the driver call within a runtime call included.
 */
enum {
	DRIVER_CALLBACKS_NS = 100,
	RUNTIME_CALLBACKS_NS = 190,
	MEMORY_CALLBACKS_NS = 100, /* what a call that allocates or frees takes more */
	GRAPH_LAUNCH_NS =
		13000,       /* what a graph launch takes more as soon as anybody has subscribed */
	GRAPH_NODE_NS = 600, /* a record of a kernel, copy or set in a graph */
	LONGEST_WAIT_NS = 50000, /* a longer one is for something else: a full queue, the GPU */
};

/*
 * Of the time that calls overlap, from bench/overhead with 2, 4 and 8 threads (added 1.9, 2.0, 3.4 to 5.7 us a launch; with this
 * part, 1.6, 2.6, 3.1 to 4.0 are stated).
 */
#define WAITING_SHARE 0.31

/* A record of an operation outside of graphs. */
static const double record_ns[] = {
	[GP_OP_KERNEL] = 640,
	[GP_OP_COPY] = 500,
	[GP_OP_SET] = 460,
	[GP_OP_GRAPH] = 640,
};

/* Counters are of the whole run: the part of its records that the trace has still (--keep-last). */
static double kept_share(const struct gp_model *model)
{
	double kept = (double)model->call_count + model->op_count + model->memory_count;
	double old = (double)model->counters[GP_COUNTER_LEFT_OUT_OLD];

	return old > 0 ? kept / (kept + old) : 1;
}

static double hook_ns(const struct gp_model *model)
{
	const uint64_t *counters = model->counters;

	if (counters[GP_COUNTER_HOOKS_SAMPLED] == 0)
		return 0;
	return (double)counters[GP_COUNTER_HOOKS_SAMPLED_TICKS] * model->ns_per_tick /
	       (double)counters[GP_COUNTER_HOOKS_SAMPLED] * (double)counters[GP_COUNTER_HOOKS] *
	       kept_share(model);
}

static double callbacks_ns(const struct gp_model *model, const struct gp_call *call)
{
	double ns = GP_API_IS_DRIVER(call->api) ? DRIVER_CALLBACKS_NS : RUNTIME_CALLBACKS_NS;
	uint8_t class = gp_model_api_class(model, call->api);

	if (class == GP_API_GRAPH_LAUNCH)
		ns += GRAPH_LAUNCH_NS;
	if (class == GP_API_ALLOC || class == GP_API_FREE)
		ns += MEMORY_CALLBACKS_NS;
	return ns;
}

/* How long calls that started operations were inside while others were. */
static double overlap_ns(const struct gp_model *model)
{
	struct gp_interval *calls = gp_room_take(((size_t)model->call_count + 1) * sizeof(*calls));
	uint64_t sum_ns = 0, union_ns;
	size_t count = 0;

	for (uint32_t i = 0; calls && i < model->call_count; i++) {
		const struct gp_call *call = &model->calls[i];
		uint64_t duration_ns = call->duration_ns;

		if (call->first_op == GP_NONE)
			continue;
		if (duration_ns > LONGEST_WAIT_NS)
			duration_ns = LONGEST_WAIT_NS;
		sum_ns += duration_ns;
		calls[count++] = (struct gp_interval){call->start_ns, call->start_ns + duration_ns};
	}
	union_ns = count > 0 ? gp_busy_union(calls, count) : 0;
	gp_room_free(calls);
	return (double)(sum_ns - union_ns);
}

static bool has_threads(const struct gp_model *model)
{
	return model->call_count > 0 &&
	       model->calls[0].thread_id != model->calls[model->call_count - 1].thread_id;
}

static struct gp_own_cost cost_of(const struct gp_model *model)
{
	struct gp_own_cost cost = {
		.hooks_ns = hook_ns(model),
		.hooks_unknown = model->counters[GP_COUNTER_HOOKS_SAMPLED] == 0 &&
				 model->counters[GP_COUNTER_HOOKS] > 0,
	};

	for (uint32_t i = 0; i < model->call_count; i++)
		cost.callbacks_ns += callbacks_ns(model, &model->calls[i]);
	for (uint32_t i = 0; i < model->op_count; i++)
		cost.records_ns += gp_model_detail(model, &model->ops[i])->graph_node_id != 0
					   ? GRAPH_NODE_NS
					   : record_ns[model->ops[i].kind];
	if (has_threads(model))
		cost.waiting_ns = WAITING_SHARE * overlap_ns(model);
	return cost;
}

static void add_model(struct gp_own_cost *cost, const struct gp_model *model)
{
	struct gp_own_cost one = cost_of(model);

	cost->hooks_ns += one.hooks_ns;
	cost->hooks_unknown |= one.hooks_unknown;
	cost->callbacks_ns += one.callbacks_ns;
	cost->records_ns += one.records_ns;
	cost->waiting_ns += one.waiting_ns;
}

struct gp_own_cost gp_own_cost_of(struct gp_model *const *models, size_t model_count)
{
	struct gp_own_cost cost = {0};

	for (size_t i = 0; i < model_count; i++)
		if (!models[i]->recorder)
			add_model(&cost, models[i]);
	return cost;
}

double gp_own_cost_total_ns(const struct gp_own_cost *cost)
{
	return cost->hooks_ns + cost->callbacks_ns + cost->records_ns + cost->waiting_ns;
}
