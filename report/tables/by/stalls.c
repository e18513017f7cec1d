/* The tables of the stall samples (--stalls): why warps wait, by kernel and source line. */
#include "report/tables/by/stalls.h"

#include <errno.h>

#include "gpuprof/count.h"
#include "report/analysis/device/stall_reasons.h"
#include "report/tables/breakdown.h"

/* ---- adding up ---- */

static void add(struct gp_scope *scope, const struct gp_model *model, unsigned keys,
		const struct gp_record_stall *stall, struct gp_tally *tally)
{
	uint64_t key[GP_TALLY_KEYS] = {0};
	struct gp_tally_row *row;

	if (keys & GP_STALL_BIT(KERNEL))
		key[GP_STALL_KERNEL] = gp_scope_text(scope, gp_stall_text(model, stall->kernel_id));
	if (keys & GP_STALL_BIT(FILE))
		key[GP_STALL_FILE] = gp_scope_text(
			scope, stall->file_id != 0 ? gp_stall_text(model, stall->file_id) : "");
	if (keys & GP_STALL_BIT(LINE))
		key[GP_STALL_LINE] = stall->line;
	if (keys & GP_STALL_BIT(REASON))
		key[GP_STALL_REASON] = gp_scope_text(scope, gp_stall_text(model, stall->reason_id));
	row = gp_tally_find(tally, key);
	row->sums[GP_STALL_SAMPLES] += stall->samples;
	row->sums[GP_STALL_NOT_ISSUED] += stall->not_issued;
}

int gp_stalls_add(struct gp_scope *scope, unsigned keys, struct gp_tally *tally)
{
	for (size_t m = 0; m < scope->model_count; m++) {
		const struct gp_model *model = scope->models[m];
		struct gp_slice_filter filter = gp_slice_filter_of_part(model);

		for (uint32_t i = 0; i < model->stall_count; i++) {
			const struct gp_record_stall *stall = &model->stalls[i];

			if (gp_slice_filter_has(&filter, stall->start_ns, stall->end_ns))
				add(scope, model, keys, stall, tally);
		}
	}
	return tally->error;
}

uint64_t gp_stalls_total(const struct gp_tally *tally)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < tally->count; i++)
		total += tally->rows[i].sums[GP_STALL_SAMPLES];
	return total;
}

struct gp_source_text *gp_stalls_sources(const struct gp_scope *scope)
{
	return gp_source_text_new((int64_t)(scope->start_unix_ns / 1000000000));
}

/* ---- the tables ---- */

static const struct gp_table_column reason_columns[] = {
	{"Samples %", GP_UNIT_PERCENT}, {"Samples", GP_UNIT_COUNT}, {"Not issued", GP_UNIT_COUNT},
	{"Error", GP_UNIT_PERCENT},     {"Reason", GP_UNIT_TEXT},   {"A warp", GP_UNIT_TEXT},
	{"What helps", GP_UNIT_TEXT},
};

static const struct gp_table_column kernel_columns[] = {
	{"Samples %", GP_UNIT_PERCENT}, {"Samples", GP_UNIT_COUNT}, {"Not issued", GP_UNIT_COUNT},
	{"Of kernel", GP_UNIT_PERCENT}, {"Error", GP_UNIT_PERCENT}, {"Reason", GP_UNIT_TEXT},
	{"Name", GP_UNIT_TEXT},
};

static const struct gp_table_column line_columns[] = {
	{"Samples %", GP_UNIT_PERCENT}, {"Samples", GP_UNIT_COUNT}, {"Not issued", GP_UNIT_COUNT},
	{"Of kernel", GP_UNIT_PERCENT}, {"Error", GP_UNIT_PERCENT}, {"Reason", GP_UNIT_TEXT},
	{"Line", GP_UNIT_NUMBER},       {"File", GP_UNIT_TEXT},     {"Source", GP_UNIT_TEXT},
	{"Name", GP_UNIT_TEXT},
};

static void put_samples(struct gp_table *table, const struct gp_tally_row *row, uint64_t total)
{
	gp_table_cell(table, gp_value_percent((double)row->sums[GP_STALL_SAMPLES], (double)total));
	gp_table_put_whole(table, row->sums[GP_STALL_SAMPLES]);
	gp_table_put_whole(table, row->sums[GP_STALL_NOT_ISSUED]);
}

static void put_reason(const struct gp_scope *scope, struct gp_table *table,
		       const struct gp_tally_row *row)
{
	gp_table_put_text(table, gp_scope_text_of(scope, row->key[GP_STALL_REASON]));
}

static int fill_reasons(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};
	int result = gp_stalls_add(scope, GP_STALL_BIT(REASON), &tally);
	uint64_t total = gp_stalls_total(&tally);

	for (uint32_t i = 0; result == 0 && i < tally.count; i++) {
		const struct gp_tally_row *row = &tally.rows[i];
		const struct gp_stall_reason *reason =
			gp_stall_reason_of(gp_scope_text_of(scope, row->key[GP_STALL_REASON]));

		put_samples(table, row, total);
		gp_table_cell(table, gp_value_real(gp_stall_error(
					     (double)row->sums[GP_STALL_SAMPLES], (double)total)));
		put_reason(scope, table, row);
		gp_table_put_text(table, reason->meaning);
		gp_table_put_text(table, reason->helps);
	}
	gp_tally_free(&tally);
	return result;
}

/* The share of its kernel, and the error of this share. */
static void put_share(struct gp_table *table, const struct gp_tally_row *row,
		      struct gp_tally *kernels)
{
	uint64_t key[GP_TALLY_KEYS] = {row->key[GP_STALL_KERNEL]};
	double samples = (double)row->sums[GP_STALL_SAMPLES];
	double whole = (double)gp_tally_find(kernels, key)->sums[GP_STALL_SAMPLES];

	gp_table_cell(table, gp_value_percent(samples, whole));
	gp_table_cell(table, gp_value_real(gp_stall_error(samples, whole)));
}

static void put_line(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		     struct gp_source_text *sources)
{
	const char *file = gp_scope_text_of(scope, row->key[GP_STALL_FILE]);
	uint32_t line = (uint32_t)row->key[GP_STALL_LINE];

	gp_table_cell(table, line != 0 ? gp_value_whole(line) : gp_value_none());
	gp_table_put_text(table, file);
	gp_table_put_text(table, gp_source_text_line(sources, file, line));
}

static int fill(struct gp_scope *scope, struct gp_table *table, unsigned keys)
{
	struct gp_tally tally = {0}, kernels = {0};
	struct gp_source_text *sources = gp_stalls_sources(scope);
	int result = gp_stalls_add(scope, keys, &tally);
	uint64_t total = gp_stalls_total(&tally);

	if (result == 0)
		result = gp_stalls_add(scope, GP_STALL_BIT(KERNEL), &kernels);
	for (uint32_t i = 0; result == 0 && i < tally.count; i++) {
		const struct gp_tally_row *row = &tally.rows[i];

		put_samples(table, row, total);
		put_share(table, row, &kernels);
		put_reason(scope, table, row);
		if (keys & GP_STALL_BIT(LINE))
			put_line(scope, table, row, sources);
		gp_table_put_text(table, gp_scope_kernel_of(scope, row->key[GP_STALL_KERNEL]));
	}
	gp_source_text_free(sources);
	gp_tally_free(&tally);
	gp_tally_free(&kernels);
	return result;
}

static int fill_kernels(struct gp_scope *scope, struct gp_table *table)
{
	return fill(scope, table, GP_STALL_BIT(KERNEL) | GP_STALL_BIT(REASON));
}

static int fill_lines(struct gp_scope *scope, struct gp_table *table)
{
	return fill(scope, table,
		    GP_STALL_BIT(KERNEL) | GP_STALL_BIT(FILE) | GP_STALL_BIT(LINE) |
			    GP_STALL_BIT(REASON));
}

#define NOTHING                                                                                    \
	"no samples of warps: record with gpuprof-run --stalls; if that recorded none, a note of the summary says why, or the kernels were too short"

const struct gp_breakdown gp_breakdown_stall_reason = {
	.word = "stalls",
	.help = "why warps wait: reasons, and what helps, from samples of warps",
	.nothing = NOTHING,
	.head = {"stall-reason", "Reasons to wait", reason_columns, COUNT(reason_columns)},
	.sort_column = 1,
	.fill = fill_reasons,
};

const struct gp_breakdown gp_breakdown_stall_kernel = {
	.word = "stalls",
	.help = "why warps wait: kernels by reason, from samples of warps",
	.nothing = NOTHING,
	.head = {"stall-kernel", "Reasons to wait by kernel", kernel_columns,
		 COUNT(kernel_columns)},
	.sort_column = 1,
	.fill = fill_kernels,
};

const struct gp_breakdown gp_breakdown_stall_line = {
	.word = "stalls",
	.help = "why warps wait: source lines of kernels by reason, from samples of warps",
	.nothing = NOTHING,
	.head = {"stall-line", "Reasons to wait by source line", line_columns, COUNT(line_columns)},
	.sort_column = 1,
	.fill = fill_lines,
};
