/*
 * kernel_names: kernels whose names others' traces have demangled are the same as those whose
 * mangled names ours have.
 */
#ifndef REPORT_DIFF_KERNEL_NAMES_H
#define REPORT_DIFF_KERNEL_NAMES_H

#include "report/diff/run_set.h"

/*
 * Give each kernel of both sets that has a demangled name the mangled one that another kernel of
 * theirs has for it.  Of mangled names with the same meaning, as functions without linkage of two
 * files have, it is one.  Returns 0 or -ENOMEM.
 */
int gp_kernel_names_match(struct gp_run_set *a, struct gp_run_set *b);

#endif
