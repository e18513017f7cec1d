/* NVTX ranges: time on the thread, and projected onto the GPU. */
#include "report/tables/by/ranges.h"

#include "gpuprof/count.h"
#include "report/tables/breakdown.h"
#include "report/base/text/name_pattern.h"

#define PATTERN_BYTES 256

static const struct gp_table_column range_columns[] = {
	GP_SHARE_COLUMNS,
	{"Self", GP_UNIT_NS},
	{"Count", GP_UNIT_COUNT},
	{"Open", GP_UNIT_COUNT},
	GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	GP_RANGE_COLUMNS,
};

static const struct gp_table_column gpu_columns[] = {
	GP_SHARE_COLUMNS,           {"Count", GP_UNIT_COUNT},     GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	{"GPU time", GP_UNIT_NS},   {"GPU ops", GP_UNIT_COUNT},   {"Range time", GP_UNIT_NS},
	{"Avg ops", GP_UNIT_COUNT}, {"Avg level", GP_UNIT_COUNT}, {"Avg children", GP_UNIT_COUNT},
	GP_RANGE_COLUMNS,
};

static const struct gp_table_column group_columns[] = {
	GP_SHARE_COLUMNS,         {"Count", GP_UNIT_COUNT},  GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	{"GPU time", GP_UNIT_NS}, {"Longest", GP_UNIT_TEXT}, GP_RANGE_COLUMNS,
};

struct gp_range_key gp_range_key_of(struct gp_scope *scope, const struct gp_model *model,
				    const struct gp_range *range)
{
	return (struct gp_range_key){
		.text = gp_scope_text(scope, gp_model_range_text(model, range)),
		.domain = gp_scope_text(scope, model->domains[range->domain]),
		.style = range->style,
	};
}

void gp_range_put_key(struct gp_scope *scope, struct gp_table *table, struct gp_range_key key)
{
	static const char *const styles[] = {
		[GP_STYLE_PUSH_POP] = "push/pop",
		[GP_STYLE_START_END] = "start/end",
		[GP_STYLE_MARK] = "mark",
	};

	gp_table_put_text(table, styles[key.style]);
	gp_table_put_text(table, gp_scope_text_of(scope, key.domain));
	gp_table_put_text(table, gp_scope_text_of(scope, key.text));
}

static struct gp_tally_row *find_row(struct gp_scope *scope, struct gp_tally *tally,
				     const struct gp_model *model, const struct gp_range *range)
{
	struct gp_range_key key = gp_range_key_of(scope, model, range);

	return gp_tally_find(tally, (uint64_t[GP_TALLY_KEYS]){key.text, key.domain, key.style});
}

static void put_key(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row)
{
	gp_range_put_key(scope, table,
			 (struct gp_range_key){row->key[0], row->key[1], row->key[2]});
}

/* ---- on the thread ---- */

enum { SELF_NS, OPEN };

/* A range that was never closed lasts at least to the end of the recording. */
static void count_range(struct gp_tally *tally, struct gp_tally_row *row,
			const struct gp_range *range)
{
	uint64_t duration_ns = range->end_ns - range->start_ns;

	row->count++;
	row->sums[OPEN] += range->open;
	if (range->style == GP_STYLE_MARK)
		return;
	gp_tally_value(tally, row, 0, duration_ns);
	row->sums[SELF_NS] +=
		duration_ns > range->children_ns ? duration_ns - range->children_ns : 0;
}

static void put_range(struct gp_scope *scope, struct gp_table *table,
		      const struct gp_tally_row *row, double total)
{
	bool nests = row->key[2] == GP_STYLE_PUSH_POP;

	gp_scope_put_share(table, row, total);
	gp_table_cell(table, nests ? gp_value_whole(row->sums[SELF_NS]) : gp_value_none());
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->sums[OPEN]);
	gp_scope_put_spread(table, &row->series[0]);
	put_key(scope, table, row);
}

static void take_ranges(struct gp_scope *scope, struct gp_tally *tally,
			const struct gp_model *model)
{
	struct gp_slice_filter filter = gp_slice_filter_of_part(model);

	for (uint32_t i = 0; i < model->range_count; i++) {
		const struct gp_range *range = &model->ranges[i];

		if (gp_slice_filter_has(&filter, range->start_ns, range->end_ns))
			count_range(tally, find_row(scope, tally, model, range), range);
	}
}

static int fill_ranges(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	for (size_t m = 0; m < scope->model_count; m++)
		take_ranges(scope, &tally, scope->models[m]);
	return gp_scope_rows(scope, table, &tally, 0, put_range);
}

/* ---- names that differ only in their numbers ---- */

enum { GPU_NS, LONGEST_NS, LONGEST_TEXT };

static void take_alike(struct gp_scope *scope, struct gp_tally *tally, const struct gp_model *model,
		       const struct gp_range *range)
{
	struct gp_range_key key = gp_range_key_of(scope, model, range);
	uint64_t duration_ns = range->end_ns - range->start_ns;
	struct gp_tally_row *row;
	char pattern[PATTERN_BYTES];

	gp_name_pattern(pattern, sizeof(pattern), gp_model_range_text(model, range));
	row = gp_tally_find(tally, (uint64_t[GP_TALLY_KEYS]){gp_scope_text(scope, pattern),
							     key.domain, key.style});
	if (row->count == 0 || duration_ns > row->sums[LONGEST_NS]) {
		row->sums[LONGEST_NS] = duration_ns;
		row->sums[LONGEST_TEXT] = key.text;
	}
	row->count++;
	row->sums[GPU_NS] += range->gpu_busy_ns;
	gp_tally_value(tally, row, 0, duration_ns);
}

static void put_alike(struct gp_scope *scope, struct gp_table *table,
		      const struct gp_tally_row *row, double total)
{
	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_scope_put_spread(table, &row->series[0]);
	gp_table_put_whole(table, row->sums[GPU_NS]);
	gp_table_put_text(table, gp_scope_text_of(scope, row->sums[LONGEST_TEXT]));
	put_key(scope, table, row);
}

static int fill_alike(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	for (size_t m = 0; m < scope->model_count; m++) {
		const struct gp_model *model = scope->models[m];
		struct gp_slice_filter filter = gp_slice_filter_of_part(model);

		for (uint32_t i = 0; i < model->range_count; i++) {
			const struct gp_range *range = &model->ranges[i];

			if (range->style != GP_STYLE_MARK &&
			    gp_slice_filter_has(&filter, range->start_ns, range->end_ns))
				take_alike(scope, &tally, model, range);
		}
	}
	return gp_scope_rows(scope, table, &tally, 0, put_alike);
}

/* ---- on the GPU ---- */

enum { OPS, BUSY_NS, RANGE_NS, LEVELS, CHILDREN };

static void take_projection(struct gp_scope *scope, struct gp_tally *tally,
			    const struct gp_model *model, const struct gp_range *range)
{
	struct gp_tally_row *row = find_row(scope, tally, model, range);

	row->count++;
	row->sums[OPS] += range->op_count;
	row->sums[BUSY_NS] += range->gpu_busy_ns;
	row->sums[RANGE_NS] += range->end_ns - range->start_ns;
	row->sums[LEVELS] += range->level;
	row->sums[CHILDREN] += range->children;
	if (range->gpu_end_ns > 0)
		gp_tally_value(tally, row, 0, range->gpu_end_ns - range->gpu_start_ns);
}

static void put_mean(struct gp_table *table, const struct gp_tally_row *row, size_t sum)
{
	gp_table_cell(table, gp_value_real((double)row->sums[sum] / (double)row->count));
}

static void put_projection(struct gp_scope *scope, struct gp_table *table,
			   const struct gp_tally_row *row, double total)
{
	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_scope_put_spread(table, &row->series[0]);
	gp_table_put_whole(table, row->sums[BUSY_NS]);
	gp_table_put_whole(table, row->sums[OPS]);
	gp_table_put_whole(table, row->sums[RANGE_NS]);
	put_mean(table, row, OPS);
	put_mean(table, row, LEVELS);
	put_mean(table, row, CHILDREN);
	put_key(scope, table, row);
}

static int fill_projections(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	for (size_t m = 0; m < scope->model_count; m++)
		for (uint32_t i = 0; i < scope->models[m]->range_count; i++)
			if (scope->models[m]->ranges[i].op_count > 0)
				take_projection(scope, &tally, scope->models[m],
						&scope->models[m]->ranges[i]);
	return gp_scope_rows(scope, table, &tally, 0, put_projection);
}

const struct gp_breakdown gp_breakdown_nvtx = {
	.help = "NVTX ranges and marks of the program (--by range is the same)",
	.word = "range",
	.nothing = GP_RANGE_NOTHING("NVTX range"),
	.head = {"nvtx", "NVTX ranges", range_columns, COUNT(range_columns)},
	.sort_column = 1,
	.fill = fill_ranges,
};

const struct gp_breakdown gp_breakdown_nvtx_group = {
	.help = "NVTX ranges by name without numbers, as for requests and steps: \"*\" stands for a number",
	.nothing = GP_RANGE_NOTHING("NVTX range"),
	.head = {"nvtx-group", "NVTX ranges by name without numbers", group_columns,
		 COUNT(group_columns)},
	.sort_column = 1,
	.fill = fill_alike,
};

const struct gp_breakdown gp_breakdown_nvtx_gpu = {
	.help = "NVTX ranges projected onto the GPU: from the first to the last operation started inside",
	.nothing = GP_RANGE_NOTHING("NVTX range that started a GPU operation"),
	.head = {"nvtx-gpu", "NVTX ranges on the GPU", gpu_columns, COUNT(gpu_columns)},
	.sort_column = 1,
	.fill = fill_projections,
};
