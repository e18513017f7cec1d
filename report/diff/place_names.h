/*
 * place_names: matches the places of two sets of runs, "step (train.py:40)", although the lines of
 * the program moved in between.
 */
#ifndef REPORT_DIFF_PLACE_NAMES_H
#define REPORT_DIFF_PLACE_NAMES_H

#include "report/diff/run_set.h"

/*
 * Give the phases and leaks of a the lines that they have in b (report/diff/moved_lines.h).  A
 * place of a that is no place of b, but has the name of one, becomes "step (train.py:40 in A)".
 */
void gp_place_names_match(struct gp_run_set *a, const struct gp_run_set *b);

#endif
