/*
 * chunk_order: which chunks of a circular file count, and in which order (gpuprof/trace.h,
 * "Circular files").
 */
#ifndef REPORT_TRACE_CHUNK_ORDER_H
#define REPORT_TRACE_CHUNK_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/trace.h"

/* A valid chunk, and where in the file. */
struct gp_chunk_place {
	struct gp_chunk_header header;
	uint64_t offset;
};

/* Zero at first. */
struct gp_chunk_order {
	struct gp_chunk_place *places;
	uint32_t count, capacity;
	uint32_t next;                /* place of the chunk that comes next */
	uint64_t after;               /* sequence: chunks before it have been given out */
	uint64_t missing;             /* chunks that should be there */
	bool was_given;               /* anything, ever */
	struct gp_chunk_place *known; /* all of the list before, by place */
	uint32_t known_count, known_next;
};

/* Begin a new list; it goes from place to place through the file. */
void gp_chunk_order_begin(struct gp_chunk_order *order);

/*
 * The header of the chunk that stood there in the list before, or NULL.  Where it still does, the
 * chunk is as it was.
 */
const struct gp_chunk_header *gp_chunk_order_known(struct gp_chunk_order *order, uint64_t offset);

/* 0 or -ENOMEM. */
int gp_chunk_order_add(struct gp_chunk_order *order, const struct gp_chunk_header *header,
		       uint64_t offset);

/*
 * All are in the list: leave those that count and have not been given out yet, in their order. 0 or
 * -ENOMEM.
 */
int gp_chunk_order_settle(struct gp_chunk_order *order);

void gp_chunk_order_free(struct gp_chunk_order *order);

#endif
