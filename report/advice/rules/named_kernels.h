/*
 * named_kernels: kernels of libraries whose names tell that a choice of the program costs GPU time:
 * a layout, a precision.
 */
#ifndef REPORT_ADVICE_RULES_NAMED_KERNELS_H
#define REPORT_ADVICE_RULES_NAMED_KERNELS_H

#include "report/advice/rules/advisor.h"

/*
 * Adds the kernels of the present process whose names match one of the patterns (fnmatch(); ends with
 * NULL), and none of the others, to the rule's case 0, 0.  Its site is that of most of their time.  So
 * many percent of their time are saved.
 */
void gp_named_kernels_add(struct gp_advisor *advisor, const char *const *patterns,
			  const char *const *others, unsigned saved_percent);

/* Adds "kernel", the kernel with most of the time, and "percent" of the process's GPU time. */
void gp_named_kernels_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
				 struct gp_document *values);

/* What such a rule keeps of a case. */
struct gp_named_kernels {
	uint64_t kernel; /* the text of the name */
	uint64_t all_ns; /* of all operations of the process */
};

#endif
