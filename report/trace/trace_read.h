/*
 * trace_read: reads the valid chunks of a trace file (gpuprof/trace.h).
 *
 * Chunks come in the order in which they were written. A circular trace has only its last part.
 *
 * The reader uses a bounded window, so a file may be larger than memory, may be truncated, and may
 * grow while it is read.
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
	/* header.payload_bytes bytes; valid until the next call, or see gp_trace_swap_windows() */
	const uint8_t *payload;
};

/* The state of the reader so far. */
struct gp_trace_state {
	uint64_t chunks;
	uint64_t file_bytes;    /* length of the file when last checked ... */
	uint64_t read_bytes;    /* ... and how much of it was read */
	uint64_t damaged_bytes; /* skipped between valid chunks */
	uint64_t end_bytes;     /* end of the last valid chunk with its padding */
	uint64_t rest_bytes;    /* after the last valid chunk; set when gp_trace_next() returns 0 */
	bool rest_is_cut; /* the rest begins like a chunk that reaches beyond the end of the file */
};

/*
 * Opens a trace file. Returns 0, or a negative errno value with one line for the user in message:
 * -EPROTONOSUPPORT for a newer version, -EINVAL for a file that is no trace, else the read error.
 */
int gp_trace_open(const char *path, struct gp_trace **trace, char *message, size_t message_bytes);
/* The same for an open trace; path is for messages. The caller closes fd. */
int gp_trace_open_fd(int fd, const char *path, struct gp_trace **trace, char *message,
		     size_t message_bytes);
void gp_trace_close(struct gp_trace *trace);

/*
 * Reads the next valid chunk. Returns 1; 0 if there is none up to the current end of the file; or a
 * negative errno value if the file is unreadable. After 0 a later call tries again, for a growing
 * file.
 */
int gp_trace_next(struct gp_trace *trace, struct gp_chunk *chunk);

/* Frees the buffer until the next chunk is read: the last one is not valid any more. */
void gp_trace_rest(struct gp_trace *trace);

/* The size of the buffer that chunks are read into. */
#define GP_TRACE_WINDOW_BYTES (1u << 18)

/*
 * Before the reader reuses a window, it passes it to `swap`, which returns another one from
 * malloc(): chunks in the old window stay valid until `swap` returns it.
 */
void gp_trace_swap_windows(struct gp_trace *trace, uint8_t *(*swap)(void *context, uint8_t *window),
			   void *context);

/*
 * The position where the next chunk is searched; 0 for a circular trace, which has none.
 * gp_trace_go_to() continues at a position; skipped bytes count as read.
 */
uint64_t gp_trace_place(const struct gp_trace *trace);
void gp_trace_go_to(struct gp_trace *trace, uint64_t place);

const struct gp_trace_state *gp_trace_state(const struct gp_trace *trace);

#endif
