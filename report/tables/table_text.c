/* Sheets as aligned text and as markdown: figures for people. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/tables/table_writer.h"

#define ROWS_AT_ONCE 1000

/* ---- aligned text ---- */

static bool is_left(enum gp_unit unit)
{
	return unit == GP_UNIT_TEXT;
}

static void begin_text(struct gp_table_writer *writer)
{
	size_t count = writer->head->column_count;

	fprintf(writer->out, "%s%s\n", writer->sheets > 0 ? "\n" : "", writer->head->title);
	writer->columns = calloc(count, sizeof(*writer->columns));
	if (!writer->columns) {
		writer->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < count; i++)
		writer->columns[i] = (struct gp_column){writer->head->columns[i].title,
							is_left(writer->head->columns[i].unit)};
	writer->table = gp_text_table_new(writer->columns, count);
	if (writer->table)
		gp_text_table_fold(writer->table, writer->text_columns, writer->text_fold_before);
	else
		writer->error = -ENOMEM;
}

static void print_text(struct gp_table_writer *writer)
{
	int result = writer->table
			     ? gp_text_table_print(writer->table, writer->out, writer->text_most)
			     : 0;

	if (writer->error == 0)
		writer->error = result;
}

static void put_text_row(struct gp_table_writer *writer, const struct gp_value *values)
{
	for (size_t i = 0; writer->table && i < writer->head->column_count; i++) {
		char *figure = gp_value_figure(&values[i], writer->head->columns[i].unit);

		if (!figure)
			writer->error = -ENOMEM;
		gp_text_table_cell(writer->table, figure ? figure : "");
		free(figure);
	}
	if (writer->rows % ROWS_AT_ONCE == ROWS_AT_ONCE - 1)
		print_text(writer);
}

static void end_text(struct gp_table_writer *writer)
{
	if (writer->rows == 0 || writer->rows % ROWS_AT_ONCE != 0)
		print_text(writer);
	gp_text_table_free(writer->table);
	free(writer->columns);
	writer->table = NULL;
	writer->columns = NULL;
}

const struct gp_table_format gp_table_text = {
	.name = "text",
	.begin = begin_text,
	.row = put_text_row,
	.end = end_text,
};

/* ---- markdown ---- */

/* Every character that any markdown gives a meaning. */
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

	fprintf(writer->out, "%s### %s\n\n|", writer->sheets > 0 ? "\n" : "", head->title);
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
		if (!figure)
			writer->error = -ENOMEM;
		else if (values[i].kind == GP_VALUE_TEXT)
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
