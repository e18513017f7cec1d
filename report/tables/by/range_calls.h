/* range_calls: the launches inside each of the program's ranges. */
#ifndef REPORT_TABLES_BY_RANGE_CALLS_H
#define REPORT_TABLES_BY_RANGE_CALLS_H

#include "report/tables/by/ranges.h"

/* A call that launched, or tried to, and a range around it. */
struct gp_range_call {
	const struct gp_model *model;
	uint32_t call, range; /* indices in the model */
	struct gp_range_key key;
};

typedef void gp_range_take_call(void *context, const struct gp_range_call *at);

/*
 * Calls take for each call and range: push/pop ranges of the call's thread, start/end ranges of any.
 * Of ranges of one thread that lie in each other and have one key, only for the outer one.  Only the
 * first 64 open ranges count.  Returns 0 or -ENOMEM.
 */
int gp_range_calls(struct gp_scope *scope, const struct gp_model *model, gp_range_take_call *take,
		   void *context);

#endif
