/*
 * op_function: the function of the user's code that an operation belongs to: it launches it, or the
 * backward pass does so for one of its lines.
 */
#ifndef REPORT_ADVICE_RULES_OP_FUNCTION_H
#define REPORT_ADVICE_RULES_OP_FUNCTION_H

#include "report/advice/rules/advisor.h"
#include "report/advice/rules/launch_places.h"

#define GP_NO_FUNCTION UINT64_MAX

/* By site: the text of its function.  Zeroed = none is looked up. */
struct gp_op_functions {
	uint64_t *texts;
	uint32_t count, capacity;
};

struct gp_op_function {
	uint64_t text; /* "weigh (model.py", or GP_NO_FUNCTION */
	uint32_t site; /* or GP_NO_SITE */
	bool is_backward;
};

/* Of an operation of the present process, by its index.  advisor->error tells of errors. */
struct gp_op_function gp_op_function_of(struct gp_advisor *advisor,
					struct gp_op_functions *functions, uint32_t op);

/*
 * Make the site of a case the lines of its function, which is the case's detail: gp_launch_places_put()
 * with those of the places that are of it.
 */
void gp_op_functions_place(struct gp_advisor *advisor, const struct gp_op_functions *functions,
			   const struct gp_launch_places *places, struct gp_case *found);

void gp_op_functions_free(struct gp_op_functions *functions);

#endif
