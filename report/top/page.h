/*
 * page: the text of `gpuprof top`: one page for each interval.
 *
 * All texts of the program are escaped, so that none reaches a terminal as a command.
 */
#ifndef REPORT_TOP_PAGE_H
#define REPORT_TOP_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/symbols/names.h"
#include "report/stream/live.h"
#include "report/trace/tail.h"

struct gp_page {
	const struct gp_live *live; /* its interval has ended */
	const struct gp_tail_state *tail;
	struct gp_names *names;
	const char *path; /* of the trace */
	/* of the terminal; no line gets longer where that is possible; 0 = no limit */
	size_t columns;
	size_t kernel_rows; /* most kernels to list, SIZE_MAX = all */
};

/* Whether nothing comes any more. */
bool gp_page_is_over(const struct gp_page *page);

/* "recorded", "ended", ... */
const char *gp_page_state(const struct gp_page *page);

/* Print the part above the kernels, and the kernels.  Return 0 or -ENOMEM. */
int gp_page_print_head(FILE *out, const struct gp_page *page);
int gp_page_print_kernels(FILE *out, const struct gp_page *page);

/* One line that names the next command for the trace of an ended program; without a newline. */
void gp_page_print_farewell(FILE *out, const struct gp_page *page);

#endif
