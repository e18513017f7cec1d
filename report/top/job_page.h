/* job_page: the text of `gpuprof top FOLDER`, with a row for each rank of a job. */
#ifndef REPORT_TOP_JOB_PAGE_H
#define REPORT_TOP_JOB_PAGE_H

#include <stddef.h>
#include <stdio.h>

#include "report/top/page.h"

struct gp_job_page {
	const char *folder;
	const struct gp_page *ranks; /* of one interval */
	size_t count;
	size_t unread;  /* files of the folder that cannot be read, or not yet, ... */
	bool is_full;   /* ... because no more files may be open */
	size_t columns; /* of the terminal; 0 = no limit */
	size_t rows;    /* most ranks to list; of more, those that communicate least */
};

/* Returns 0 or -ENOMEM. */
int gp_job_page_print(FILE *out, const struct gp_job_page *page);

#endif
