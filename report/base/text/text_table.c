#include "report/base/text/text_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/text/elide.h"
#include "report/base/text/text.h"

#define INDENT            "  "
#define GAP               "  "
#define FOLDED_INDENT     "      " /* of a row's further lines */
#define LEAST_LAST_COLUMN 24

struct gp_text_table {
	const struct gp_column *columns;
	size_t column_count;
	char **cells;
	uint32_t cell_count, cell_capacity;
	size_t *widths; /* of what was printed already */
	size_t fold_at; /* columns; 0 = rows are not folded */
	size_t fold_before;
	bool *is_folded; /* before that column the line ends */
	bool titled;     /* the titles were printed */
	bool failed;
};

struct gp_text_table *gp_text_table_new(const struct gp_column *columns, size_t column_count)
{
	struct gp_text_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->columns = columns;
	table->column_count = column_count;
	table->widths = calloc(column_count, sizeof(*table->widths));
	table->is_folded = calloc(column_count, sizeof(*table->is_folded));
	if (table->widths && table->is_folded)
		return table;
	gp_text_table_free(table);
	return NULL;
}

void gp_text_table_fold(struct gp_text_table *table, size_t max_columns, size_t before)
{
	table->fold_at = max_columns;
	table->fold_before = before;
}

static void forget_rows(struct gp_text_table *table)
{
	for (size_t i = 0; i < table->cell_count; i++)
		free(table->cells[i]);
	table->cell_count = 0;
}

void gp_text_table_free(struct gp_text_table *table)
{
	if (!table)
		return;
	forget_rows(table);
	free(table->cells);
	free(table->widths);
	free(table->is_folded);
	free(table);
}

void gp_text_table_cell(struct gp_text_table *table, const char *text)
{
	char *copy = strdup(text);

	if (!copy || gp_array_grow(&table->cells, &table->cell_capacity, table->cell_count,
				   sizeof(*table->cells)) < 0) {
		free(copy);
		table->failed = true;
		return;
	}
	table->cells[table->cell_count++] = copy;
}

void gp_text_table_figure(struct gp_text_table *table, struct gp_figure figure)
{
	gp_text_table_cell(table, figure.text);
}

static size_t widest(const struct gp_text_table *table, size_t column)
{
	size_t width = gp_text_columns(table->columns[column].title);

	width = table->widths[column] > width ? table->widths[column] : width;
	for (size_t i = column; i < table->cell_count; i += table->column_count) {
		size_t cell = gp_text_columns(table->cells[i]);

		width = cell > width ? cell : width;
	}
	return width;
}

static void print_spaces(FILE *out, size_t count)
{
	fprintf(out, "%*s", (int)count, "");
}

/*
 * Fold the lines to that limit, and before that column (0 = wherever); returns how many a row has
 * then.
 */
static size_t fold_to(struct gp_text_table *table, size_t limit, size_t before)
{
	size_t lines = 1, used = strlen(INDENT);

	for (size_t i = 0; i < table->column_count; i++) {
		size_t width = table->widths[i];

		if (i + 1 == table->column_count && width > LEAST_LAST_COLUMN)
			width = LEAST_LAST_COLUMN;
		table->is_folded[i] = i > 0 && (i == before || used + width > limit);
		if (table->is_folded[i]) {
			used = strlen(FOLDED_INDENT);
			lines++;
		}
		used += width + strlen(GAP);
	}
	return lines;
}

/* Into as few lines as there have to be, and those as short as that allows. */
static void fold(struct gp_text_table *table)
{
	size_t limit = table->fold_at, lines = fold_to(table, limit, 0);

	if (lines > 1 && table->fold_before > 0 &&
	    fold_to(table, limit, table->fold_before) == lines)
		return;
	while (lines > 1 && limit > 0 && fold_to(table, limit - 1, 0) == lines)
		limit--;
	fold_to(table, limit, 0);
}

/* The last cell of a line gets no spaces behind it. */
static void print_cell(FILE *out, const char *text, size_t width, bool left, bool last)
{
	size_t columns = gp_text_columns(text);
	size_t padding = width > columns ? width - columns : 0;

	if (!left)
		print_spaces(out, padding);
	fputs(text, out);
	if (left && !last)
		print_spaces(out, padding);
	fputs(last ? "\n" : GAP, out);
}

/* How wide the last column may be when all the others stand before it. */
static size_t last_width(const struct gp_text_table *table, const size_t *widths,
			 size_t max_columns)
{
	size_t used = strlen(INDENT), last = table->column_count - 1;

	for (size_t i = 0; i < last; i++)
		used += widths[i] + strlen(GAP);
	if (max_columns == 0 || used + widths[last] <= max_columns)
		return widths[last];
	return used + LEAST_LAST_COLUMN > max_columns ? LEAST_LAST_COLUMN : max_columns - used;
}

/* The last cell is one that fits. */
static void print_row(const struct gp_text_table *table, const char *const *cells,
		      const char *last_cell, FILE *out)
{
	const size_t *widths = table->widths;
	size_t last = table->column_count - 1;

	fputs(INDENT, out);
	for (size_t i = 0; i < last; i++) {
		print_cell(out, cells[i], widths[i], table->columns[i].left,
			   table->is_folded[i + 1]);
		if (table->is_folded[i + 1])
			fputs(FOLDED_INDENT, out);
	}
	print_cell(out, last_cell, widths[last], table->columns[last].left, true);
}

static int print_titles(const struct gp_text_table *table, FILE *out)
{
	const char **titles = calloc(table->column_count, sizeof(*titles));

	if (!titles)
		return -ENOMEM;
	for (size_t i = 0; i < table->column_count; i++)
		titles[i] = table->columns[i].title;
	print_row(table, titles, titles[table->column_count - 1], out);
	free(titles);
	return 0;
}

static int print_rows(struct gp_text_table *table, FILE *out)
{
	const char *const *cells = (const char *const *)table->cells;
	size_t columns = table->column_count, rows = table->cell_count / columns;
	char **fitted;

	if (!table->titled && print_titles(table, out) < 0)
		return -ENOMEM;
	table->titled = true;
	if (rows == 0)
		return 0;
	fitted = gp_elide(cells + columns - 1, rows, columns, table->widths[columns - 1]);
	if (!fitted)
		return -ENOMEM;
	for (size_t i = 0; i < rows; i++)
		print_row(table, cells + i * columns, fitted[i], out);
	gp_elide_free(fitted, rows);
	return 0;
}

int gp_text_table_print(struct gp_text_table *table, FILE *out, size_t max_columns)
{
	size_t last = table->column_count - 1;
	int result;

	if (table->failed)
		return -ENOMEM;
	for (size_t i = 0; i <= last; i++)
		table->widths[i] = widest(table, i);
	table->widths[last] = last_width(table, table->widths, max_columns);
	if (table->fold_at > 0 && !table->titled)
		fold(table);
	result = print_rows(table, out);
	forget_rows(table);
	return result;
}
