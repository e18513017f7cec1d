/*
 * trace_read: the chunks of a trace file (gpuprof/trace.h), valid ones only.
 *
 * They come in the order in which they were written.  Of a trace that keeps only its last part,
 * only what is kept does.
 *
 * Reads through a bounded window, so that a file may be larger than memory and may be cut short, or
 * grow, while it is read.
 */
#ifndef REPORT_TRACE_TRACE_READ_H
#define REPORT_TRACE_TRACE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/trace.h"

struct gp_trace;

struct gp_chunk {
	struct gp_chunk_header header;
	/* header.payload_bytes; valid until the next call, or as gp_trace_swap_windows() has it */
	const uint8_t *payload;
};

/* What a reader met so far. */
struct gp_trace_state {
	uint64_t chunks;
	uint64_t file_bytes;    /* length of the file when it was last looked at ... */
	uint64_t read_bytes;    /* ... and how far it was read */
	uint64_t damaged_bytes; /* skipped between valid chunks */
	uint64_t end_bytes;     /* where the last valid chunk with its padding ends */
	uint64_t rest_bytes; /* after the last valid chunk; set when gp_trace_next() returned 0 */
	bool rest_is_cut; /* the rest begins like a chunk that reaches beyond the end of the file */
};

/*
 * Open a trace file for reading. Returns 0, or a negative errno value with one line for the user in
 * message: -EPROTONOSUPPORT for a newer version, -EINVAL for a file that is no trace, else why it
 * cannot be read.
 */
int gp_trace_open(const char *path, struct gp_trace **trace, char *message, size_t message_bytes);
void gp_trace_close(struct gp_trace *trace);

/*
 * The next valid chunk: 1, or 0 where there is none up to the end that the file has now, or a
 * negative errno value if it cannot be read.  After 0, a later call looks again, for a file that
 * grows.
 */
int gp_trace_next(struct gp_trace *trace, struct gp_chunk *chunk);

/* What chunks are in while they are read. */
#define GP_TRACE_WINDOW_BYTES (1u << 18)

/*
 * Before a window is read into again, it is given to `swap`, which returns another one from
 * malloc() for that: chunks in it stay as they are until it comes back.
 */
void gp_trace_swap_windows(struct gp_trace *trace, uint8_t *(*swap)(void *context, uint8_t *window),
			   void *context);

/*
 * Where the next chunk is looked for, 0 of a circle, which has no such place; and to go on there,
 * stepping over what lies between: it counts as read.
 */
uint64_t gp_trace_place(const struct gp_trace *trace);
void gp_trace_go_to(struct gp_trace *trace, uint64_t place);

const struct gp_trace_state *gp_trace_state(const struct gp_trace *trace);

#endif
