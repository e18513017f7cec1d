/*
 * summary_by: the tables of `gpuprof summary --by`, one after the other in one format.
 */
#ifndef REPORT_TABLES_SUMMARY_BY_H
#define REPORT_TABLES_SUMMARY_BY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/model/model.h"
#include "report/document/table_writer.h"

struct gp_kinds;
struct gp_scope;
struct gp_torch_snapshot;

struct gp_summary_by {
	const char *words;                    /* of --by, commas between; "all" = every table */
	const struct gp_table_format *format; /* never NULL */
	const char *sort;                     /* title of a column; NULL = each table's own order */
	size_t row_limit;                     /* of each table, 0 = all */
	bool every_row;                       /* of trees: also those that have less than 1 % */
	bool full_names;                      /* of kernels */
	const struct gp_torch_snapshot *torch; /* NULL = none */
	const struct gp_kinds *kinds;          /* of kernels; NULL = the built-in ones */
	/* What comes behind the tables; NULL: nothing.  Returns 0 or -errno. */
	int (*write_more)(struct gp_table_writer *writer, struct gp_scope *scope);
	FILE *messages; /* for one line on each table without rows; NULL = nowhere */
};

/* What the page of report/summary/summary.h tells, as words of --by. */
extern const char gp_summary_page_words[];

/* The words that --by takes, one line each. */
void gp_summary_by_list(FILE *out);

/*
 * Whether the words and the column are such.  If not, the line for the user is in message, and
 * -EINVAL is returned; -ENOENT where --by has an unknown word, and the line is to be followed by
 * gp_summary_by_list().
 */
int gp_summary_by_check(const struct gp_summary_by *by, char *message, size_t message_bytes);

/*
 * Write the tables.  by has been checked.  Returns 0, -EIO if out could not be written, -ENOMEM or
 * -EOVERFLOW.
 */
int gp_summary_by_print(FILE *out, struct gp_model *const *models, size_t model_count,
			const struct gp_summary_by *by);

#endif
