/*
 * table_writer: writes tables as text, CSV, JSON or markdown, row by row. A table of any length
 * takes no memory.
 *
 *  text      aligned columns, figures in units that suit them (report/base/text/format.h). The
 *            widths are those of the first thousand rows, and grow if necessary. The last column is
 *            cut in its middle at a limit, so that cells which differ still do
 *            (report/base/text/elide.h); or rows are folded, and nothing is cut.
 *  csv       RFC 4180 with \n; raw numbers, units in the titles; an empty line between tables.
 *  json      {"report", "columns": [{"name", "unit"}], "rows": [{name: value}]}; raw numbers; an
 *            array of these if there are several tables.
 *  markdown  a table that any renderer shows as plain text, figures as in text.
 *
 * Text of the profiled program is made harmless in each format: control characters are written out
 * (JSON has its own escapes), markup is escaped, and CSV text that a spreadsheet would take for a
 * formula begins with a '.
 */
#ifndef REPORT_DOCUMENT_TABLE_WRITER_H
#define REPORT_DOCUMENT_TABLE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/codec/json_write.h"
#include "report/base/text/did_you_mean.h"
#include "report/document/document.h"
#include "report/document/table.h"

struct gp_table_writer;
struct gp_text_column;

struct gp_table_format {
	const char *name;
	void (*open)(struct gp_table_writer *writer); /* this and the next may be NULL */
	void (*close)(struct gp_table_writer *writer);
	void (*begin)(struct gp_table_writer *writer);
	void (*row)(struct gp_table_writer *writer, const struct gp_value *values);
	void (*end)(struct gp_table_writer *writer);
};

extern const struct gp_table_format gp_table_text, gp_table_csv, gp_table_json, gp_table_markdown;

/* The format of that name, or NULL.  Names: "text, csv, json or markdown". */
const struct gp_table_format *gp_table_format_find(const char *name);
#define GP_TABLE_FORMATS "text, csv, json or markdown"

/* Add the names of the formats as candidates for a wrong name. */
void gp_table_format_near(struct gp_did_you_mean *nearest);

struct gp_table_writer {
	const struct gp_table_format *format;
	FILE *out;
	bool several; /* more than one table will be written */
	/*
	 * For text; set before a table begins.  A row takes several lines if all columns but the
	 * last, and 24 columns of that, do not fit into text_columns (0 = never).  The second line
	 * begins with column text_fold_before if that takes no more lines (0 = any).
	 */
	size_t text_columns, text_fold_before;
	size_t text_most; /* limit of a text line, if that leaves 24 columns to the last cell */
	const struct gp_table_head *head;
	size_t tables, rows; /* tables begun; rows written in this one */
	int error;           /* 0 or the first -errno */
	/* private to the formats */
	struct gp_text_column *columns;
	char **figures;
	uint32_t figure_count, figure_capacity;
	struct gp_json json;
};

void gp_table_writer_open(struct gp_table_writer *writer, const struct gp_table_format *format,
			  FILE *out, bool several);

/* A table: begin, rows, end; head must live until the end. */
void gp_table_writer_begin(struct gp_table_writer *writer, const struct gp_table_head *head);
void gp_table_writer_row(struct gp_table_writer *writer, const struct gp_value *values);
void gp_table_writer_end(struct gp_table_writer *writer);

/*
 * Begin, rows and end for the first rows of a table (0 = all).  Returns the number of omitted rows.
 */
size_t gp_table_writer_rows(struct gp_table_writer *writer, const struct gp_table *table,
			    size_t limit);

/* In JSON, write a document between tables, as that report; in other formats nothing. */
void gp_table_writer_document(struct gp_table_writer *writer, const char *report,
			      const struct gp_document *document);

/* Returns 0, -ENOMEM, or -EIO if out cannot be written. */
int gp_table_writer_close(struct gp_table_writer *writer);

/*
 * Print a table without its title as aligned text; columns: limit of a line, 0 = none.  Returns 0
 * or the error of the table.
 */
int gp_table_print(const struct gp_table *table, FILE *out, size_t columns);

/* Print text escaped for markdown. */
void gp_table_put_markdown(FILE *out, const char *text);

#endif
