/* summary_by: the tables of `gpuprof summary --by`, in one format. */
#ifndef REPORT_TABLES_SUMMARY_BY_H
#define REPORT_TABLES_SUMMARY_BY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/document/table_sum.h"
#include "report/document/table_writer.h"
#include "report/model/model.h"
#include "report/tables/breakdown_scope.h"

struct gp_summary_by {
	const char *words; /* of --by, separated by commas; "all" = every table */
	const struct gp_table_format *format; /* never NULL */
	const char *sort;                     /* title of a column; NULL = each table's own order */
	size_t row_limit;                     /* of each table, 0 = all */
	bool every_row;                       /* trees: also rows below 1 % */
	bool full_names;                      /* of kernels */
	const struct gp_torch_snapshot *torch; /* NULL = none */
	const struct gp_kinds *kinds;          /* of kernels; NULL = the built-in ones */
	const struct gp_job *job; /* the models are only some of its ranks; NULL = they are all */
	/* Writes what follows the tables; NULL: nothing.  Returns 0 or -errno. */
	int (*write_more)(struct gp_table_writer *writer, struct gp_scope *scope);
	FILE *messages; /* for one line on each table without rows; NULL = nowhere */
};

/* The contents of the summary page (report/summary/summary.h) as words of --by. */
extern const char gp_summary_page_words[];

/* The words that --by takes, one line each. */
void gp_summary_by_list(FILE *out);

/*
 * Check the words and the column.  Returns 0, or -EINVAL with an error line in message; -ENOENT for
 * an unknown word of --by: print gp_summary_by_list() after the line.
 */
int gp_summary_by_check(const struct gp_summary_by *by, char *message, size_t message_bytes);

/*
 * The tables of a job whose ranks are loaded one after the other.  Open it, add the ranks if it
 * needs them, and print the tables.  by, which must be checked, and the job must outlive it.
 */
struct gp_summary_by_job {
	const struct gp_summary_by *by;
	struct gp_scope scope;     /* of all ranks, whose models are shrunk */
	struct gp_table_sum *sums; /* one for each of gp_breakdowns */
};

/* They return 0, -ENOMEM or -EOVERFLOW; gp_summary_by_job_print() as gp_summary_by_print(). */
int gp_summary_by_job_open(struct gp_summary_by_job *tables, const struct gp_summary_by *by);
bool gp_summary_by_job_needs_ranks(const struct gp_summary_by_job *tables);
int gp_summary_by_job_add(struct gp_summary_by_job *tables, struct gp_model *rank);
int gp_summary_by_job_print(struct gp_summary_by_job *tables, FILE *out);
void gp_summary_by_job_close(struct gp_summary_by_job *tables);

/*
 * Write the tables; by must be checked.  Returns 0, -EIO if out cannot be written, -ENOMEM or
 * -EOVERFLOW.
 */
int gp_summary_by_print(FILE *out, struct gp_model *const *models, size_t model_count,
			const struct gp_summary_by *by);

#endif
