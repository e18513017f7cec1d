/*
 * chunk_index: what each chunk of a trace holds, so that a part of a large trace can be loaded
 * without the rest.
 *
 * Made in one pass over the file, in some 120 bytes a chunk.  Events are of a time
 * (gp_record_is_event()); all else, definitions above all, is taken whole for every part.  Of ranges and allocations a part needs those that began before it
 * or end after it, too: a record whose other half is not in the same chunk is "left", and kept.
 *
 * What is chosen for a window is, besides the chunks with events in it: those with the other halves
 * of these (calls of operations, operations of calls); and those that make every part alike: with
 * the first and the last event of all, the first one of each thread, stream and kind of memory, and
 * calls that definitions name.
 */
#ifndef REPORT_MODEL_CHUNK_INDEX_H
#define REPORT_MODEL_CHUNK_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "report/trace/decode.h"

struct gp_chunk_index;

/* What is to be taken of a chunk. */
enum gp_chunk_want { GP_CHUNK_NOTHING, GP_CHUNK_OTHERS, GP_CHUNK_ALL };

/* A record of a chunk whose other half is elsewhere, and its thread. */
struct gp_chunk_left {
	union gp_any_record record;
	uint32_t thread;
	uint32_t other_chunk; /* where that half is; UINT32_MAX: there is none */
};

/*
 * with_memory: every part has all allocations and frees, so that it tells when most was in use. 0;
 * -ENOTSUP: a trace that has to be loaded as a whole (it has no end, no event, clocks that were set
 * meanwhile, times that cannot be, work inside conditional nodes, whose launch only the whole
 * tells, or so many halves that the whole is not larger); or another negative errno value.
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
 * Share such a window out among `count` stretches with about as many events each, as far as the
 * chunks tell: where they begin, the first at from_ns, the others later than 0.  Returns 0 or
 * -ENOMEM.
 */
int gp_chunk_index_share(const struct gp_chunk_index *index, uint64_t from_ns, uint64_t to_ns,
			 uint64_t *starts, uint32_t count);

/*
 * Choose what is to be loaded for such a window, with as many events as `margin` before and after
 * it.
 */
void gp_chunk_index_choose(struct gp_chunk_index *index, uint64_t from_ns, uint64_t to_ns,
			   uint64_t margin);

/*
 * Whether parts that begin then (of gp_chunk_index_cut()), with that margin, cost no more than
 * about twice the whole.  Another choice is made after it.
 */
bool gp_chunk_index_is_for(struct gp_chunk_index *index, const uint64_t *starts, uint32_t count,
			   uint64_t to_ns, uint64_t margin);

/* What is chosen, by the number of a chunk in the order of gp_trace_next(). */
enum gp_chunk_want gp_chunk_index_want(const struct gp_chunk_index *index, uint64_t chunk);

/*
 * From when to when all events are chosen, on a timeline on which the first call or operation is at
 * first_ns.
 */
void gp_chunk_index_span(const struct gp_chunk_index *index, uint64_t first_ns, uint64_t *from_ns,
			 uint64_t *to_ns);

/*
 * For who reads on at the chunk of that number, which is moved on past those that are not wanted at
 * all: where in the file (gp_trace_place()) the first is that is; 0: the next one is, or there is
 * no way to step over any.
 */
uint64_t gp_chunk_index_step_over(const struct gp_chunk_index *index, uint64_t *chunk);

/* Bytes of the file that are damaged. */
uint64_t gp_chunk_index_damaged_bytes(const struct gp_chunk_index *index);

/* What a chunk that is not wanted as a whole leaves: of it, what gp_chunk_index_needs(). */
const struct gp_chunk_left *gp_chunk_index_lefts(const struct gp_chunk_index *index, uint64_t chunk,
						 uint32_t *count);

/*
 * Whether what is chosen has something of the time from that chunk's record to its other half, or
 * that half itself.
 */
bool gp_chunk_index_needs(const struct gp_chunk_index *index, uint64_t chunk,
			  const struct gp_chunk_left *left);

#endif
