/*
 * writer: the collector's one thread.  It makes the trace file and the rings, then empties the
 * rings every few milliseconds until it is asked to stop.  It never waits for a program thread, has
 * all signals blocked and keeps none of the program's descriptors: it has its own, where the kernel can do that.
 */
#ifndef COLLECTOR_WRITER_H
#define COLLECTOR_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector.h"

/* Start the thread and wait until records can be taken.  0 or -errno: then nothing is left behind; -ETIMEDOUT: as gp_collector_start().
 * Once per process; a forked child may do it again. */
int gp_writer_start(const struct gp_collector_config *config);

/*
 * Let it write all that there is and the END record, and wait for it to end.  -ETIMEDOUT, or what
 * kept the file from being complete: then the ring file stays, for recovery.
 */
int gp_writer_stop(uint64_t timeout_ns);

/* What the END record is to say: gp_collector_ends(). */
void gp_writer_ends(enum gp_end_way way, uint8_t status);

void gp_writer_request_anchor(void);

/* How many records were given up because the file could not be written; *error is why the last ones were, 0 = none. */
uint64_t gp_writer_unwritten(int *error);

/* The file has reached its limit. */
bool gp_writer_is_full(void);

/* Of the trace file, from start on. */
const char *gp_writer_trace_path(void);

#endif
