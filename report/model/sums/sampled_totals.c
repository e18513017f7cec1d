#include "report/model/sums/sampled_totals.h"

#include <errno.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/model/recorded.h"

static void add_extent(struct gp_sampled_extent *extent, const struct gp_model *model)
{
	uint64_t end_ns = gp_model_end_ns(model);
	struct gp_recorded_part part;

	for (uint32_t next = 0; gp_recorded_part(model, &next, &part); extent->windows++) {
		if (part.start_ns < end_ns)
			extent->whole_ns += end_ns - part.start_ns;
		end_ns = 0; /* from the first window on */
		extent->recorded_ns += part.end_ns - part.start_ns;
	}
}

struct gp_sampled_extent gp_sampled_extent_of(struct gp_model *const *models, size_t model_count)
{
	struct gp_sampled_extent extent = {0};

	for (size_t i = 0; i < model_count; i++)
		if (gp_recorded_is_sampled(models[i]))
			add_extent(&extent, models[i]);
	return extent;
}

/* ---- totals ---- */

struct sampled_window {
	uint64_t start_ns, end_ns;
	double amounts[GP_SAMPLED_TOTALS];
};

/* Of one process. */
struct windows {
	struct sampled_window *rows; /* in order */
	uint32_t count, capacity;
};

static int gather(struct windows *windows, const struct gp_model *model)
{
	struct gp_recorded_part part;
	int result = 0;

	for (uint32_t next = 0; result == 0 && gp_recorded_part(model, &next, &part);) {
		result = gp_array_grow(&windows->rows, &windows->capacity, windows->count,
				       sizeof(*windows->rows));
		if (result == 0)
			windows->rows[windows->count++] = (struct sampled_window){
				.start_ns = part.start_ns, .end_ns = part.end_ns};
	}
	return result;
}

static bool begins_until(const void *window, const void *time_ns)
{
	return ((const struct sampled_window *)window)->start_ns <= *(const uint64_t *)time_ns;
}

/* The amounts of the last window that began before: an operation may begin after its end. */
static double *amounts_at(const struct windows *windows, uint64_t time_ns)
{
	uint32_t after = gp_array_lower_bound(windows->rows, windows->count, sizeof(*windows->rows),
					      begins_until, &time_ns);

	return after > 0 ? windows->rows[after - 1].amounts : NULL;
}

static void add_call(const struct windows *windows, const struct gp_model *model,
		     const struct gp_call *call)
{
	uint8_t class = gp_model_api_class(model, call->api);
	double *amounts = amounts_at(windows, call->start_ns);

	if (!amounts)
		return;
	amounts[GP_SAMPLED_LAUNCHES] += class == GP_API_LAUNCH || class == GP_API_GRAPH_LAUNCH;
	amounts[GP_SAMPLED_WAIT_NS] += class == GP_API_SYNC ? (double)call->duration_ns : 0;
}

static void add_op(const struct windows *windows, const struct gp_model *model,
		   const struct gp_op *op)
{
	uint64_t time_ns = op->call != GP_NONE ? model->calls[op->call].start_ns : op->start_ns;
	double *amounts = amounts_at(windows, time_ns);

	if (!amounts)
		return;
	amounts[GP_SAMPLED_OPERATIONS]++;
	amounts[GP_SAMPLED_GPU_NS] += (double)gp_op_gpu_ns(op);
	amounts[GP_SAMPLED_COPIED_BYTES] += op->kind == GP_OP_COPY ? (double)op->bytes : 0;
}

/* How many times its length a window stands for. */
static double weight_of(const struct windows *windows, uint32_t index, uint64_t whole_end_ns)
{
	const struct sampled_window *row = &windows->rows[index];
	double start_ns = (double)row->start_ns, end_ns = (double)row->end_ns;
	double length_ns = end_ns - start_ns;

	if (index > 0)
		start_ns -= (start_ns - (double)row[-1].end_ns) / 2;
	if (index + 1 < windows->count)
		end_ns += ((double)row[1].start_ns - end_ns) / 2;
	else
		end_ns = (double)whole_end_ns;
	return length_ns > 0 ? (end_ns - start_ns) / length_ns : 0;
}

static void estimate(struct gp_sampled_totals *totals, const struct windows *windows,
		     const struct gp_model *model)
{
	struct gp_sampled_extent extent = {0};

	add_extent(&extent, model);
	for (int total = 0; total < GP_SAMPLED_TOTALS; total++) {
		struct gp_ratio ratio = {0};

		for (uint32_t i = 0; i < windows->count; i++) {
			const struct sampled_window *row = &windows->rows[i];

			gp_ratio_add(&ratio, weight_of(windows, i, gp_model_end_ns(model)),
				     (double)(row->end_ns - row->start_ns), row->amounts[total]);
		}
		totals->totals[total] = gp_estimate_sum(
			totals->totals[total], gp_ratio_of_whole(&ratio, (double)extent.whole_ns));
	}
}

static int add_model(struct gp_sampled_totals *totals, const struct gp_model *model)
{
	struct windows windows = {0};
	int result = gather(&windows, model);

	for (uint32_t i = 0; result == 0 && i < model->call_count; i++)
		add_call(&windows, model, &model->calls[i]);
	for (uint32_t i = 0; result == 0 && i < model->op_count; i++)
		add_op(&windows, model, &model->ops[i]);
	if (result == 0 && windows.count > 0)
		estimate(totals, &windows, model);
	free(windows.rows);
	return result;
}

int gp_sampled_totals_of(struct gp_sampled_totals *totals, struct gp_model *const *models,
			 size_t model_count)
{
	int result = 0;

	*totals = (struct gp_sampled_totals){
		.extent = gp_sampled_extent_of(models, model_count),
	};
	for (size_t i = 0; result == 0 && i < model_count; i++)
		if (gp_recorded_is_sampled(models[i]))
			result = add_model(totals, models[i]);
	return result;
}
