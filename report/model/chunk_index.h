/*
 * chunk_index: the content of each chunk of a trace, so that a part of a large trace can be loaded
 * without the rest. Made in one pass over the file, in some 120 bytes a chunk.
 *
 * Events have a time (gp_record_is_event()); all other records, mostly definitions, are loaded for
 * each part. A part also needs ranges and allocations that begin before it or end after it: a
 * record whose other half is not in the same chunk is "left", and kept.
 *
 * For a window, the index chooses: the chunks with events in it; the chunks with their other halves
 * (calls of operations, operations of calls); and the chunks that make all parts alike, with the
 * first and the last event of all, the first one of each thread, stream and kind of memory, and the
 * calls that definitions name.
 */
#ifndef REPORT_MODEL_CHUNK_INDEX_H
#define REPORT_MODEL_CHUNK_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "report/trace/decode.h"

struct gp_chunk_index;

/* The records to take of a chunk. */
enum gp_chunk_want { GP_CHUNK_NOTHING, GP_CHUNK_OTHERS, GP_CHUNK_ALL };

/* A record whose other half is in another chunk, and its thread. */
struct gp_chunk_left {
	union gp_any_record record;
	uint32_t thread;
	uint32_t other_chunk; /* where that half is; UINT32_MAX: there is none */
};

/*
 * with_memory: each part has all allocations and frees, so that it knows the peak. Returns 0;
 * -ENOTSUP: the trace must be loaded as a whole (no end, no event, clocks that were set meanwhile,
 * impossible times, work inside conditional nodes, whose launch only the whole tells, or so many
 * halves that the whole is not larger); or another negative errno value.
 */
int gp_chunk_index_make(const char *path, bool with_memory, struct gp_chunk_index **index);
void gp_chunk_index_free(struct gp_chunk_index *index);

/*
 * Cut a window (from the first call or operation on; to_ns 0 = to the end) into parts of about
 * `most` events: where they begin, from malloc, the first at from_ns, the others later than 0.
 * Returns 0 or -ENOMEM.
 */
int gp_chunk_index_cut(const struct gp_chunk_index *index, uint64_t from_ns, uint64_t to_ns,
		       uint64_t most, uint64_t **starts, uint32_t *count);

/*
 * Cuts a window into `count` stretches with about as many events each, as far as the chunks tell:
 * their starts, the first at from_ns, the others later than 0. Returns 0 or -ENOMEM.
 */
int gp_chunk_index_share(const struct gp_chunk_index *index, uint64_t from_ns, uint64_t to_ns,
			 uint64_t *starts, uint32_t count);

/* Chooses the records of a window, and `margin` events before and after it. */
void gp_chunk_index_choose(struct gp_chunk_index *index, uint64_t from_ns, uint64_t to_ns,
			   uint64_t margin);

/*
 * Whether parts that begin then (of gp_chunk_index_cut()), with that margin, cost no more than
 * about twice the whole.  Another choice is made after it.
 */
bool gp_chunk_index_is_for(struct gp_chunk_index *index, const uint64_t *starts, uint32_t count,
			   uint64_t to_ns, uint64_t margin);

/* The choice, by the number of a chunk in the order of gp_trace_next(). */
enum gp_chunk_want gp_chunk_index_want(const struct gp_chunk_index *index, uint64_t chunk);

/*
 * From when to when all events are chosen, on a timeline on which the first call or operation is at
 * first_ns.
 */
void gp_chunk_index_span(const struct gp_chunk_index *index, uint64_t first_ns, uint64_t *from_ns,
			 uint64_t *to_ns);

/*
 * For a reader at the chunk of that number: moves the number past unwanted chunks. Returns the
 * place in the file (gp_trace_place()) of the next wanted chunk; 0: the next chunk is wanted, or no
 * chunk can be stepped over.
 */
uint64_t gp_chunk_index_step_over(const struct gp_chunk_index *index, uint64_t *chunk);

/* Bytes of the file that are damaged. */
uint64_t gp_chunk_index_damaged_bytes(const struct gp_chunk_index *index);

/*
 * The left records of a chunk that is not loaded as a whole: take those that
 * gp_chunk_index_needs().
 */
const struct gp_chunk_left *gp_chunk_index_lefts(const struct gp_chunk_index *index, uint64_t chunk,
						 uint32_t *count);

/* Whether the choice has any time from that record to its other half, or that half itself. */
bool gp_chunk_index_needs(const struct gp_chunk_index *index, uint64_t chunk,
			  const struct gp_chunk_left *left);

#endif
