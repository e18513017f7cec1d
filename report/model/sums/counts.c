#include "report/model/sums/counts.h"

#include "report/model/sums/totals.h"

static void add_calls(struct gp_counts *counts, const struct gp_model *model, uint16_t api,
		      uint64_t count)
{
	uint8_t class = gp_model_api_class(model, api);

	counts->calls += count;
	counts->launches += class == GP_API_LAUNCH ? count : 0;
	counts->graph_launches += class == GP_API_GRAPH_LAUNCH ? count : 0;
}

static void add_sum(struct gp_counts *counts, const struct gp_model *model,
		    const struct gp_sum *sum)
{
	if (sum->kind == GP_SUM_CALL) {
		add_calls(counts, model, sum->first.call.api, sum->histogram.count);
		return;
	}
	counts->operations += sum->histogram.count + sum->untimed;
	if (sum->kind != GP_SUM_COPY || sum->first.copy.copy_kind != GP_COPY_HTOH)
		counts->gpu_ns += sum->histogram.total_ns;
}

struct gp_counts gp_counts_of(const struct gp_model *model)
{
	const struct gp_sums *sums = &gp_totals_of(model)->sums;
	struct gp_counts counts = {0};

	for (uint32_t i = 0; i < model->call_count; i++)
		add_calls(&counts, model, model->calls[i].api, 1);
	for (uint32_t i = 0; i < model->op_count; i++)
		if (!gp_op_is_on_host(&model->ops[i]))
			counts.gpu_ns += model->ops[i].end_ns - model->ops[i].start_ns;
	counts.operations = model->op_count;
	for (uint32_t i = 0; i < sums->count; i++)
		add_sum(&counts, model, sums->sums[i]);
	for (size_t i = 0; i < GP_SUM_KINDS; i++)
		if (sums->others[i])
			add_sum(&counts, model, sums->others[i]);
	return counts;
}

bool gp_counts_any(const struct gp_model *model)
{
	return model->call_count > 0 || model->op_count > 0 || gp_totals_of(model)->sums.count > 0;
}
