/*
 * save: the end of a dead process's trace, moved from its rings into the file (gpuprof/trace.h,
 * "Saving"), so that the file is complete by itself and nothing else is left of the process.
 */
#ifndef REPORT_TRACE_RING_SALVAGE_H
#define REPORT_TRACE_RING_SALVAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/trace/recover.h"
#include "report/trace/trace_read.h"

struct gp_saving {
	int trace;                          /* descriptor, open for appending and locked */
	const struct gp_trace_state *state; /* of the trace, read to its end */
	uint64_t *sequence;                 /* of the next chunk, also afterwards */
	bool is_saved;                      /* an earlier saving came to its end */
	const char *ring_path;              /* gp_rings_are_abandoned() said yes */
	const struct gp_rings *rings;       /* gp_rings_cover() was told of every chunk */
	const uint64_t *counters;           /* GP_COUNTERS of them, as they are to be read */
};

/*
 * Append what no chunk has, then remove the ring file.  Returns 0, or a negative errno value: then
 * the trace is as it was, but for a chunk cut at its end, and the ring file is still there.
 */
int gp_save_rings(const struct gp_saving *saving);

#endif
