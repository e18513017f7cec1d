#include "report/document/table_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"

static const struct gp_table_format *const formats[] = {
	&gp_table_text,
	&gp_table_csv,
	&gp_table_json,
	&gp_table_markdown,
};

const struct gp_table_format *gp_table_format_find(const char *name)
{
	for (size_t i = 0; i < COUNT(formats); i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

void gp_table_format_near(struct gp_did_you_mean *nearest)
{
	for (size_t i = 0; i < COUNT(formats); i++)
		gp_did_you_mean_try(nearest, formats[i]->name);
}

void gp_table_writer_open(struct gp_table_writer *writer, const struct gp_table_format *format,
			  FILE *out, bool several)
{
	*writer = (struct gp_table_writer){.format = format, .out = out, .several = several};
	if (format->open)
		format->open(writer);
}

void gp_table_writer_begin(struct gp_table_writer *writer, const struct gp_table_head *head)
{
	writer->head = head;
	writer->rows = 0;
	writer->format->begin(writer);
	writer->tables++;
}

void gp_table_writer_row(struct gp_table_writer *writer, const struct gp_value *values)
{
	writer->format->row(writer, values);
	writer->rows++;
}

void gp_table_writer_end(struct gp_table_writer *writer)
{
	writer->format->end(writer);
}

size_t gp_table_writer_rows(struct gp_table_writer *writer, const struct gp_table *table,
			    size_t limit)
{
	size_t rows = gp_table_rows(table), shown = limit == 0 || limit > rows ? rows : limit;

	gp_table_writer_begin(writer, table->head);
	for (size_t i = 0; i < shown; i++)
		gp_table_writer_row(writer, gp_table_row(table, i));
	gp_table_writer_end(writer);
	return rows - shown;
}

int gp_table_writer_close(struct gp_table_writer *writer)
{
	if (writer->format->close)
		writer->format->close(writer);
	if (writer->error == 0 && (fflush(writer->out) != 0 || ferror(writer->out)))
		writer->error = -EIO;
	return writer->error;
}
