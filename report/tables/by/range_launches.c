/*
 * The launches of push/pop ranges.  For a range without its inner ranges: its kernels in order, the
 * delay to the first launch, and from there to the start of its kernel.  For a range with its inner ranges: the sequences
 * of kernels that an operator makes.
 */
#include "report/tables/by/ranges.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/tables/breakdown.h"
#include "report/base/memstream.h"
#include "report/base/stats.h"

/* Kernels of one range that are named; the others are counted. */
#define MOST_NAMED 8

#define HASH_BASE UINT64_C(0x9e3779b97f4a7c15)

static const struct gp_table_column columns[] = {
	{"Count", GP_UNIT_COUNT},       {"Kernels", GP_UNIT_COUNT}, {"Launch avg", GP_UNIT_NS},
	{"Launch med", GP_UNIT_NS},     {"Launch max", GP_UNIT_NS}, {"Start avg", GP_UNIT_NS},
	{"Start med", GP_UNIT_NS},      {"Start max", GP_UNIT_NS},  {"GPU time", GP_UNIT_NS},
	{"PID", GP_UNIT_NUMBER},        {"Domain", GP_UNIT_TEXT},   {"Range", GP_UNIT_TEXT},
	{"Kernel names", GP_UNIT_TEXT},
};

static const struct gp_table_column sequence_columns[] = {
	{"Count", GP_UNIT_COUNT},   {"Kernels", GP_UNIT_COUNT},     {"GPU time", GP_UNIT_NS},
	{"Range time", GP_UNIT_NS}, {"PID", GP_UNIT_NUMBER},        {"Domain", GP_UNIT_TEXT},
	{"Range", GP_UNIT_TEXT},    {"Kernel names", GP_UNIT_TEXT},
};

/* An open range, and its launches. */
struct opened {
	uint32_t range;
	uint32_t count; /* of its kernels */
	uint64_t names[MOST_NAMED];
	uint64_t hash; /* of all names, in order: a polynomial in HASH_BASE */
	uint64_t launch_ns, start_ns, gpu_ns;
};

struct walk {
	struct gp_scope *scope;
	struct gp_tally *tally;
	const struct gp_model *model;
	uint64_t process;
	bool with_inner; /* launches of inner ranges count in the outer ones, too */
	uint64_t *names;
	struct opened *open; /* the outermost first */
	uint32_t count, capacity, next;
};

enum { LAUNCH, START }; /* series */
enum { KERNELS, GPU_NS, NAMES, RANGE_NS };
enum { TEXT, DOMAIN, HASH, ALL, PROCESS };

static void write_names(const struct walk *walk, const struct opened *opened, FILE *out)
{
	uint32_t named = opened->count < MOST_NAMED ? opened->count : MOST_NAMED;

	for (uint32_t i = 0, same; i < named; i += same) {
		for (same = 1; i + same < named && opened->names[i + same] == opened->names[i];)
			same++;
		fprintf(out, "%s%s", i > 0 ? " > " : "",
			gp_scope_kernel_of(walk->scope, opened->names[i]));
		if (same > 1)
			fprintf(out, " (%u times)", same);
	}
	if (opened->count > named)
		fprintf(out, " > %u more", opened->count - named);
}

/* The interned text "a > b (3 times) > c > 8 more". */
static uint64_t number_names(const struct walk *walk, const struct opened *opened)
{
	uint64_t number = GP_SCOPE_NO_TEXT;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	write_names(walk, opened, out);
	gp_memstream_close(out, &text);
	number = gp_scope_text(walk->scope, text);
	free(text);
	return number;
}

static void close_range(struct walk *walk, const struct opened *opened)
{
	const struct gp_range *range = &walk->model->ranges[opened->range];
	struct gp_range_key key = gp_range_key_of(walk->scope, walk->model, range);
	struct gp_tally_row *row;

	if (opened->count < (walk->with_inner ? 2 : 1))
		return;
	row = gp_tally_find(walk->tally, (uint64_t[GP_TALLY_KEYS]){[TEXT] = key.text,
								   [DOMAIN] = key.domain,
								   [HASH] = opened->hash,
								   [ALL] = opened->count,
								   [PROCESS] = walk->process});
	if (row->count++ == 0)
		row->sums[NAMES] = number_names(walk, opened);
	row->sums[KERNELS] += opened->count;
	row->sums[GPU_NS] += opened->gpu_ns;
	row->sums[RANGE_NS] += range->end_ns - range->start_ns;
	gp_tally_value(walk->tally, row, LAUNCH, opened->launch_ns);
	gp_tally_value(walk->tally, row, START, opened->start_ns);
}

static uint64_t power(uint64_t base, uint32_t exponent)
{
	uint64_t result = 1;

	for (; exponent > 0; exponent /= 2, base *= base)
		if (exponent % 2)
			result *= base;
	return result;
}

/* Append the launches of an inner range to those of the outer one. */
static void append(struct opened *around, const struct opened *within)
{
	for (uint32_t i = 0; i < within->count && around->count + i < MOST_NAMED; i++)
		around->names[around->count + i] = within->names[i];
	around->hash = around->hash * power(HASH_BASE, within->count) + within->hash;
	around->count += within->count;
	around->gpu_ns += within->gpu_ns;
}

/*
 * Append the last open range to the innermost one that contains it: a range of another domain may
 * end before it.
 */
static void append_to_outer(struct walk *walk)
{
	const struct opened *last = &walk->open[walk->count - 1];
	uint64_t end_ns = walk->model->ranges[last->range].end_ns;

	for (uint32_t i = walk->count - 1; last->count > 0 && i > 0; i--)
		if (walk->model->ranges[walk->open[i - 1].range].end_ns >= end_ns) {
			append(&walk->open[i - 1], last);
			return;
		}
}

/*
 * Close ranges, from the innermost on, that had ended when the call began or belong to another
 * thread; call NULL = all.  Stops at the first that is still open.  A range of another domain
 * around that may have ended: it launches nothing more, and is closed once it is the innermost.
 */
static void close_ranges(struct walk *walk, const struct gp_call *call)
{
	for (; walk->count > 0; walk->count--) {
		const struct opened *last = &walk->open[walk->count - 1];
		const struct gp_range *range = &walk->model->ranges[last->range];

		if (call && range->thread_id == call->thread_id && range->end_ns >= call->start_ns)
			return;
		close_range(walk, last);
		if (walk->with_inner)
			append_to_outer(walk);
	}
}

static void open_ranges(struct walk *walk, uint32_t index)
{
	const struct gp_call *call = &walk->model->calls[index];

	for (; gp_model_range_is_next(walk->model, index, walk->next); walk->next++) {
		const struct gp_range *range = &walk->model->ranges[walk->next];

		if (range->style != GP_STYLE_PUSH_POP || range->thread_id != call->thread_id ||
		    range->end_ns < call->start_ns)
			continue;
		gp_array_grow(&walk->open, &walk->capacity, walk->count, sizeof(*walk->open));
		walk->open[walk->count++] = (struct opened){.range = walk->next};
	}
}

/* A hash of the number: never 0. */
static uint64_t mixed(uint64_t name)
{
	uint64_t mixed = (name + 1) * UINT64_C(0xbf58476d1ce4e5b9);

	return mixed ^ mixed >> 32;
}

static void take_kernel(struct walk *walk, const struct gp_call *call, const struct gp_op *op)
{
	struct opened *opened = &walk->open[walk->count - 1];
	uint64_t name = gp_scope_name(walk->scope, walk->model, op, walk->names);

	if (opened->count < MOST_NAMED)
		opened->names[opened->count] = name;
	opened->hash = opened->hash * HASH_BASE + mixed(name);
	if (opened->count++ == 0) {
		opened->launch_ns = call->start_ns - walk->model->ranges[opened->range].start_ns;
		opened->start_ns =
			op->start_ns > call->start_ns ? op->start_ns - call->start_ns : 0;
	}
	opened->gpu_ns += op->end_ns - op->start_ns;
}

static void walk_calls(struct walk *walk)
{
	const struct gp_model *model = walk->model;

	for (uint32_t i = 0; i < model->call_count; i++) {
		const struct gp_call *call = &model->calls[i];

		if (call->first_op == GP_NONE)
			continue;
		close_ranges(walk, call);
		open_ranges(walk, i);
		for (uint32_t op = call->first_op; walk->count > 0 && op != GP_NONE;
		     op = model->ops[op].next_op)
			if (model->ops[op].kind == GP_OP_KERNEL && !model->ops[op].untimed)
				take_kernel(walk, call, &model->ops[op]);
	}
	close_ranges(walk, NULL);
}

static void walk_model(struct gp_scope *scope, struct gp_tally *tally, size_t process,
		       bool with_inner)
{
	const struct gp_model *model = scope->models[process];
	struct walk walk = {.scope = scope,
			    .tally = tally,
			    .model = model,
			    .process = process,
			    .with_inner = with_inner,
			    .names = gp_scope_names(model)};

	walk_calls(&walk);
	free(walk.open);
	free(walk.names);
}

static void put_delays(struct gp_table *table, const struct gp_tally_series *series)
{
	struct gp_stats stats = gp_stats_of(series->values, series->count);

	gp_table_cell(table, gp_value_real(stats.mean));
	gp_table_cell(table, gp_value_real(stats.median));
	gp_table_put_whole(table, stats.max);
}

static void put_names(struct gp_scope *scope, struct gp_table *table,
		      const struct gp_tally_row *row)
{
	gp_scope_put_process(scope, table, scope->models[row->key[PROCESS]]);
	gp_table_put_text(table, gp_scope_text_of(scope, row->key[DOMAIN]));
	gp_table_put_text(table, gp_scope_text_of(scope, row->key[TEXT]));
	gp_table_put_text(table, gp_scope_text_of(scope, row->sums[NAMES]));
}

static void put_row(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		    double total)
{
	(void)total;
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->sums[KERNELS]);
	put_delays(table, &row->series[LAUNCH]);
	put_delays(table, &row->series[START]);
	gp_table_put_whole(table, row->sums[GPU_NS]);
	put_names(scope, table, row);
}

static void put_sequence(struct gp_scope *scope, struct gp_table *table,
			 const struct gp_tally_row *row, double total)
{
	(void)total;
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->sums[KERNELS]);
	gp_table_put_whole(table, row->sums[GPU_NS]);
	gp_table_put_whole(table, row->sums[RANGE_NS]);
	put_names(scope, table, row);
}

static void walk_models(struct gp_scope *scope, struct gp_tally *tally, bool with_inner)
{
	for (size_t i = 0; i < scope->model_count; i++)
		walk_model(scope, tally, i, with_inner);
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	walk_models(scope, &tally, false);
	return gp_scope_rows(scope, table, &tally, 0, put_row);
}

static int fill_sequences(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	walk_models(scope, &tally, true);
	return gp_scope_rows(scope, table, &tally, 0, put_sequence);
}

const struct gp_breakdown gp_breakdown_nvtx_launch = {
	.help = "kernels that each NVTX range, or operator, launches itself, in order, with delays",
	.nothing = GP_RANGE_NOTHING("NVTX range that launched a kernel"),
	.head = {"nvtx-launch", "Launches by NVTX range", columns, COUNT(columns)},
	.sort_column = 0,
	.fold_before = 12,
	.fill = fill,
};

const struct gp_breakdown gp_breakdown_nvtx_sequence = {
	.help = "sequences of kernels of each NVTX range, or operator, including its inner ranges",
	.nothing = GP_RANGE_NOTHING("NVTX range that launched two kernels"),
	.head = {"nvtx-sequence", "Kernel sequences by NVTX range", sequence_columns,
		 COUNT(sequence_columns)},
	.sort_column = 0,
	.fold_before = 7,
	.fill = fill_sequences,
};
