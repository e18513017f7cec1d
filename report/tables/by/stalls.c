/* The tables of the stall samples (--stalls): why warps wait, by kernel and source line. */
#include "report/tables/by/stalls.h"

#include <errno.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/analysis/device/stall_reasons.h"
#include "report/base/array.h"
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

void gp_stalls_add(struct gp_scope *scope, unsigned keys, struct gp_tally *tally)
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
	uint64_t total;

	gp_stalls_add(scope, GP_STALL_BIT(REASON), &tally);
	total = gp_stalls_total(&tally);
	for (uint32_t i = 0; i < tally.count; i++) {
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
	return 0;
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
	uint64_t total;

	gp_stalls_add(scope, keys, &tally);
	gp_stalls_add(scope, GP_STALL_BIT(KERNEL), &kernels);
	total = gp_stalls_total(&tally);
	for (uint32_t i = 0; i < tally.count; i++) {
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
	return 0;
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

/* ---- annotated source ---- */

#define CONTEXT_LINES 3u /* without samples, around each one with some */

/* Further sums of a line's row. */
enum line_sum { LINE_FILE_SAMPLES = GP_STALL_NOT_ISSUED + 1, LINE_REASON, LINE_REASON_SAMPLES };

static const struct gp_table_column source_columns[] = {
	{"Samples %", GP_UNIT_PERCENT}, {"Samples", GP_UNIT_COUNT},   {"Not issued", GP_UNIT_COUNT},
	{"Reason", GP_UNIT_TEXT},       {"Of line", GP_UNIT_PERCENT}, {"Line", GP_UNIT_NUMBER},
	{"Source", GP_UNIT_TEXT},       {"File", GP_UNIT_TEXT},
};

struct listing {
	struct gp_scope *scope;
	struct gp_table *table;
	struct gp_source_text *sources;
	uint64_t total;
};

/* The file with most samples first; in it, as it is written. */
static int compare_lines(const void *a, const void *b, const void *context)
{
	const struct gp_tally_row *left = a, *right = b;
	const uint64_t keys[][2] = {
		{right->sums[LINE_FILE_SAMPLES], left->sums[LINE_FILE_SAMPLES]},
		{left->key[GP_STALL_FILE], right->key[GP_STALL_FILE]},
		{left->key[GP_STALL_LINE], right->key[GP_STALL_LINE]},
	};
	int order = 0;

	(void)context;
	for (size_t i = 0; order == 0 && i < COUNT(keys); i++)
		order = (keys[i][0] > keys[i][1]) - (keys[i][0] < keys[i][1]);
	return order;
}

/* The samples of each line's file, and the reason with most samples of the line. */
static void gather_lines(struct gp_scope *scope, struct gp_tally *lines)
{
	struct gp_tally reasons = {0}, files = {0};
	unsigned of_line = GP_STALL_BIT(FILE) | GP_STALL_BIT(LINE);

	gp_stalls_add(scope, of_line, lines);
	gp_stalls_add(scope, of_line | GP_STALL_BIT(REASON), &reasons);
	gp_stalls_add(scope, GP_STALL_BIT(FILE), &files);
	for (uint32_t i = 0; i < reasons.count; i++) {
		const struct gp_tally_row *row = &reasons.rows[i];
		uint64_t file[GP_TALLY_KEYS] = {[GP_STALL_FILE] = row->key[GP_STALL_FILE]};
		uint64_t key[GP_TALLY_KEYS] = {[GP_STALL_FILE] = row->key[GP_STALL_FILE],
					       [GP_STALL_LINE] = row->key[GP_STALL_LINE]};
		struct gp_tally_row *line = gp_tally_find(lines, key);

		line->sums[LINE_FILE_SAMPLES] = gp_tally_find(&files, file)->sums[GP_STALL_SAMPLES];
		if (row->sums[GP_STALL_SAMPLES] <= line->sums[LINE_REASON_SAMPLES])
			continue;
		line->sums[LINE_REASON_SAMPLES] = row->sums[GP_STALL_SAMPLES];
		line->sums[LINE_REASON] = row->key[GP_STALL_REASON];
	}
	gp_tally_free(&reasons);
	gp_tally_free(&files);
}

/* Without the folders of the file, which would leave no room for the code. */
static void put_text_of_line(const struct listing *listing, const char *file, uint32_t line)
{
	const char *name = strrchr(file, '/');

	gp_table_cell(listing->table, gp_value_whole(line));
	gp_table_put_text(listing->table, gp_source_text_indented(listing->sources, file, line));
	gp_table_put_text(listing->table, name ? name + 1 : file);
}

static void put_sampled(const struct listing *listing, const struct gp_tally_row *row)
{
	const char *file = gp_scope_text_of(listing->scope, row->key[GP_STALL_FILE]);

	put_samples(listing->table, row, listing->total);
	gp_table_put_text(listing->table, gp_scope_text_of(listing->scope, row->sums[LINE_REASON]));
	gp_table_cell(listing->table, gp_value_percent((double)row->sums[LINE_REASON_SAMPLES],
						       (double)row->sums[GP_STALL_SAMPLES]));
	put_text_of_line(listing, file, (uint32_t)row->key[GP_STALL_LINE]);
}

/* Lines without samples; empty ones only between others. */
static void put_context(const struct listing *listing, const char *file, uint32_t from,
			uint32_t before)
{
	for (uint32_t line = from; line < before; line++) {
		if (!gp_source_text_line(listing->sources, file, line))
			continue;
		for (int i = 0; i < 5; i++)
			gp_table_cell(listing->table, gp_value_none());
		put_text_of_line(listing, file, line);
	}
}

/* last: the last line of this file so far, 0: none; next: the next line with samples, or NULL. */
static uint32_t put_around(const struct listing *listing, const struct gp_tally_row *row,
			   uint32_t last, const struct gp_tally_row *next)
{
	const char *file = gp_scope_text_of(listing->scope, row->key[GP_STALL_FILE]);
	uint32_t line = (uint32_t)row->key[GP_STALL_LINE], end = line + CONTEXT_LINES + 1;
	uint32_t from = line > CONTEXT_LINES ? line - CONTEXT_LINES : 1;

	put_context(listing, file, from > last ? from : last + 1, line);
	put_sampled(listing, row);
	if (next && next->key[GP_STALL_FILE] == row->key[GP_STALL_FILE] &&
	    next->key[GP_STALL_LINE] < end)
		end = (uint32_t)next->key[GP_STALL_LINE];
	put_context(listing, file, line + 1, end);
	return end - 1;
}

static int fill_source(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally lines = {0};
	struct listing listing = {.scope = scope, .table = table};
	uint32_t last = 0;

	gather_lines(scope, &lines);
	listing.sources = gp_stalls_sources(scope);
	listing.total = gp_stalls_total(&lines);
	gp_array_sort(lines.rows, lines.count, sizeof(*lines.rows), compare_lines, NULL);
	for (uint32_t i = 0; i < lines.count; i++) {
		const struct gp_tally_row *row = &lines.rows[i];

		if (i > 0 && row[-1].key[GP_STALL_FILE] != row->key[GP_STALL_FILE])
			last = 0;
		if (row->key[GP_STALL_LINE] != 0)
			last = put_around(&listing, row, last,
					  i + 1 < lines.count ? row + 1 : NULL);
	}
	gp_source_text_free(listing.sources);
	gp_tally_free(&lines);
	return 0;
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

const struct gp_breakdown gp_breakdown_stall_source = {
	.word = "stalls",
	.help = "source code of kernels with the samples of each line, and why its warps wait most",
	.nothing =
		"no source lines with samples of warps: compile with -lineinfo, and record with gpuprof-run --stalls",
	.head = {"stall-source", "Source code with reasons to wait", source_columns,
		 COUNT(source_columns)},
	.sort_column = GP_TABLE_AS_ADDED,
	.fill = fill_source,
};
