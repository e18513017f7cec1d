/*
 * recorded: what of a process was recorded: when, and what --trace asked for.
 */
#ifndef REPORT_RECORDED_H
#define REPORT_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model.h"

/* A time in which was recorded; gates are NULL where it is the trace that begins or ends. */
struct gp_recorded_part {
	const struct gp_gate *resumed, *paused;
	uint64_t start_ns, end_ns; /* end >= start */
};

/*
 * The parts in order; *next is 0 for the first one.  False: no more.  Where nothing paused the recording there is one, the whole
 * trace.
 */
bool gp_recorded_part(const struct gp_model *model, uint32_t *next, struct gp_recorded_part *part);

/* Whether --trace had that word, or one that comprises it: "gpu", "memory", ... */
bool gp_recorded_kind(const struct gp_model *model, const char *word);

/* Whether the trace has its end: the process closed it, and nothing was cut off since. */
bool gp_recorded_is_whole(const struct gp_model *model);

#endif
