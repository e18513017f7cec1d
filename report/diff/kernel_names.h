/*
 * kernel_names: matches demangled kernel names in traces of other profilers with mangled names in
 * traces of gpuprof.
 */
#ifndef REPORT_DIFF_KERNEL_NAMES_H
#define REPORT_DIFF_KERNEL_NAMES_H

#include "report/diff/run_set.h"

/*
 * Replace each demangled kernel name in both sets by the mangled name that stands for it in either
 * set.  If several mangled names stand for it, as for static functions of two files, it is one of
 * them.
 */
void gp_kernel_names_match(struct gp_run_set *a, struct gp_run_set *b);

#endif
