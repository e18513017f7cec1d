/*
 * sheet_writer: writes sheets as text, CSV, JSON or markdown, row by row: a sheet of any length
 * takes no memory.
 *
 *  text      aligned columns, figures in units that suit them (report/base/text/format.h); widths
 *            are those of the first thousand rows, and grow where they have to.  Rows may be
 *            folded.
 *  csv       RFC 4180 with \n; raw numbers, units in the titles; an empty line between sheets.
 *  json      {"report", "columns": [{"name", "unit"}], "rows": [{name: value}]}; raw numbers; an
 *            array of these where there are several sheets.
 *  markdown  a table that any renderer shows as plain text, figures as in text.
 *
 * Text that the profiled program chose is made harmless in each: control characters are written out
 * (JSON has its own escapes), markup is escaped, and in CSV text that a spreadsheet would take for
 * a formula gets a ' in front.
 */
#ifndef REPORT_TABLES_TABLE_WRITER_H
#define REPORT_TABLES_TABLE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/codec/json_write.h"
#include "report/base/text/did_you_mean.h"
#include "report/document/document.h"
#include "report/tables/table.h"
#include "report/base/text/text_table.h"

struct gp_table_writer;

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

/* Which of them was meant by a name that is none. */
void gp_table_format_near(struct gp_did_you_mean *nearest);

struct gp_table_writer {
	const struct gp_table_format *format;
	FILE *out;
	bool several; /* sheets will be written */
	/*
	 * Of text, to be set before a sheet begins: for gp_text_table_fold(); as it is opened, 0
	 * columns: no row is folded.
	 */
	size_t text_columns, text_fold_before;
	/* columns of a line of text, for gp_text_table_print(); as it is opened, 0 = any */
	size_t text_most;
	const struct gp_table_head *head;
	size_t sheets, rows; /* begun; of this sheet, written */
	int error;           /* 0 or the first -errno */
	/* the formats' own */
	struct gp_text_table *table;
	struct gp_column *columns;
	struct gp_json json;
};

void gp_table_writer_open(struct gp_table_writer *writer, const struct gp_table_format *format,
			  FILE *out, bool several);

/* A sheet: begin, rows, end; head must live until the end. */
void gp_table_writer_begin(struct gp_table_writer *writer, const struct gp_table_head *head);
void gp_table_writer_row(struct gp_table_writer *writer, const struct gp_value *values);
void gp_table_writer_end(struct gp_table_writer *writer);

/* In JSON, a document between sheets, as that report; in other formats nothing. */
void gp_table_writer_document(struct gp_table_writer *writer, const char *report,
			      const struct gp_document *document);

/* Returns 0, -ENOMEM, or -EIO if out could not be written. */
int gp_table_writer_close(struct gp_table_writer *writer);

/* Text in markdown, with what markdown gives a meaning escaped. */
void gp_table_put_markdown(FILE *out, const char *text);

#endif
