/*
 * stack_estimate: how many launches have the stack of a similar one (--stacks=sample), and the
 * share of the GPU time that may stand at a wrong stack for that.
 */
#ifndef REPORT_MODEL_STACK_ESTIMATE_H
#define REPORT_MODEL_STACK_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/model/model.h"

void gp_stack_estimate_add(struct gp_stack_estimate *sum, const struct gp_stack_estimate *one);

/*
 * The expected part, of 1, of the launches' GPU time at a wrong stack; where none has a time, of
 * the launches.  Negative: not known, as there are estimates and none could be checked.
 */
double gp_stack_estimate_error(const struct gp_stack_estimate *estimate);

/*
 * "the call stacks of 85 % of the launches, copies, memsets and waits are estimated from the others;
 * ..."; false: of none.
 */
#define GP_STACK_ESTIMATE_BYTES 256
bool gp_stack_estimate_text(const struct gp_stack_estimate *estimate,
			    char text[GP_STACK_ESTIMATE_BYTES]);

#endif
