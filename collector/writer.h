/*
 * writer: the collector's thread.  It creates the trace file and the rings, then empties the rings
 * every few milliseconds until gp_writer_stop().
 *
 * It never waits for a program thread, has all signals blocked, and holds none of the program's
 * descriptors: it has its own, if the kernel supports that.
 *
 * A program that forks with several threads may get a warning (Python's, since 3.12), so the thread
 * ends before a fork as long as the program has not used CUDA.  Its descriptors end with it.
 */
#ifndef COLLECTOR_WRITER_H
#define COLLECTOR_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector.h"

/*
 * Start the thread and wait until records can be taken.  0 or -errno: then nothing is left behind;
 * -ETIMEDOUT: like gp_collector_start().  Once per process; a forked child may do it again.
 */
int gp_writer_start(const struct gp_collector_config *config);

/*
 * Make the writer write all records and the END record, and wait until it has ended. -ETIMEDOUT, or
 * the reason of an incomplete file: then the ring file stays for recovery.
 */
int gp_writer_stop(uint64_t timeout_ns);

/* gp_collector_release() */
void gp_writer_release(void);

/* gp_collector_resume() */
void gp_writer_resume(void);

/* Data of the END record: gp_collector_ends(). */
void gp_writer_ends(enum gp_end_way way, uint8_t status);

void gp_writer_request_anchor(void);

/*
 * Number of records dropped because the file could not be written; *error: reason of the last ones,
 * 0 = none.
 */
uint64_t gp_writer_unwritten(int *error);

/* The file has reached its limit. */
bool gp_writer_is_full(void);

/* Path of the trace file, from start on. */
const char *gp_writer_trace_path(void);

#endif
