#include "report/own_cost.h"

/*
 * ns on the calling thread, each. Measured on an H200 (driver 580, CUPTI 13.0) with an empty kernel
 * launched in a loop, by the difference between runs with and without: kernel records alone, with
 * runtime callbacks, with driver callbacks too.
 */
enum {
	CALLBACK_PAIR_NS = 300,       /* entry and exit of a call that is recorded */
	NESTED_CALLBACK_PAIR_NS = 80, /* of the driver call within it, which the hook ignores */
	KERNEL_RECORD_NS = 700,
	COPY_RECORD_NS = 700,
	SET_RECORD_NS = 700,
};

static const double record_ns[] = {
	[GP_OP_KERNEL] = KERNEL_RECORD_NS,
	[GP_OP_COPY] = COPY_RECORD_NS,
	[GP_OP_SET] = SET_RECORD_NS,
};

static double hook_ns(const struct gp_model *model)
{
	const uint64_t *counters = model->counters;

	if (counters[GP_COUNTER_HOOKS_SAMPLED] == 0)
		return 0;
	return (double)counters[GP_COUNTER_HOOKS_SAMPLED_TICKS] * model->ns_per_tick /
	       (double)counters[GP_COUNTER_HOOKS_SAMPLED] * (double)counters[GP_COUNTER_HOOKS];
}

static void add_model(struct gp_own_cost *cost, const struct gp_model *model)
{
	cost->hooks_ns += hook_ns(model);
	cost->callbacks_ns +=
		(double)model->counters[GP_COUNTER_HOOKS] * CALLBACK_PAIR_NS +
		(double)model->counters[GP_COUNTER_NESTED_CALLBACKS] * NESTED_CALLBACK_PAIR_NS;
	for (uint32_t i = 0; i < model->op_count; i++)
		cost->records_ns += record_ns[model->ops[i].kind];
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
