#include "report/summary/part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/analysis/analysis.h"
#include "report/base/array.h"
#include "report/base/text/format.h"
#include "report/base/text/name_pattern.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"
#include "report/base/text/text.h"

#define NAME_COLUMNS 60 /* if all ranges have one line */
#define NAME_BYTES   256
#define MANY_NAMES   4u /* names that differ only in their numbers */
#define FEW_OF_ONE                                                                                 \
	2u /* ranges of one such name: its lengths are known by their sum and the longest */

static const struct gp_table_column columns[] = {
	{"GPU time", GP_UNIT_NS}, {"GPU ops", GP_UNIT_COUNT}, {"Ranges", GP_UNIT_COUNT},
	{"Open", GP_UNIT_COUNT},  {"Total", GP_UNIT_NS},      {"Avg", GP_UNIT_NS},
	{"Max", GP_UNIT_NS},      {"Range", GP_UNIT_TEXT},
};

static const struct gp_table_head head = {"ranges", NULL, columns, COUNT(columns)};

/*
 * All ranges of one domain and message; or of many messages that differ only in their numbers and
 * occur once or twice each, such as requests.  Ranges that were never closed last to the end of the
 * recording.
 */
struct row {
	char *key;
	const char *longest; /* key of the longest range; NULL: all have the same */
	double median_ns;    /* if there are many messages */
	uint64_t gpu_ns, operations, count, open, total_ns, longest_ns;
	bool works, works_own; /* one started operations; some of these are not autotuning */
};

struct gp_summary_ranges {
	struct gp_groups names; /* numbered as the rows */
	struct row *rows;       /* sorted for the table once all are gathered */
	uint32_t count, capacity;
	uint64_t ranges;
	bool has_tuning; /* a row started only operations of autotuning */
};

/* "message", or "message (domain)". */
static char *make_key(const struct gp_model *model, const struct gp_range *range)
{
	const char *text = gp_model_range_text(model, range);
	const char *domain = model->domains[range->domain];
	size_t size = strlen(text) + strlen(domain) + sizeof("(no name) ()");
	char *key = malloc(size);

	if (*domain)
		snprintf(key, size, "%s (%s)", *text ? text : "(no name)", domain);
	else
		snprintf(key, size, "%s", *text ? text : "(no name)");
	return key;
}

static struct row *find_row(struct gp_summary_ranges *rows, const struct gp_model *model,
			    const struct gp_range *range)
{
	char *key = make_key(model, range);
	uint32_t number = gp_groups_find(&rows->names, key);

	free(key);
	gp_array_grow(&rows->rows, &rows->capacity, number, sizeof(*rows->rows));
	if (number == rows->count)
		rows->rows[rows->count++] = (struct row){.key = rows->names.rows[number].key};
	return &rows->rows[number];
}

/*
 * Whether a range started operations that are not autotuning.  Start/end ranges are always the
 * program's own.  tuning NULL: the GPU was not used.
 */
static bool works_own(const struct gp_model *model, const struct gp_tuning *tuning,
		      const struct gp_range *range, uint32_t *own)
{
	return range->op_count > 0 &&
	       (range->style != GP_STYLE_PUSH_POP || !tuning || !gp_tuning_has_any(model, tuning) ||
		gp_tuning_range_has_own(model, tuning, range, own));
}

static void add_range(struct gp_summary_ranges *rows, const struct gp_model *model,
		      const struct gp_tuning *tuning, const struct gp_range *range, uint32_t *own)
{
	uint64_t length_ns = range->end_ns - range->start_ns;
	struct row *row;

	if (range->style == GP_STYLE_MARK)
		return;
	row = find_row(rows, model, range);
	rows->ranges++;
	row->count++;
	row->open += range->open;
	row->gpu_ns += range->gpu_busy_ns;
	row->operations += range->op_count;
	row->total_ns += length_ns;
	row->longest_ns = length_ns > row->longest_ns ? length_ns : row->longest_ns;
	row->works |= range->op_count > 0;
	row->works_own |= works_own(model, tuning, range, own);
}

/* Whether it started nothing but autotuning. */
static bool is_tuning(const struct row *row)
{
	return row->works && !row->works_own;
}

static int compare_rows(const void *a, const void *b, const void *context)
{
	const struct row *left = a, *right = b;

	(void)context;
	if (is_tuning(left) != is_tuning(right))
		return is_tuning(left) ? 1 : -1;
	if (left->gpu_ns != right->gpu_ns)
		return left->gpu_ns > right->gpu_ns ? -1 : 1;
	if (left->total_ns != right->total_ns)
		return left->total_ns > right->total_ns ? -1 : 1;
	return strcmp(left->key, right->key);
}

/* ---- names that differ only in their numbers ---- */

/* A row and its name pattern; sorted, rows of one pattern are adjacent. */
struct alike {
	char pattern[NAME_BYTES];
	struct row *row;
};

static int compare_alike(const void *a, const void *b, const void *context)
{
	const struct alike *left = a, *right = b;

	(void)context;
	return strcmp(left->pattern, right->pattern);
}

/* The number of adjacent rows of one pattern, and whether to join them into one row. */
static uint32_t count_alike(const struct alike *first, uint32_t left, bool *are_one)
{
	uint32_t count = 0;
	bool are_few = true;

	for (; count < left && strcmp(first[count].pattern, first->pattern) == 0; count++)
		are_few = are_few && first[count].row->count <= FEW_OF_ONE &&
			  strlen(first[count].row->key) < NAME_BYTES;
	*are_one = are_few && count >= MANY_NAMES;
	return count;
}

static void add_row(struct row *sum, const struct row *row)
{
	if (row->longest_ns > sum->longest_ns) {
		sum->longest_ns = row->longest_ns;
		sum->longest = row->key;
	}
	sum->count += row->count;
	sum->open += row->open;
	sum->gpu_ns += row->gpu_ns;
	sum->operations += row->operations;
	sum->total_ns += row->total_ns;
	sum->works |= row->works;
	sum->works_own |= row->works_own;
}

/* Sum all rows into the first one; the others get no ranges. */
static void join_alike(struct gp_summary_ranges *rows, const struct alike *alike, uint32_t count)
{
	uint64_t *lengths_ns = gp_spill_take((size_t)count * FEW_OF_ONE * sizeof(*lengths_ns));
	uint32_t group = gp_groups_find(&rows->names, alike->pattern);
	struct row sum = {.longest = alike->row->key};
	size_t ranges = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct row *row = alike[i].row;

		add_row(&sum, row);
		lengths_ns[ranges++] = row->longest_ns;
		if (row->count == FEW_OF_ONE)
			lengths_ns[ranges++] = row->total_ns - row->longest_ns;
		row->count = 0;
	}
	sum.key = rows->names.rows[group].key;
	sum.median_ns = gp_stats_of(lengths_ns, ranges).median;
	*alike->row = sum;
	gp_spill_free(lengths_ns);
}

static void join_all_alike(struct gp_summary_ranges *rows)
{
	struct alike *alike = gp_spill_take(((size_t)rows->count + 1) * sizeof(*alike));
	uint32_t kept = 0, count;
	bool are_one;

	for (uint32_t i = 0; i < rows->count; i++) {
		gp_name_pattern(alike[i].pattern, sizeof(alike[i].pattern), rows->rows[i].key);
		alike[i].row = &rows->rows[i];
	}
	gp_array_sort(alike, rows->count, sizeof(*alike), compare_alike, NULL);
	for (uint32_t i = 0; i < rows->count; i += count) {
		count = count_alike(&alike[i], rows->count - i, &are_one);
		if (are_one)
			join_alike(rows, &alike[i], count);
	}
	gp_spill_free(alike);
	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->rows[i].count > 0)
			rows->rows[kept++] = rows->rows[i];
	rows->count = kept;
}

static void gather(const struct gp_summary *summary, struct gp_summary_ranges *rows)
{
	for (size_t m = 0; m < summary->model_count; m++) {
		const struct gp_model *model = summary->models[m];
		const struct gp_tuning *tuning =
			summary->basis ? &summary->basis->tunings[m] : NULL;
		uint32_t own = 0;

		for (uint32_t i = 0; i < model->range_count; i++)
			add_range(rows, model, tuning, &model->ranges[i], &own);
	}
	join_all_alike(rows);
	for (uint32_t i = 0; i < rows->count; i++)
		rows->has_tuning |= is_tuning(&rows->rows[i]);
	gp_array_sort(rows->rows, rows->count, sizeof(*rows->rows), compare_rows, NULL);
}

void gp_summary_free_ranges(struct gp_summary_ranges *ranges)
{
	if (!ranges)
		return;
	free(ranges->rows);
	gp_groups_free(&ranges->names);
	free(ranges);
}

void gp_summary_gather_ranges(struct gp_summary *summary)
{
	summary->ranges = calloc(1, sizeof(*summary->ranges));
	gather(summary, summary->ranges);
}

/* The name; for joined names also the median and the longest one. */
static void put_name(struct gp_table *table, const struct row *row)
{
	if (!row->longest)
		gp_table_put_text(table, row->key);
	else
		gp_table_put_words(table, "%.*s (median %s; longest: %.*s)", NAME_COLUMNS / 2,
				   row->key, gp_format_ns((uint64_t)row->median_ns).text,
				   NAME_COLUMNS / 2, row->longest);
}

static void put_row(struct gp_table *table, const struct row *row)
{
	gp_table_put_whole(table, row->gpu_ns);
	gp_table_put_whole(table, row->operations);
	gp_table_put_whole(table, row->count);
	gp_table_cell(table, row->open > 0 ? gp_value_whole(row->open) : gp_value_none());
	gp_table_put_whole(table, row->total_ns);
	gp_table_cell(table, gp_value_real((double)row->total_ns / (double)row->count));
	gp_table_put_whole(table, row->longest_ns);
	put_name(table, row);
}

static void print_title(const struct gp_summary *summary, const struct gp_summary_ranges *rows)
{
	fprintf(summary->out, "\nRanges: %s%s%s\n", gp_format_count(rows->ranges).text,
		summary->options->brief
			? ""
			: " (GPU time: sum of the operations started inside by its thread; for start/end ranges by any thread)",
		rows->has_tuning ? "; those of autotuning come last" : "");
}

static int print_rows(const struct gp_summary *summary, const struct gp_summary_ranges *rows)
{
	size_t limit = summary->rows.ranges;
	uint32_t shown = limit == 0 || rows->count <= limit + 1 ? rows->count : (uint32_t)limit;
	struct gp_table table;
	int result;

	print_title(summary, rows);
	gp_table_open(&table, &head);
	for (uint32_t i = 0; i < shown; i++)
		put_row(&table, &rows->rows[i]);
	result = gp_table_print(&table, summary->out, gp_summary_columns(summary));
	if (shown < rows->count)
		fprintf(summary->out, "  ... %s more%s\n",
			gp_format_count(rows->count - shown).text,
			summary->options->brief ? ""
						: ": `gpuprof summary --by nvtx FILE` shows all");
	gp_table_close(&table);
	return result;
}

/* One line with the first row. */
static void print_line(const struct gp_summary *summary, const struct gp_summary_ranges *rows)
{
	const struct row *first = &rows->rows[0];
	FILE *out = summary->out;

	fprintf(out, "\nRanges: %s; with most GPU time: ", gp_format_count(rows->ranges).text);
	gp_text_print_fit(out, first->key, NAME_COLUMNS);
	fprintf(out, ", %s in %s", gp_format_ns(first->gpu_ns).text,
		gp_format_count(first->count).text);
	if (first->longest) {
		fprintf(out, ";\n  they take %s (median), longest %s (",
			gp_format_ns((uint64_t)first->median_ns).text,
			gp_format_ns(first->longest_ns).text);
		gp_text_print_fit(out, first->longest, NAME_COLUMNS / 2);
		fputs(")", out);
	}
	fputs("\n", out);
}

int gp_summary_print_ranges(const struct gp_summary *summary)
{
	if (summary->ranges->count == 0)
		return 0;
	if (!summary->rows.ranges_in_a_line)
		return print_rows(summary, summary->ranges);
	print_line(summary, summary->ranges);
	return 0;
}
