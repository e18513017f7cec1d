/*
 * Hardware counters of the kernels launched inside each range.
 *
 * Windows measure a part of the launches.  The sum over all kernels of a range is estimated from
 * the measured launches of each kernel with the same grid and block in the same range, as a
 * stratified sample: a kernel that was measured n of N times adds N means, and N^2 (1 - n/N) s^2/n
 * to the variance.  There is no estimate if some kernel was never measured, or once of several
 * times.
 */
#include "report/tables/by/range_calls.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/tables/breakdown.h"
#include "report/tables/by/counters.h"

/* ---- gathering ---- */

/* The key of a kernel of a range; of its values in `values`: its index, and the counter. */
enum { RANGE, STYLE_AND_NAME, GRID, GRID_AND_BLOCK, BLOCK };
enum { KERNEL, COUNTER };
enum { LAST_KERNEL }; /* sums of a kernel: the operation that was counted last */

struct gathering {
	struct gp_scope *scope;
	struct gp_tally kernels,
		values; /* of each range; counts: launches, and in series 0 values */
	uint64_t process;
	uint64_t *names;
	uint32_t *first_values; /* by operation: the first one in model.counted, or GP_NONE */
};

static uint64_t pack(uint64_t high, uint64_t low)
{
	return high << 32 | low;
}

static struct gp_range_key range_of(const struct gp_tally_row *kernel)
{
	return (struct gp_range_key){.text = kernel->key[RANGE] >> 32,
				     .domain = kernel->key[RANGE] & UINT32_MAX,
				     .style = kernel->key[STYLE_AND_NAME] >> 32};
}

/* op: NULL: a launch without a record. */
static struct gp_tally_row *kernel_row(struct gathering *gathering, const struct gp_range_call *at,
				       const struct gp_op *op)
{
	static const struct gp_record_shape unknown;
	const struct gp_model *model = at->model;
	const struct gp_record_shape *shape =
		op && op->shape < model->shape_count ? &model->shapes[op->shape] : &unknown;
	uint64_t name = op && op->kind == GP_OP_KERNEL
				? gp_scope_name(gathering->scope, model, op, gathering->names)
				: GP_SCOPE_NO_TEXT;

	return gp_tally_find(
		&gathering->kernels,
		(uint64_t[GP_TALLY_KEYS]){[RANGE] = pack(at->key.text, at->key.domain),
					  [STYLE_AND_NAME] = pack(at->key.style, name),
					  [GRID] = pack(shape->grid[0], shape->grid[1]),
					  [GRID_AND_BLOCK] = pack(shape->grid[2], shape->block[0]),
					  [BLOCK] = pack(shape->block[1], shape->block[2])});
}

static void take_values(struct gathering *gathering, const struct gp_model *model, uint32_t kernel,
			uint32_t op)
{
	for (uint32_t i = gathering->first_values[op];
	     i < model->counted_count && model->counted[i].op == op; i++) {
		const struct gp_counted *at = &model->counted[i];
		struct gp_tally_row *row = gp_tally_find(
			&gathering->values,
			(uint64_t[GP_TALLY_KEYS]){
				[KERNEL] = kernel,
				[COUNTER] = gp_scope_text(gathering->scope,
							  model->counter_texts[at->counter])});
		uint64_t bits;

		memcpy(&bits, &at->value, sizeof(bits));
		gp_tally_value(&gathering->values, row, 0, bits);
	}
}

/* Start/end ranges of several threads may have one key: a kernel counts once. */
static void take_op(struct gathering *gathering, const struct gp_range_call *at, uint32_t op)
{
	struct gp_tally_row *row = kernel_row(gathering, at, &at->model->ops[op]);
	uint64_t number = pack(gathering->process, op) + 1;

	if (row->sums[LAST_KERNEL] == number)
		return;
	row->sums[LAST_KERNEL] = number;
	row->count++;
	take_values(gathering, at->model, (uint32_t)(row - gathering->kernels.rows), op);
}

/* A whole graph is at least one kernel. */
static void take_call(void *context, const struct gp_range_call *at)
{
	struct gathering *gathering = context;
	const struct gp_model *model = at->model;
	const struct gp_call *call = &model->calls[at->call];

	if (call->first_op == GP_NONE && !call->captured && call->status == 0)
		kernel_row(gathering, at, NULL)->count++;
	for (uint32_t op = call->first_op; op != GP_NONE && gathering->kernels.error == 0;
	     op = model->ops[op].next_op)
		if (model->ops[op].kind == GP_OP_KERNEL || model->ops[op].kind == GP_OP_GRAPH)
			take_op(gathering, at, op);
}

/* The values of an operation are adjacent. */
static uint32_t *find_first_values(const struct gp_model *model)
{
	uint32_t *first = gp_spill_take(((size_t)model->op_count + 1) * sizeof(*first));

	for (uint32_t i = 0; i < model->op_count; i++)
		first[i] = GP_NONE;
	for (uint32_t i = model->counted_count; first && i-- > 0;)
		if (model->counted[i].op != GP_NONE)
			first[model->counted[i].op] = i;
	return first;
}

static int take_model(struct gathering *gathering, uint64_t process)
{
	const struct gp_model *model = gathering->scope->models[process];
	int result = -ENOMEM;

	if (model->counted_count == 0)
		return 0;
	gathering->process = process;
	gathering->names = gp_scope_names(model);
	gathering->first_values = find_first_values(model);
	if (gathering->names && gathering->first_values)
		result = gp_range_calls(gathering->scope, model, take_call, gathering);
	free(gathering->names);
	gp_spill_free(gathering->first_values);
	return result;
}

/* ---- the figures of each range and counter ---- */

/* Parallel to the rows of a tally. */
struct figures {
	double sum, most;
	uint64_t measured;
	uint64_t known; /* kernels of which the sum is known, or can be estimated */
	double estimate, variance;
};

struct results {
	struct gp_tally ranges;   /* by key: their kernels */
	struct gp_tally counters; /* by key and counter */
	struct figures *figures;  /* of the counters */
	uint32_t count, capacity;
};

static struct gp_tally_row *result_row(struct gp_tally *tally, struct gp_range_key key,
				       uint64_t counter)
{
	return gp_tally_find(tally,
			     (uint64_t[GP_TALLY_KEYS]){key.text, key.domain, key.style, counter});
}

static void add_values(struct figures *figures, const struct gp_tally_series *series,
		       uint64_t launches)
{
	double sum = 0, squares = 0, mean, n = series->count, all = (double)launches;

	for (uint32_t i = 0; i < series->count; i++) {
		double value;

		memcpy(&value, &series->values[i], sizeof(value));
		sum += value;
		figures->most = fmax(figures->most, value);
	}
	mean = sum / n;
	for (uint32_t i = 0; i < series->count; i++) {
		double value;

		memcpy(&value, &series->values[i], sizeof(value));
		squares += (value - mean) * (value - mean);
	}
	figures->sum += sum;
	figures->measured += series->count;
	if (series->count < launches && series->count < 2)
		return;
	figures->known += launches;
	figures->estimate += mean * all;
	if (series->count < launches)
		figures->variance += all * (all - n) * squares / (n - 1) / n;
}

/* The values of one kernel of a range. */
static int add_to_range(struct results *results, const struct gathering *gathering,
			const struct gp_tally_row *values)
{
	const struct gp_tally_row *kernel = &gathering->kernels.rows[values->key[KERNEL]];
	struct gp_tally_row *row =
		result_row(&results->counters, range_of(kernel), values->key[COUNTER]);

	if (results->counters.error != 0)
		return results->counters.error;
	if (results->count < results->counters.count) {
		gp_array_grow_spill(&results->figures, &results->capacity, results->count,
				    sizeof(*results->figures));
		results->figures[results->count++] = (struct figures){.most = -INFINITY};
	}
	add_values(&results->figures[row - results->counters.rows], &values->series[0],
		   kernel->count);
	return 0;
}

static int add_up(struct results *results, const struct gathering *gathering)
{
	int result = 0;

	for (uint32_t i = 0; i < gathering->kernels.count; i++) {
		const struct gp_tally_row *kernel = &gathering->kernels.rows[i];

		result_row(&results->ranges, range_of(kernel), 0)->count += kernel->count;
	}
	for (uint32_t i = 0; result == 0 && i < gathering->values.count; i++)
		result = add_to_range(results, gathering, &gathering->values.rows[i]);
	return result == 0 ? results->ranges.error : result;
}

/* ---- the tables ---- */

static const struct gp_table_column columns[] = {
	{"Kernels", GP_UNIT_COUNT}, {"Measured", GP_UNIT_COUNT}, {"Sum", GP_UNIT_COUNT},
	{"Avg", GP_UNIT_COUNT},     {"Max", GP_UNIT_COUNT},      {"Estimate", GP_UNIT_COUNT},
	{"Error", GP_UNIT_COUNT},   {"Unit", GP_UNIT_TEXT},      {"Counter", GP_UNIT_TEXT},
	GP_RANGE_COLUMNS,
};

static const struct gp_table_column value_columns[] = {
	{"range", GP_UNIT_TEXT}, {"metric", GP_UNIT_TEXT}, {"value", GP_UNIT_COUNT},
	{"unit", GP_UNIT_TEXT},  {"error", GP_UNIT_COUNT},
};

/* A row: of what it tells, the estimate is that of the sum, or of the mean if there is no sum. */
struct result {
	struct gp_range_key range;
	const char *counter, *unit;
	uint64_t kernels;
	const struct figures *figures;
	double sum, estimate, error; /* NAN: not known */
};

static struct result result_of(const struct gathering *gathering, struct results *results,
			       uint32_t index)
{
	const struct gp_tally_row *row = &results->counters.rows[index];
	const struct figures *figures = &results->figures[index];
	struct result result = {.range = {row->key[0], row->key[1], row->key[2]},
				.counter = gp_scope_text_of(gathering->scope, row->key[3]),
				.figures = figures,
				.sum = NAN,
				.estimate = NAN,
				.error = NAN};
	bool has_sum = gp_counter_has_sum(result.counter);
	double parts;

	result.kernels = result_row(&results->ranges, result.range, 0)->count;
	result.unit = gp_counter_unit(gathering->scope, result.counter);
	parts = has_sum ? 1 : (double)result.kernels;
	if (has_sum)
		result.sum = figures->sum;
	if (figures->known == result.kernels) {
		result.estimate = figures->estimate / parts;
		result.error = sqrt(figures->variance) / parts;
	}
	return result;
}

static void put_row(struct gp_scope *scope, struct gp_table *table, const struct result *result)
{
	const struct figures *figures = result->figures;

	gp_table_put_whole(table, result->kernels);
	gp_table_put_whole(table, figures->measured);
	gp_table_put_real(table, result->sum);
	gp_table_put_real(table, figures->sum / (double)figures->measured);
	gp_table_put_real(table, figures->most);
	gp_table_put_real(table, result->estimate);
	gp_table_put_real(table, result->error);
	gp_table_put_text(table, result->unit);
	gp_table_put_text(table, result->counter);
	gp_range_put_key(scope, table, result->range);
}

static void put_value(struct gp_scope *scope, struct gp_table *table, const struct result *result)
{
	gp_table_put_text(table, gp_scope_text_of(scope, result->range.text));
	gp_table_put_text(table, result->counter);
	gp_table_put_real(table, result->estimate);
	gp_table_put_text(table, result->unit);
	gp_table_put_real(table, result->error);
}

typedef void put_result(struct gp_scope *scope, struct gp_table *table,
			const struct result *result);

static int fill_by(struct gp_scope *scope, struct gp_table *table, put_result *put)
{
	struct gathering gathering = {.scope = scope};
	struct results results = {.count = 0};
	int result = 0;

	for (size_t i = 0; result == 0 && i < scope->model_count; i++)
		result = take_model(&gathering, i);
	if (result == 0)
		result = gathering.kernels.error != 0 ? gathering.kernels.error
						      : gathering.values.error;
	if (result == 0)
		result = add_up(&results, &gathering);
	for (uint32_t i = 0; result == 0 && i < results.counters.count; i++) {
		struct result made = result_of(&gathering, &results, i);

		put(scope, table, &made);
	}
	gp_tally_free(&gathering.kernels);
	gp_tally_free(&gathering.values);
	gp_tally_free(&results.ranges);
	gp_tally_free(&results.counters);
	gp_spill_free(results.figures);
	return result;
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	return fill_by(scope, table, put_row);
}

static int fill_values(struct gp_scope *scope, struct gp_table *table)
{
	return fill_by(scope, table, put_value);
}

#define NOTHING                                                                                    \
	"no kernel inside a range has hardware counters: record a program with ranges with gpuprof-run --counters or --roofline"

const struct gp_breakdown gp_breakdown_nvtx_counter = {
	.help = "hardware counters of the kernels launched inside each NVTX range",
	.nothing = NOTHING,
	.head = {"nvtx-counter", "Hardware counters by NVTX range", columns, COUNT(columns)},
	.sort_column = COUNT(columns) - 1,
	.fold_before = 8,
	.fill = fill,
};

const struct gp_breakdown gp_breakdown_nvtx_value = {
	.help = "the same as range, metric, value, unit: for other programs",
	.nothing = NOTHING,
	.head = {"nvtx-value", "Hardware counters of all kernels of each NVTX range", value_columns,
		 COUNT(value_columns)},
	.sort_column = 0,
	.fill = fill_values,
	.is_in_order = true,
	.job = GP_BREAKDOWN_OF_ONE,
};
