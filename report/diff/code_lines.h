/* code_lines: the lines of the user's code that make calls, as names: "step (train.py:40)". */
#ifndef REPORT_DIFF_CODE_LINES_H
#define REPORT_DIFF_CODE_LINES_H

#include "report/diff/figures.h"

/*
 * Of the stacks of all API calls: each line that calls is in them, where samples of stacks have
 * lines by chance.  The list is empty before.
 */
void gp_code_lines_of(struct gp_model *const *models, size_t model_count,
		      struct gp_named_list *list);

#endif
