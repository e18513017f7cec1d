/*
 * awaited_ops: the calls whose operations have no record: it is to come, or lost.
 *
 * A kernel launch has one record. Graphs, copies and memsets may rightly have none (empty graphs,
 * no bytes, within the host): records come in the order of the launches of a thread, so a call
 * before one whose record has come awaits nothing.
 */
#ifndef REPORT_MODEL_AWAITED_OPS_H
#define REPORT_MODEL_AWAITED_OPS_H

#include <stdbool.h>

#include "report/model/model.h"

struct gp_awaited_ops {
	const struct gp_model *model;
	uint32_t first, end; /* the calls of the thread that was asked for last */
	uint32_t joined_end; /* one past its last call that has an operation; first: none has */
};

struct gp_awaited_ops gp_awaited_ops_of(const struct gp_model *model);

/* Whether a call of the model awaits an operation. Fast if calls are asked for by thread. */
bool gp_awaited_ops_has(struct gp_awaited_ops *awaited, const struct gp_call *call);

#endif
