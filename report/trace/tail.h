/*
 * tail: reads a trace file and the rings of its process while the process runs.
 *
 * Each record is passed on once, whether it is found first in a ring or in the file. Between two
 * reads only end positions are kept, so neither time nor memory grows with the file. Files and
 * rings are only read, never written, locked or mapped, so the process is not affected.
 */
#ifndef REPORT_TRACE_TAIL_H
#define REPORT_TRACE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/counter.h"
#include "report/trace/decode.h"
#include "report/trace/recover.h"

struct gp_tail;

struct gp_tail_state {
	uint32_t pid;  /* 0 = unknown yet */
	bool is_empty; /* no readable data so far */
	bool closed;   /* the process has closed its trace: nothing more comes */
	bool live;     /* it was running in the last check, or has written recently */
	uint64_t file_bytes, read_bytes;
	uint64_t damaged_bytes;
	uint64_t unknown_records;
	uint64_t counters[GP_COUNTERS];
	/* the calls in which threads are; valid until the next read */
	const struct gp_record_waiting *calls;
	uint32_t call_count;
};

/*
 * Returns 0, or a negative errno value with one line for the user in message, like gp_trace_open().
 */
int gp_tail_open(const char *path, struct gp_tail **tail, char *message, size_t message_bytes);
void gp_tail_close(struct gp_tail *tail);

/* Frees what it needs only while it reads; the state has no calls then. */
void gp_tail_rest(struct gp_tail *tail);

/*
 * Passes the new records to the sink: records of one thread in their order, those of several in
 * any. Returns 0 if there are no more now, 1 if there are more to read, a negative errno value if
 * the file is unreadable, or the sink's result.
 */
int gp_tail_read(struct gp_tail *tail, const struct gp_record_sink *sink);

const struct gp_tail_state *gp_tail_state(const struct gp_tail *tail);

#endif
