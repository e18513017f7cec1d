/*
 * stack_rows: a profile of call stacks as rows of a page: callers above what they called, indented.
 *
 * So that deep stacks can be read, functions that call but one other, and so have the same time and
 * count, share a row ("main > train > step"); where a row has no room for all, the user's own stay
 * (report/symbols/code_owner.h), and "(3 more)" stands for others.  What has less than a hundredth
 * of the whole is left out: a row says how many that were, and what they had.
 */
#ifndef REPORT_TABLES_STACK_ROWS_H
#define REPORT_TABLES_STACK_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/analysis/host/stack_profile.h"

struct gp_stack_row {
	const char *text;      /* good until the next row */
	uint64_t value, count; /* of the two measures, callees included */
};

enum gp_stack_order {
	GP_STACK_CALLERS_FIRST,
	GP_STACK_CALLERS_LAST, /* the profile is upside down: gp_stack_profile_invert() */
};

/*
 * Call put for every row, from the top down, siblings from the largest value down; all: nothing is
 * left out.  Nothing is put where no call has a stack.  Returns 0, -ENOMEM or -EOVERFLOW.
 */
int gp_stack_rows(const struct gp_stack_profile *profile, enum gp_stack_order order,
		  enum gp_stack_metric value, enum gp_stack_metric count, bool all,
		  void (*put)(void *context, const struct gp_stack_row *row), void *context);

#endif
