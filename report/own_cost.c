#include "report/own_cost.h"

/*
 * ns on the calling thread, each, from docs/cupti-notes.md section 3 and bench/overhead: an H200,
 * driver 580, CUPTI 13.0. Entry and exit callbacks of a call, the driver call within a runtime call
 * included.
 */
enum {
	DRIVER_CALLBACKS_NS = 100,
	RUNTIME_CALLBACKS_NS = 190,
	GRAPH_LAUNCH_NS =
		13000,       /* what a graph launch takes more as soon as anybody has subscribed */
	GRAPH_NODE_NS = 520, /* a record of a kernel, copy or set in a graph */
};

/* A record of an operation outside of graphs. */
static const double record_ns[] = {
	[GP_OP_KERNEL] = 520,
	[GP_OP_COPY] = 430,
	[GP_OP_SET] = 335,
	[GP_OP_GRAPH] = 520,
};

static double hook_ns(const struct gp_model *model)
{
	const uint64_t *counters = model->counters;

	if (counters[GP_COUNTER_HOOKS_SAMPLED] == 0)
		return 0;
	return (double)counters[GP_COUNTER_HOOKS_SAMPLED_TICKS] * model->ns_per_tick /
	       (double)counters[GP_COUNTER_HOOKS_SAMPLED] * (double)counters[GP_COUNTER_HOOKS];
}

static double callbacks_ns(const struct gp_model *model, const struct gp_call *call)
{
	double ns = GP_API_IS_DRIVER(call->api) ? DRIVER_CALLBACKS_NS : RUNTIME_CALLBACKS_NS;

	if (gp_model_api(model, call->api).class == GP_API_GRAPH_LAUNCH)
		ns += GRAPH_LAUNCH_NS;
	return ns;
}

static void add_model(struct gp_own_cost *cost, const struct gp_model *model)
{
	cost->hooks_ns += hook_ns(model);
	for (uint32_t i = 0; i < model->call_count; i++)
		cost->callbacks_ns += callbacks_ns(model, &model->calls[i]);
	for (uint32_t i = 0; i < model->op_count; i++)
		cost->records_ns += model->ops[i].graph_node_id != 0
					    ? GRAPH_NODE_NS
					    : record_ns[model->ops[i].kind];
}

struct gp_own_cost gp_own_cost_of(struct gp_model *const *models, size_t model_count)
{
	struct gp_own_cost cost = {0};

	for (size_t i = 0; i < model_count; i++)
		add_model(&cost, models[i]);
	return cost;
}

double gp_own_cost_total_ns(const struct gp_own_cost *cost)
{
	return cost->hooks_ns + cost->callbacks_ns + cost->records_ns;
}
