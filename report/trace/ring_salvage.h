/*
 * ring_salvage: moves the last records of a dead process from its rings into its trace
 * (gpuprof/trace.h, "Saving"). Then the file is complete, and nothing else is left of the process.
 */
#ifndef REPORT_TRACE_RING_SALVAGE_H
#define REPORT_TRACE_RING_SALVAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/trace/recover.h"
#include "report/trace/trace_read.h"

struct gp_ring_saving {
	int trace;                          /* locked descriptor, opened for appending */
	const struct gp_trace_state *state; /* of the trace, read to its end */
	uint64_t *sequence;                 /* of the next chunk; updated */
	bool is_saved;                      /* an earlier salvage was completed */
	const char *ring_path;
	int ring_file;                /* gp_rings_are_abandoned() returned true for it */
	const struct gp_rings *rings; /* gp_rings_cover() was called for every chunk */
	const uint64_t *counters;     /* GP_COUNTERS final values */
};

/*
 * Appends the records that no chunk has, then removes the ring file. Returns 0, or a negative errno
 * value; then the trace is unchanged but for a truncated chunk at its end, and the ring file is
 * still there.
 */
int gp_save_rings(const struct gp_ring_saving *saving);

#endif
