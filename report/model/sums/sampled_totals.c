#include "report/model/sums/sampled_totals.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/model/recorded.h"

static void add_extent(struct gp_sampled_extent *extent, const struct gp_model *model)
{
	uint64_t end_ns = gp_model_end_ns(model);
	struct gp_recorded_part part;

	for (uint32_t next = 0; gp_recorded_part(model, &next, &part); extent->windows++) {
		if (end_ns != 0 && model->before_ns + part.start_ns > extent->before_ns)
			extent->before_ns = model->before_ns + part.start_ns;
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

static const struct gp_estimate unknown = {(double)NAN, (double)NAN};

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

/* The number of windows that began until then. */
static uint32_t windows_until(const struct windows *windows, uint64_t time_ns)
{
	return gp_array_lower_bound(windows->rows, windows->count, sizeof(*windows->rows),
				    begins_until, &time_ns);
}

/* The amounts of the last window that began before: an operation may begin after its end. */
static double *amounts_at(const struct windows *windows, uint64_t time_ns)
{
	uint32_t after = windows_until(windows, time_ns);

	return after > 0 ? windows->rows[after - 1].amounts : NULL;
}

static uint64_t launched_ns(const struct gp_model *model, const struct gp_op *op)
{
	return op->call != GP_NONE ? model->calls[op->call].start_ns : op->start_ns;
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
	double *amounts = amounts_at(windows, launched_ns(model, op));

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
	for (int i = 0; totals->extent.windows == 0 && i < GP_SAMPLED_TOTALS; i++)
		totals->totals[i] = unknown;
	return result;
}

/* ---- rows of a table ---- */

/* What a row has of one operation or more in a window. */
struct cell {
	uint32_t row, process, window;
	double gpu_ns;
};

struct process {
	const struct gp_model *model;
	struct windows windows;  /* none: it was not sampled */
	struct gp_ratio lengths; /* of the windows, without amounts */
	double whole_ns;
};

struct gp_sampled_rows {
	struct process *processes;
	size_t process_count;
	struct cell *cells;
	uint32_t count, capacity;
	bool is_sorted;
};

static int open_process(struct process *process, const struct gp_model *model)
{
	struct gp_sampled_extent extent = {0};
	int result;

	process->model = model;
	if (!gp_recorded_is_sampled(model))
		return 0;
	result = gather(&process->windows, model);
	add_extent(&extent, model);
	process->whole_ns = (double)extent.whole_ns;
	for (uint32_t i = 0; result == 0 && i < process->windows.count; i++) {
		const struct sampled_window *window = &process->windows.rows[i];

		gp_ratio_add(&process->lengths,
			     weight_of(&process->windows, i, gp_model_end_ns(model)),
			     (double)(window->end_ns - window->start_ns), 0);
	}
	return result;
}

struct gp_sampled_rows *gp_sampled_rows_new(struct gp_model *const *models, size_t model_count)
{
	struct gp_sampled_rows *rows = calloc(1, sizeof(*rows));
	int result;

	if (!rows)
		return NULL;
	rows->processes = calloc(model_count + 1, sizeof(*rows->processes));
	rows->process_count = model_count;
	result = rows->processes ? 0 : -ENOMEM;
	for (size_t i = 0; result == 0 && i < model_count; i++)
		result = open_process(&rows->processes[i], models[i]);
	if (result == 0)
		return rows;
	gp_sampled_rows_free(rows);
	return NULL;
}

void gp_sampled_rows_free(struct gp_sampled_rows *rows)
{
	if (!rows)
		return;
	for (size_t i = 0; rows->processes && i < rows->process_count; i++)
		free(rows->processes[i].windows.rows);
	free(rows->processes);
	free(rows->cells);
	free(rows);
}

int gp_sampled_rows_add(struct gp_sampled_rows *rows, size_t model, const struct gp_op *op,
			uint32_t row)
{
	const struct process *process = &rows->processes[model];
	uint64_t time_ns = launched_ns(process->model, op);
	struct cell *last = rows->count > 0 ? &rows->cells[rows->count - 1] : NULL;
	uint32_t after = windows_until(&process->windows, time_ns);
	int result;

	if (after == 0)
		return 0;
	if (last && last->row == row && last->process == model && last->window == after - 1) {
		last->gpu_ns += (double)gp_op_gpu_ns(op);
		return 0;
	}
	result = gp_array_grow(&rows->cells, &rows->capacity, rows->count, sizeof(*rows->cells));
	if (result == 0)
		rows->cells[rows->count++] = (struct cell){.row = row,
							   .process = (uint32_t)model,
							   .window = after - 1,
							   .gpu_ns = (double)gp_op_gpu_ns(op)};
	return result;
}

static int compare(uint32_t one, uint32_t other)
{
	return (one > other) - (one < other);
}

static int by_window(const void *left, const void *right)
{
	const struct cell *one = left, *other = right;
	int order = compare(one->row, other->row);

	if (order == 0)
		order = compare(one->process, other->process);
	return order != 0 ? order : compare(one->window, other->window);
}

static bool is_of_earlier_row(const void *cell, const void *row)
{
	return ((const struct cell *)cell)->row < *(const uint32_t *)row;
}

/* The cells from *at on of one row and process; moves *at past them. */
static struct gp_estimate estimate_process(const struct gp_sampled_rows *rows, uint32_t *at)
{
	const struct cell *first = &rows->cells[*at];
	const struct process *process = &rows->processes[first->process];
	struct gp_ratio ratio = process->lengths;

	while (*at < rows->count && rows->cells[*at].row == first->row &&
	       rows->cells[*at].process == first->process) {
		uint32_t window = rows->cells[*at].window;
		const struct sampled_window *its = &process->windows.rows[window];
		double gpu_ns = 0;

		for (; *at < rows->count &&
		       by_window(&rows->cells[*at], &(struct cell){.row = first->row,
							     .process = first->process,
							     .window = window}) == 0;
		     (*at)++)
			gpu_ns += rows->cells[*at].gpu_ns;
		gp_ratio_add_amount(
			&ratio,
			weight_of(&process->windows, window, gp_model_end_ns(process->model)),
			(double)(its->end_ns - its->start_ns), gpu_ns);
	}
	return gp_ratio_of_whole(&ratio, process->whole_ns);
}

struct gp_estimate gp_sampled_rows_estimate(struct gp_sampled_rows *rows, uint32_t row)
{
	struct gp_estimate sum = {0, 0};
	uint32_t at;

	if (!rows->is_sorted && rows->count > 0)
		qsort(rows->cells, rows->count, sizeof(*rows->cells), by_window);
	rows->is_sorted = true;
	at = gp_array_lower_bound(rows->cells, rows->count, sizeof(*rows->cells), is_of_earlier_row,
				  &row);
	if (at == rows->count || rows->cells[at].row != row)
		return unknown;
	while (at < rows->count && rows->cells[at].row == row)
		sum = gp_estimate_sum(sum, estimate_process(rows, &at));
	return sum;
}
