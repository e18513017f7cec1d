/* Hardware counters, by counter, kernel and the ranges (operators) that launched the kernel. */
#include "report/tables/by/counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/tables/breakdown.h"
#include "report/base/spill_memory.h"

static const struct gp_table_column columns[] = {
	{"Count", GP_UNIT_COUNT},    {"Sum", GP_UNIT_COUNT},     {"Avg", GP_UNIT_COUNT},
	{"Min", GP_UNIT_COUNT},      {"Max", GP_UNIT_COUNT},     {"Counter", GP_UNIT_TEXT},
	{"Outermost", GP_UNIT_TEXT}, {"Operator", GP_UNIT_TEXT}, {"Name", GP_UNIT_TEXT},
};

enum { AVG_COLUMN = 2, COUNTER_COLUMN = 5 };
enum { COUNTER, KERNEL, OPERATOR, OUTERMOST };

/* The values of one kernel are adjacent in the model. */
struct walk {
	struct gp_scope *scope;
	struct gp_tally *tally;
	const struct gp_model *model;
	uint32_t *kernels; /* the first value of each kernel, by start time */
	uint32_t *calls;   /* the kernel launches, by start time */
	uint32_t kernel_count, call_count;
	/* for each range: an earlier one of its thread, or GP_NONE; all between have ended */
	uint32_t *earlier;
	uint32_t *outer; /* for each range: the outermost range around it */
};

static bool begins_kernel(const struct gp_model *model, uint32_t i)
{
	const struct gp_counted *at = &model->counted[i];

	return i == 0 || at->start_ns != at[-1].start_ns || at->kernel != at[-1].kernel ||
	       at->op != at[-1].op;
}

static int compare_kernels(const void *a, const void *b, const void *context)
{
	const struct gp_model *model = context;
	uint64_t left = model->counted[*(const uint32_t *)a].start_ns,
		 right = model->counted[*(const uint32_t *)b].start_ns;

	return (left > right) - (left < right);
}

static int compare_calls(const void *a, const void *b, const void *context)
{
	const struct gp_model *model = context;
	uint64_t left = model->calls[*(const uint32_t *)a].start_ns,
		 right = model->calls[*(const uint32_t *)b].start_ns;

	return (left > right) - (left < right);
}

static void list(struct walk *walk)
{
	const struct gp_model *model = walk->model;

	walk->kernels = gp_spill_take(((size_t)model->counted_count + 1) * sizeof(*walk->kernels));
	walk->calls = gp_spill_take(((size_t)model->call_count + 1) * sizeof(*walk->calls));
	for (uint32_t i = 0; i < model->counted_count; i++)
		if (begins_kernel(model, i))
			walk->kernels[walk->kernel_count++] = i;
	for (uint32_t i = 0; i < model->call_count; i++)
		if (gp_model_api_class(model, model->calls[i].api) == GP_API_LAUNCH)
			walk->calls[walk->call_count++] = i;
	gp_array_sort(walk->kernels, walk->kernel_count, sizeof(*walk->kernels), compare_kernels,
		      model);
	gp_array_sort(walk->calls, walk->call_count, sizeof(*walk->calls), compare_calls, model);
}

static bool is_before(const void *element, const void *key)
{
	const struct gp_range *range = element;
	const struct gp_call *call = key;

	return range->thread_id != call->thread_id ? range->thread_id < call->thread_id
						   : range->start_ns <= call->start_ns;
}

static void list_ranges(struct walk *walk)
{
	const struct gp_model *model = walk->model;

	walk->earlier = gp_spill_take(((size_t)model->range_count + 1) * sizeof(*walk->earlier));
	walk->outer = gp_spill_take(((size_t)model->range_count + 1) * sizeof(*walk->outer));
	for (uint32_t i = 0; i < model->range_count; i++) {
		const struct gp_range *range = &model->ranges[i];

		walk->earlier[i] =
			i > 0 && range[-1].thread_id == range->thread_id ? i - 1 : GP_NONE;
		walk->outer[i] = range->parent < i ? walk->outer[range->parent] : i;
	}
}

static bool goes_on(const struct gp_range *range, uint64_t ns)
{
	return range->style == GP_STYLE_PUSH_POP && range->end_ns >= ns;
}

/*
 * The nearest range, from that one backwards, that is still open at ns.  Ended ranges are skipped
 * for good, as calls come in order of time.
 */
static uint32_t skip_ended(struct walk *walk, uint32_t at, uint64_t ns)
{
	uint32_t found = at;

	while (found != GP_NONE && !goes_on(&walk->model->ranges[found], ns))
		found = walk->earlier[found];
	while (at != found) {
		uint32_t next = walk->earlier[at];

		walk->earlier[at] = found;
		at = next;
	}
	return found;
}

/*
 * The push/pop ranges around a call: the last open one of its thread that began before the call,
 * and the outermost one around that.
 */
static void find_operators(struct walk *walk, const struct gp_call *call, const char **innermost,
			   const char **outermost)
{
	const struct gp_model *model = walk->model;
	uint32_t at = gp_array_lower_bound(model->ranges, model->range_count,
					   sizeof(*model->ranges), is_before, call);

	at = at > 0 && model->ranges[at - 1].thread_id == call->thread_id ? at - 1 : GP_NONE;
	at = skip_ended(walk, at, call->start_ns);
	*innermost = *outermost = "";
	if (at == GP_NONE)
		return;
	*innermost = gp_model_range_text(model, &model->ranges[at]);
	*outermost = gp_model_range_text(model, &model->ranges[walk->outer[at]]);
}

static void take_value(struct walk *walk, const struct gp_counted *at, const char *innermost,
		       const char *outermost)
{
	const struct gp_model *model = walk->model;
	struct gp_scope *scope = walk->scope;
	struct gp_tally_row *row = gp_tally_find(
		walk->tally,
		(uint64_t[GP_TALLY_KEYS]){
			[COUNTER] = gp_scope_text(scope, model->counter_texts[at->counter]),
			[KERNEL] = gp_scope_text(scope, model->counter_texts[at->kernel]),
			[OPERATOR] = gp_scope_text(scope, innermost),
			[OUTERMOST] = gp_scope_text(scope, outermost)});
	uint64_t bits;

	memcpy(&bits, &at->value, sizeof(bits));
	row->count++;
	gp_tally_value(walk->tally, row, 0, bits);
}

/* Other recorders do not tell it; if they measured all kernels, the order does. */
static uint32_t launch_of(const struct walk *walk, uint32_t kernel)
{
	const struct gp_model *model = walk->model;
	const struct gp_counted *counted = &model->counted[walk->kernels[kernel]];

	if (counted->op != GP_NONE)
		return model->ops[counted->op].call;
	return walk->kernel_count == walk->call_count ? walk->calls[kernel] : GP_NONE;
}

static void take_all(struct walk *walk)
{
	const struct gp_model *model = walk->model;

	for (uint32_t k = 0; k < walk->kernel_count; k++) {
		const char *innermost = "", *outermost = "";
		uint32_t call = launch_of(walk, k);

		if (call != GP_NONE)
			find_operators(walk, &model->calls[call], &innermost, &outermost);
		for (uint32_t i = walk->kernels[k];
		     i < model->counted_count &&
		     (i == walk->kernels[k] || !begins_kernel(model, i));
		     i++)
			take_value(walk, &model->counted[i], innermost, outermost);
	}
}

static void take_model(struct gp_scope *scope, struct gp_tally *tally, const struct gp_model *model)
{
	struct walk walk = {.scope = scope, .tally = tally, .model = model};

	if (model->counted_count == 0)
		return;
	list(&walk);
	list_ranges(&walk);
	take_all(&walk);
	gp_spill_free(walk.kernels);
	gp_spill_free(walk.calls);
	gp_spill_free(walk.earlier);
	gp_spill_free(walk.outer);
}

/*
 * "....pct_of_peak_sustained_active", "....pct", "....ratio", "....per_second",
 * "....peak_sustained".
 */
bool gp_counter_has_sum(const char *counter)
{
	static const char *const ends[] = {".pct", ".ratio", ".per_", ".peak_"};

	for (size_t i = 0; i < COUNT(ends); i++)
		if (strstr(counter, ends[i]) != NULL)
			return false;
	return true;
}

static bool is_in_earlier_space(const void *text, const void *space)
{
	return ((const struct gp_text *)text)->space < *(const uint16_t *)space;
}

static const char *unit_in(const struct gp_model *model, const char *counter)
{
	const uint16_t space = GP_STRING_METRIC;
	uint32_t at = gp_array_lower_bound(model->texts, model->text_count, sizeof(*model->texts),
					   is_in_earlier_space, &space);
	const struct gp_text *unit = NULL;

	for (; !unit && at < model->text_count && model->texts[at].space == space; at++)
		if (strcmp(model->texts[at].bytes, counter) == 0)
			unit = gp_model_text(model, GP_STRING_METRIC_UNIT, 0, model->texts[at].id);
	return unit ? unit->bytes : "";
}

const char *gp_counter_unit(const struct gp_scope *scope, const char *counter)
{
	const char *unit = "";

	for (size_t i = 0; *unit == '\0' && i < scope->model_count; i++)
		unit = unit_in(scope->models[i], counter);
	return unit;
}

static void put_row(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		    double total)
{
	const char *counter = gp_scope_text_of(scope, row->key[COUNTER]);
	const struct gp_tally_series *series = &row->series[0];
	double sum = 0, least = 0, most = 0;

	(void)total;
	for (uint32_t i = 0; i < series->count; i++) {
		double value;

		memcpy(&value, &series->values[i], sizeof(value));
		sum += value;
		least = i == 0 || value < least ? value : least;
		most = i == 0 || value > most ? value : most;
	}
	gp_table_put_whole(table, row->count);
	gp_table_put_real(table, gp_counter_has_sum(counter) ? sum : NAN);
	gp_table_put_real(table, sum / (double)row->count);
	gp_table_put_real(table, least);
	gp_table_put_real(table, most);
	gp_table_put_text(table, counter);
	gp_table_put_text(table, gp_scope_text_of(scope, row->key[OUTERMOST]));
	gp_table_put_text(table, gp_scope_text_of(scope, row->key[OPERATOR]));
	gp_table_put_text(table, gp_scope_kernel_of(scope, row->key[KERNEL]));
}

static int compare_counters(const void *a, const void *b, const void *context)
{
	const struct gp_value *left = a, *right = b;

	(void)context;
	return strcmp(left[COUNTER_COLUMN].text, right[COUNTER_COLUMN].text);
}

/* By counter, as numbers of different counters do not compare; then by average, highest first. */
static int order_rows(struct gp_table *table)
{
	gp_table_sort(table, AVG_COLUMN);
	gp_array_sort(table->cells, (uint32_t)gp_table_rows(table),
		      COUNT(columns) * sizeof(*table->cells), compare_counters, NULL);
	return 0;
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};
	int result = 0;

	for (size_t i = 0; result == 0 && i < scope->model_count; i++)
		take_model(scope, &tally, scope->models[i]);
	result = gp_scope_rows(scope, table, &tally, result, put_row);
	return result == 0 ? order_rows(table) : result;
}

const struct gp_breakdown gp_breakdown_counter = {
	.help = "hardware counters of kernels, by counter, kernel and operator",
	.nothing =
		"no hardware counter of kernels: record with gpuprof-run --counters; if that recorded none, a note of the summary says why",
	.head = {"counter", "Hardware counters", columns, COUNT(columns)},
	.sort_column = COUNTER_COLUMN,
	.fold_before = 8,
	.fill = fill,
	.is_in_order = true,
};
