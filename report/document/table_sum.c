#include "report/document/table_sum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/memstream.h"

/* What becomes of the values of a column when two rows become one. */
enum merge {
	TELLS_APART, /* only rows with the same value become one */
	ADDED,
	SHARE, /* percent: the next column's part of its sum, if that is one of all rows */
	MEAN,
	MEDIAN,
	LEAST,
	MOST,
	DEVIATION,
	SAME /* kept if both are equal */
};

static const struct {
	const char *title;
	enum merge merge;
} titles[] = {
	{"Time %", SHARE},    {"Samples %", SHARE},   {"Avg", MEAN},         {"Avg ops", MEAN},
	{"Avg level", MEAN},  {"Avg children", MEAN}, {"Avg life", MEAN},    {"Avg size", MEAN},
	{"Med", MEDIAN},      {"Min", LEAST},         {"Min size", LEAST},   {"Max", MOST},
	{"Max size", MOST},   {"Longest", MOST},      {"StdDev", DEVIATION}, {"Most idle by", SAME},
	{"Idle by it", SAME},
};

static enum merge merge_of(const struct gp_table_column *column)
{
	for (size_t i = 0; i < COUNT(titles); i++)
		if (strcmp(titles[i].title, column->title) == 0)
			return column->unit == GP_UNIT_TEXT ? SAME : titles[i].merge;
	switch (column->unit) {
	case GP_UNIT_TEXT:
	case GP_UNIT_NUMBER:
	case GP_UNIT_ADDRESS:
		return TELLS_APART;
	case GP_UNIT_COUNT:
	case GP_UNIT_NS:
	case GP_UNIT_BYTES:
	case GP_UNIT_JOULES:
		return ADDED;
	default:
		return SAME;
	}
}

/* ---- two values ---- */

static double number_of(const struct gp_value *value)
{
	return value->kind == GP_VALUE_WHOLE ? (double)value->whole : value->real;
}

static struct gp_value sum_of(const struct gp_value *a, const struct gp_value *b)
{
	if (a->kind == GP_VALUE_WHOLE && b->kind == GP_VALUE_WHOLE)
		return gp_value_whole(a->whole + b->whole);
	return gp_value_real(number_of(a) + number_of(b));
}

static bool are_equal(const struct gp_value *a, const struct gp_value *b)
{
	if (a->kind == GP_VALUE_TEXT || b->kind == GP_VALUE_TEXT)
		return a->kind == b->kind && strcmp(a->text, b->text) == 0;
	return number_of(a) == number_of(b);
}

/* Two rows that become one. */
struct pair {
	const struct gp_table_head *head;
	const struct gp_value *a, *b;
};

static size_t find(const struct gp_table_head *head, const char *title)
{
	return gp_table_find_column(head, title);
}

/* How many values the average of a row is of: those that were measured, or timed. */
static double weight_of(const struct gp_table_head *head, const struct gp_value *row)
{
	size_t count = find(head, "Measured"), untimed = find(head, "Untimed");

	for (size_t i = 0; count == head->column_count && i < head->column_count; i++)
		if (head->columns[i].unit == GP_UNIT_COUNT && merge_of(&head->columns[i]) == ADDED)
			count = i;
	if (count == head->column_count)
		return 1;
	return number_of(&row[count]) -
	       (untimed < head->column_count ? number_of(&row[untimed]) : 0);
}

static double mean_of(const struct pair *pair, size_t column)
{
	double a = weight_of(pair->head, pair->a), b = weight_of(pair->head, pair->b);

	return (number_of(&pair->a[column]) * a + number_of(&pair->b[column]) * b) / (a + b);
}

static double deviation_of(const struct pair *pair, size_t column)
{
	size_t average = find(pair->head, "Avg");
	double a = weight_of(pair->head, pair->a), b = weight_of(pair->head, pair->b);
	double mean = mean_of(pair, average);
	double squares_a =
		pow(number_of(&pair->a[column]), 2) + pow(number_of(&pair->a[average]) - mean, 2);
	double squares_b =
		pow(number_of(&pair->b[column]), 2) + pow(number_of(&pair->b[average]) - mean, 2);

	return sqrt((squares_a * a + squares_b * b) / (a + b));
}

static struct gp_value merged(const struct pair *pair, size_t column)
{
	const struct gp_value *a = &pair->a[column], *b = &pair->b[column];
	enum merge merge = merge_of(&pair->head->columns[column]);

	if (merge != SAME && (a->kind == GP_VALUE_NONE || b->kind == GP_VALUE_NONE))
		return a->kind == GP_VALUE_NONE ? *b : *a;
	switch (merge) {
	case ADDED:
		return sum_of(a, b);
	case MEAN:
		return gp_value_real(mean_of(pair, column));
	case DEVIATION:
		return gp_value_real(deviation_of(pair, column));
	case LEAST:
		return number_of(b) < number_of(a) ? *b : *a;
	case MOST:
		return number_of(b) > number_of(a) ? *b : *a;
	case SAME:
		return are_equal(a, b) ? *a : gp_value_none();
	default:
		return *a;
	}
}

/* ---- rows ---- */

static char *key_of(const struct gp_table_head *head, const struct gp_value *row)
{
	char *key = NULL;
	size_t length;
	FILE *out = open_memstream(&key, &length);

	for (size_t i = 0; i < head->column_count; i++)
		if (merge_of(&head->columns[i]) == TELLS_APART)
			fprintf(out, "%s\x1f",
				row[i].kind == GP_VALUE_TEXT ? row[i].text
							     : gp_value_number(&row[i]).text);
	return gp_memstream_close(out, &key) == 0 ? key : NULL;
}

/* The median of one process stays in its cell until another process has one. */
static void add_medians(struct gp_table_sum *sum, uint32_t at, const struct gp_value *a,
			const struct gp_value *b)
{
	size_t column = find(sum->table.head, "Med");

	if (column == sum->table.head->column_count || b[column].kind == GP_VALUE_NONE)
		return;
	if (sum->rows.rows[at].count == 0 && a[column].kind != GP_VALUE_NONE)
		gp_groups_add(&sum->rows, at, (uint64_t)llround(number_of(&a[column])));
	gp_groups_add(&sum->rows, at, (uint64_t)llround(number_of(&b[column])));
}

static struct gp_value *row_at(const struct gp_table_sum *sum, size_t at)
{
	return sum->table.cells + at * sum->table.head->column_count;
}

static void merge(struct gp_table_sum *sum, uint32_t at, const struct gp_value *row)
{
	const struct gp_table_head *head = sum->table.head;
	struct gp_value *known = row_at(sum, at);
	const struct pair pair = {.head = head, .a = known, .b = row};
	struct gp_value *both = calloc(head->column_count, sizeof(*both));

	add_medians(sum, at, known, row);
	for (size_t i = 0; i < head->column_count; i++)
		both[i] = merged(&pair, i);
	for (size_t i = 0; i < head->column_count; i++) {
		if (known[i].kind == GP_VALUE_TEXT && both[i].kind == GP_VALUE_NONE)
			free((char *)known[i].text);
		known[i] = both[i];
	}
	free(both);
}

static void add_row(struct gp_table_sum *sum, const struct gp_value *row)
{
	uint32_t known = sum->rows.count, at;
	char *key = key_of(sum->table.head, row);

	at = gp_groups_find(&sum->rows, key);
	free(key);
	if (at < known) {
		merge(sum, at, row);
		return;
	}
	for (size_t i = 0; i < sum->table.head->column_count; i++)
		gp_table_cell(&sum->table, row[i]);
}

/* ---- the whole ---- */

void gp_table_sum_add(struct gp_table_sum *sum, const struct gp_table *process)
{
	if (!sum->table.head) {
		gp_table_open(&sum->table, process->head);
		/* a head of its own, as that of the process may end with it */
		gp_table_set_column(&sum->table, 0, &process->head->columns[0]);
	}
	for (size_t i = 0; i < gp_table_rows(process); i++)
		add_row(sum, gp_table_row(process, i));
}

static bool is_of_all_rows(const struct gp_table_column *column)
{
	return strcmp(column->title, "Total") == 0 || strcmp(column->title, "Samples") == 0;
}

static void set_shares(struct gp_table_sum *sum, size_t column)
{
	size_t rows = gp_table_rows(&sum->table);
	double total = 0;

	for (size_t i = 0; i < rows; i++)
		total += number_of(&row_at(sum, i)[column + 1]);
	for (size_t i = 0; i < rows; i++)
		row_at(sum, i)[column] =
			gp_value_percent(number_of(&row_at(sum, i)[column + 1]), total);
}

static void set_medians(struct gp_table_sum *sum, size_t column)
{
	for (uint32_t i = 0; i < sum->rows.count; i++)
		if (sum->rows.rows[i].count > 0)
			row_at(sum, i)[column] =
				gp_value_real(gp_group_stats(&sum->rows.rows[i]).median);
}

void gp_table_sum_end(struct gp_table_sum *sum)
{
	const struct gp_table_head *head = sum->table.head;

	for (size_t i = 0; head && i < head->column_count; i++) {
		enum merge merge = merge_of(&head->columns[i]);

		if (merge == SHARE && is_of_all_rows(&head->columns[i + 1]))
			set_shares(sum, i);
		if (merge == MEDIAN)
			set_medians(sum, i);
	}
}

void gp_table_sum_free(struct gp_table_sum *sum)
{
	if (sum->table.head)
		gp_table_close(&sum->table);
	gp_groups_free(&sum->rows);
	*sum = (struct gp_table_sum){0};
}
