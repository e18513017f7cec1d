/* at_time: events of a model by when they began; cmocka's headers before it. */
#ifndef TESTS_REPORT_AT_TIME_H
#define TESTS_REPORT_AT_TIME_H

#include "report/model/model.h"

/* The call that began at start_ns. */
static inline const struct gp_call *call_at(const struct gp_model *m, uint64_t start_ns)
{
	for (uint32_t i = 0; i < m->call_count; i++)
		if (m->calls[i].start_ns == start_ns)
			return &m->calls[i];
	fail_msg("no call at %lu", start_ns);
	return NULL;
}

static inline const struct gp_op *op_at(const struct gp_model *m, uint64_t start_ns)
{
	for (uint32_t i = 0; i < m->op_count; i++)
		if (m->ops[i].start_ns == start_ns)
			return &m->ops[i];
	fail_msg("no operation at %lu", start_ns);
	return NULL;
}

#endif
