/*
 * memory_page: `gpuprof summary --memory`: the tables of memory by call site as one page of text,
 * with totals at the end.
 */
#ifndef REPORT_TABLES_MEMORY_PAGE_H
#define REPORT_TABLES_MEMORY_PAGE_H

#include <stddef.h>
#include <stdio.h>

#include "report/model/model.h"

/* The tables of the page as words of --by, for --memory in the other formats. */
extern const char gp_memory_page_words[];
extern const char gp_memory_page_torch_words[]; /* with a snapshot of PyTorch */

struct gp_torch_snapshot;

struct gp_memory_page_options {
	size_t row_limit;                      /* rows of a table before "... N more"; 0 = all */
	const struct gp_torch_snapshot *torch; /* NULL = none */
	FILE *messages;                        /* for a line on modules without symbols */
};

/* Returns 0, -EIO if out could not be written, -ENOMEM or -EOVERFLOW. */
int gp_memory_page_print(FILE *out, struct gp_model *const *models, size_t model_count,
			 const struct gp_memory_page_options *options);

#endif
