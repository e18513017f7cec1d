/* Tables as aligned text and as markdown: figures for people. */
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/text/elide.h"
#include "report/base/text/text.h"
#include "report/document/table_writer.h"

#define ROWS_AT_ONCE      1000
#define INDENT            "  "
#define GAP               "  "
#define FOLDED_INDENT     "      " /* for all lines of a row but the first */
#define LEAST_LAST_COLUMN 24

static bool is_left(enum gp_unit unit)
{
	return unit == GP_UNIT_TEXT;
}

/* ---- aligned text: rows are kept as strings until the column widths are known ---- */

struct gp_text_column {
	size_t width;   /* of its widest cell so far */
	bool ends_line; /* the next column begins a new line */
};

static void begin_text(struct gp_table_writer *writer)
{
	const struct gp_table_head *head = writer->head;

	if (head->title)
		fprintf(writer->out, "%s%s\n", writer->tables > 0 ? "\n" : "", head->title);
	writer->columns = calloc(head->column_count, sizeof(*writer->columns));
}

static void widen(struct gp_text_column *column, const char *text)
{
	size_t width = gp_text_columns(text);

	column->width = width > column->width ? width : column->width;
}

static void measure(struct gp_table_writer *writer)
{
	size_t count = writer->head->column_count;

	for (size_t i = 0; i < count; i++)
		widen(&writer->columns[i], writer->head->columns[i].title);
	for (size_t i = 0, at = 0; i < writer->figure_count; i++, at = at + 1 < count ? at + 1 : 0)
		widen(&writer->columns[at], writer->figures[i]);
}

/* Fold lines at a limit, and before a column (0 = any).  Returns the lines of a row. */
static size_t fold_to(struct gp_table_writer *writer, size_t limit, size_t before)
{
	size_t lines = 1, used = strlen(INDENT), count = writer->head->column_count;

	for (size_t i = 0; i < count; i++) {
		size_t width = writer->columns[i].width;
		bool is_folded;

		if (i + 1 == count && width > LEAST_LAST_COLUMN)
			width = LEAST_LAST_COLUMN;
		is_folded = i > 0 && (i == before || used + width > limit);
		if (i > 0)
			writer->columns[i - 1].ends_line = is_folded;
		if (is_folded) {
			used = strlen(FOLDED_INDENT);
			lines++;
		}
		used += width + strlen(GAP);
	}
	return lines;
}

/* Use as few lines as possible, and make them as short as that number allows. */
static void fold(struct gp_table_writer *writer)
{
	size_t limit = writer->text_columns, before = writer->text_fold_before;
	size_t lines = fold_to(writer, limit, 0);

	if (lines > 1 && before > 0 && fold_to(writer, limit, before) == lines)
		return;
	while (lines > 1 && limit > 0 && fold_to(writer, limit - 1, 0) == lines)
		limit--;
	fold_to(writer, limit, 0);
}

/* The last column gets the rest of the line, but at least LEAST_LAST_COLUMN. */
static void limit_last(struct gp_table_writer *writer)
{
	size_t used = strlen(INDENT), last = writer->head->column_count - 1;
	size_t most = writer->text_most, *width = &writer->columns[last].width;

	for (size_t i = 0; i < last; i++)
		used += writer->columns[i].width + strlen(GAP);
	if (most > 0 && used + *width > most)
		*width = used + LEAST_LAST_COLUMN > most ? LEAST_LAST_COLUMN : most - used;
}

/* The last cell of a line has no trailing spaces. */
static void print_cell(const struct gp_table_writer *writer, size_t column, const char *text)
{
	bool left = is_left(writer->head->columns[column].unit);
	bool is_last = column + 1 == writer->head->column_count;
	bool ends_line = is_last || writer->columns[column].ends_line;
	size_t width = writer->columns[column].width, columns = gp_text_columns(text);
	int padding = width > columns ? (int)(width - columns) : 0;

	fprintf(writer->out, "%*s%s%*s%s", left ? 0 : padding, "", text,
		left && !ends_line ? padding : 0, "", ends_line ? "\n" : GAP);
	if (ends_line && !is_last)
		fputs(FOLDED_INDENT, writer->out);
}

static void print_titles(const struct gp_table_writer *writer)
{
	fputs(INDENT, writer->out);
	for (size_t i = 0; i < writer->head->column_count; i++)
		print_cell(writer, i, writer->head->columns[i].title);
}

static void print_figures(struct gp_table_writer *writer)
{
	size_t count = writer->head->column_count, last = count - 1, rows;
	char **fitted;

	if (count == 0 || writer->figure_count < count)
		return;
	rows = writer->figure_count / count;
	fitted = gp_elide((const char *const *)writer->figures + last, rows, count,
			  writer->columns[last].width);
	for (size_t row = 0; row < rows; row++) {
		fputs(INDENT, writer->out);
		for (size_t i = 0; i < last; i++)
			print_cell(writer, i, writer->figures[row * count + i]);
		print_cell(writer, last, fitted[row]);
	}
	gp_elide_free(fitted, rows);
}

static void forget_figures(struct gp_table_writer *writer)
{
	for (uint32_t i = 0; i < writer->figure_count; i++)
		free(writer->figures[i]);
	writer->figure_count = 0;
}

/* Print the rows so far, with the titles above the first ones. */
static void flush_text(struct gp_table_writer *writer)
{
	bool is_first = writer->rows < ROWS_AT_ONCE;

	if (writer->error == 0) {
		measure(writer);
		limit_last(writer);
		if (is_first && writer->text_columns > 0)
			fold(writer);
		if (is_first)
			print_titles(writer);
		print_figures(writer);
	}
	forget_figures(writer);
}

static void put_text_row(struct gp_table_writer *writer, const struct gp_value *values)
{
	for (size_t i = 0; writer->error == 0 && i < writer->head->column_count; i++) {
		char *figure = gp_value_figure(&values[i], writer->head->columns[i].unit);

		gp_array_grow(&writer->figures, &writer->figure_capacity, writer->figure_count,
			      sizeof(char *));
		writer->figures[writer->figure_count++] = figure;
	}
	if (writer->rows % ROWS_AT_ONCE == ROWS_AT_ONCE - 1)
		flush_text(writer);
}

static void end_text(struct gp_table_writer *writer)
{
	if (writer->rows == 0 || writer->figure_count > 0)
		flush_text(writer);
	free(writer->figures);
	free(writer->columns);
	writer->figures = NULL;
	writer->figure_capacity = 0;
	writer->columns = NULL;
}

const struct gp_table_format gp_table_text = {
	.name = "text",
	.begin = begin_text,
	.row = put_text_row,
	.end = end_text,
};

int gp_table_print(const struct gp_table *table, FILE *out, size_t columns)
{
	struct gp_table_writer writer;

	gp_table_writer_open(&writer, &gp_table_text, out, false);
	writer.text_most = columns;
	writer.error = table->error;
	gp_table_writer_rows(&writer, table, 0);
	return writer.error;
}

/* ---- markdown ---- */

/* Escapes every character with a meaning in any dialect of markdown. */
void gp_table_put_markdown(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_{}[]<>()#+-.!|~&$^=:@\"'", *text))
			putc('\\', out);
		putc(*text, out);
	}
}

static void begin_markdown(struct gp_table_writer *writer)
{
	const struct gp_table_head *head = writer->head;

	fprintf(writer->out, "%s### %s\n\n|", writer->tables > 0 ? "\n" : "", head->title);
	for (size_t i = 0; i < head->column_count; i++)
		fprintf(writer->out, " %s |", head->columns[i].title);
	fputs("\n|", writer->out);
	for (size_t i = 0; i < head->column_count; i++)
		fputs(is_left(head->columns[i].unit) ? " --- |" : " ---: |", writer->out);
	fputs("\n", writer->out);
}

static void put_markdown_row(struct gp_table_writer *writer, const struct gp_value *values)
{
	fputs("|", writer->out);
	for (size_t i = 0; i < writer->head->column_count; i++) {
		char *figure = gp_value_figure(&values[i], writer->head->columns[i].unit);

		fputs(" ", writer->out);
		if (values[i].kind == GP_VALUE_TEXT)
			gp_table_put_markdown(writer->out, figure);
		else
			fputs(figure, writer->out);
		fputs(" |", writer->out);
		free(figure);
	}
	fputs("\n", writer->out);
}

static void end_markdown(struct gp_table_writer *writer)
{
	(void)writer;
}

const struct gp_table_format gp_table_markdown = {
	.name = "markdown",
	.begin = begin_markdown,
	.row = put_markdown_row,
	.end = end_markdown,
};
