/*
 * tail: a trace file and the rings of its process, read on and on while the process runs.
 *
 * Each record is given once, whether it was found in a ring first or in the file at once; what is
 * kept between two readings is where they ended, so that neither time nor memory grows with the
 * file.  Files and rings are only read, never written, locked or mapped: the process does not
 * notice.
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
	uint32_t pid;  /* 0 = not known yet */
	bool is_empty; /* nothing that can be read has come so far */
	bool closed;   /* the process closed its trace: nothing comes any more */
	bool live;     /* it ran when it was last looked at, or wrote just before */
	uint64_t file_bytes, read_bytes;
	uint64_t damaged_bytes;
	uint64_t unknown_records;
	uint64_t counters[GP_COUNTERS];
	/* in which threads were then; until the next reading */
	const struct gp_record_waiting *calls;
	uint32_t call_count;
};

/*
 * Returns 0, or a negative errno value with one line for the user in message, as gp_trace_open()
 * does.
 */
int gp_tail_open(const char *path, struct gp_tail **tail, char *message, size_t message_bytes);
void gp_tail_close(struct gp_tail *tail);

/*
 * Give the sink what has come since: records of one thread in their order, those of several in any.
 * Returns 0 where that is all, 1 where there is more to read:
 * call again; a negative errno value if the file cannot be read, or what the sink returned.
 */
int gp_tail_read(struct gp_tail *tail, const struct gp_record_sink *sink);

const struct gp_tail_state *gp_tail_state(const struct gp_tail *tail);

#endif
