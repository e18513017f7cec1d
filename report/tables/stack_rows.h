/*
 * stack_rows: a profile of call stacks as indented rows: callers above their callees.  To keep deep
 * stacks readable, functions that call only one other, and so have the same time and count, share a
 * row ("main > train > step"); if a row is too narrow for all, the user's own stay
 * (report/symbols/code_owner.h) and "(3 more)" stands for the others.  Nodes with less than 1 % of
 * the whole are hidden; a row has their number and sum.
 */
#ifndef REPORT_TABLES_STACK_ROWS_H
#define REPORT_TABLES_STACK_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/analysis/host/stack_profile.h"

struct gp_stack_row {
	const char *text;      /* good until the next row */
	uint64_t value, count; /* the two measures, including callees */
};

enum gp_stack_order {
	GP_STACK_CALLERS_FIRST,
	GP_STACK_CALLERS_LAST, /* the profile is inverted: gp_stack_profile_invert() */
};

/*
 * Call put for every row, from the top down, siblings by descending value; all: hide none.  No rows
 * if no call has a stack.  Returns 0, -ENOMEM or -EOVERFLOW.
 */
int gp_stack_rows(const struct gp_stack_profile *profile, enum gp_stack_order order,
		  enum gp_stack_metric value, enum gp_stack_metric count, bool all,
		  void (*put)(void *context, const struct gp_stack_row *row), void *context);

#endif
