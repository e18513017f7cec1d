#include "report/analysis/host/own_overhead.h"

#include <string.h>

#include "report/base/histogram.h"

/*
 * ns on the calling thread, each, from docs/design/cupti-notes.md section 3 and bench/overhead: an
 * H200, driver 580, CUPTI 13.0, on a machine with nothing else to do. Entry and exit callbacks of a
 * call, the driver call within a runtime call included.
 */
enum {
	DRIVER_CALLBACKS_NS = 100,
	RUNTIME_CALLBACKS_NS = 190,
	MEMORY_CALLBACKS_NS = 100, /* the extra time of a call that allocates or frees */
	GRAPH_LAUNCH_NS =
		/* the extra time of a graph launch as soon as anybody has subscribed */
	13000,
	GRAPH_NODE_NS = 600, /* a record of a kernel, copy or memset in a graph */
	LONGEST_NS = 20000,  /* a longer call waits for something else: a full queue, the GPU */
};

/* A record of an operation outside of graphs. */
static const double record_ns[] = {
	[GP_OP_KERNEL] = 640,
	[GP_OP_COPY] = 500,
	[GP_OP_SET] = 460,
	[GP_OP_GRAPH] = 640,
};

/* Whether the name of a function has "Async" in it. */
enum naming { ANY_NAME, WITHOUT_ASYNC, WITH_ASYNC };

/*
 * The time of the median call of a kind under gpuprof on that machine, CUPTI's part of it, and
 * CUPTI's share of any extra time in a trace. The share is from 108 pairs of processes of
 * bench/overhead, with and without gpuprof, on two other machines, which others used, too. Without
 * gpuprof, a launch took 3.4 to 4.4 us there under any load, with it 4.5 to 7.3 us; of 16 threads
 * without it 5.6 to 11, with it 7.2 to 11: they wait for each other in both cases, so that less of
 * the extra time is CUPTI's. The same holds for cudaMalloc() with its cudaFree(): 1.85 us or, in
 * one process of seven, 3.1 us without gpuprof, and 2.8 or 4.6 us with it. Copies that wait are not
 * here: their time is the GPU's.
 */
static const struct usual_call {
	uint8_t class;
	enum naming naming;
	double usual_ns, cupti_ns, share;
	double share_at_once; /* threads make such calls at the same time */
} usual_calls[] = {
	{GP_API_LAUNCH, ANY_NAME, 4150, 830, 0.9, 0.65},
	{GP_API_COPY, WITH_ASYNC, 1960, 690, 0.5, 0.5},
	{GP_API_MEMSET, ANY_NAME, 1300, 650, 0.5, 0.5},
	{GP_API_ALLOC, WITH_ASYNC, 630, 290, 1, 1},
	{GP_API_ALLOC, WITHOUT_ASYNC, 1400, 290, 0.3, 0.3},
	{GP_API_FREE, WITH_ASYNC, 820, 290, 1, 1},
	{GP_API_FREE, WITHOUT_ASYNC, 1200, 290, 0.3, 0.3},
};

#define USUAL_CALLS (sizeof(usual_calls) / sizeof(usual_calls[0]))

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

/* The row of usual_calls that a call is of, or NULL. */
static const struct usual_call *usual_call_of(const struct gp_model *model,
					      const struct gp_call *call)
{
	uint8_t class = gp_model_api_class(model, call->api);

	for (size_t i = 0; i < USUAL_CALLS; i++) {
		const struct usual_call *usual = &usual_calls[i];

		if (usual->class != class)
			continue;
		if (usual->naming == ANY_NAME ||
		    (usual->naming == WITH_ASYNC) ==
			    (strstr(gp_model_api(model, call->api).name, "Async") != NULL))
			return usual;
	}
	return NULL;
}

/* The calls of one row. */
struct seen_calls {
	struct gp_histogram histogram; /* of their durations */
	uint64_t first_ns, end_ns;
};

static void see(struct seen_calls *seen, const struct gp_call *call)
{
	if (seen->histogram.count == 0 || call->start_ns < seen->first_ns)
		seen->first_ns = call->start_ns;
	if (gp_call_end_ns(call) > seen->end_ns)
		seen->end_ns = gp_call_end_ns(call);
	gp_histogram_add(&seen->histogram, call->duration_ns);
}

/* They took more time than passed. */
static bool overlap(const struct seen_calls *seen)
{
	return seen->histogram.total_ns > seen->end_ns - seen->first_ns;
}

/*
 * The extra time of CUPTI for such calls here, above the machine of the figures; never less than
 * half of them.
 */
static double slower_ns(const struct usual_call *usual, const struct seen_calls *seen)
{
	double share = overlap(seen) ? usual->share_at_once : usual->share;
	double more_ns = share * (gp_histogram_stats(&seen->histogram).median - usual->usual_ns);
	double least_ns = -0.5 * usual->cupti_ns;

	return (double)seen->histogram.count * (more_ns > least_ns ? more_ns : least_ns);
}

static bool has_record(const struct usual_call *usual)
{
	return usual->class != GP_API_ALLOC && usual->class != GP_API_FREE;
}

/* A call whose operation has no record has no calibrated figure, so that it needs no correction. */
static void add_slower(struct gp_own_overhead *cost, const struct gp_model *model)
{
	struct seen_calls seen[USUAL_CALLS] = {0};

	for (uint32_t i = 0; i < model->call_count; i++) {
		const struct gp_call *call = &model->calls[i];
		const struct usual_call *usual = NULL;

		if (call->duration_ns <= LONGEST_NS && !call->captured && call->status == 0)
			usual = usual_call_of(model, call);
		if (usual && (call->first_op != GP_NONE || !has_record(usual)))
			see(&seen[usual - usual_calls], call);
	}
	for (size_t i = 0; i < USUAL_CALLS; i++)
		if (seen[i].histogram.count > 0)
			*(has_record(&usual_calls[i]) ? &cost->records_ns : &cost->callbacks_ns) +=
				slower_ns(&usual_calls[i], &seen[i]);
}

static struct gp_own_overhead cost_of(const struct gp_model *model)
{
	struct gp_own_overhead cost = {
		.hooks_ns = hook_ns(model),
		.setup_ns = (double)model->counters[GP_COUNTER_HW_SETUP_NS],
		.hooks_unknown = model->counters[GP_COUNTER_HOOKS_SAMPLED] == 0 &&
				 model->counters[GP_COUNTER_HOOKS] > 0,
	};

	for (uint32_t i = 0; i < model->call_count; i++)
		cost.callbacks_ns += callbacks_ns(model, &model->calls[i]);
	for (uint32_t i = 0; i < model->op_count; i++)
		cost.records_ns += gp_model_detail(model, &model->ops[i])->graph_node_id != 0
					   ? GRAPH_NODE_NS
					   : record_ns[model->ops[i].kind];
	add_slower(&cost, model);
	return cost;
}

static void add_model(struct gp_own_overhead *cost, const struct gp_model *model)
{
	struct gp_own_overhead one = cost_of(model);

	cost->hooks_ns += one.hooks_ns;
	cost->hooks_unknown |= one.hooks_unknown;
	cost->callbacks_ns += one.callbacks_ns;
	cost->records_ns += one.records_ns;
	cost->setup_ns += one.setup_ns;
}

struct gp_own_overhead gp_own_overhead_of(struct gp_model *const *models, size_t model_count)
{
	struct gp_own_overhead cost = {0};

	for (size_t i = 0; i < model_count; i++)
		if (!models[i]->recorder)
			add_model(&cost, models[i]);
	return cost;
}

double gp_own_overhead_total_ns(const struct gp_own_overhead *cost)
{
	return cost->hooks_ns + cost->callbacks_ns + cost->records_ns + cost->setup_ns;
}
