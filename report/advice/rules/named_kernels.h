/*
 * named_kernels: kernels of libraries whose names tell that a choice of the program costs GPU time:
 * a layout, a precision.
 */
#ifndef REPORT_ADVICE_RULES_NAMED_KERNELS_H
#define REPORT_ADVICE_RULES_NAMED_KERNELS_H

#include "report/advice/rules/advisor.h"

/*
 * Adds the kernels of the present process that have such a name to the rule's case 0, 0, but for
 * those that an earlier rule has claimed.  Its site is that of most of their time.  So many percent
 * of their time are saved.
 */
void gp_named_kernels_add(struct gp_advisor *advisor, bool (*is_such)(const char *name),
			  unsigned saved_percent);

/* Whether a name matches one of the patterns (fnmatch(), letters of either case); ends with NULL. */
bool gp_named_kernels_match(const char *name, const char *const *patterns);

/* Adds "kernel", the kernel with most of the time, and "percent" of the process's GPU time. */
void gp_named_kernels_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
				 struct gp_document *values);

/* What such a rule keeps of a case. */
struct gp_named_kernels {
	uint64_t kernel; /* the text of the name */
	uint64_t all_ns; /* of all operations of the process */
};

#endif
