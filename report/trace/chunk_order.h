/*
 * chunk_order: selects and orders the valid chunks of a circular trace (gpuprof/trace.h,
 * "Circular files").
 */
#ifndef REPORT_TRACE_CHUNK_ORDER_H
#define REPORT_TRACE_CHUNK_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/trace.h"

/* A valid chunk and its offset in the file. */
struct gp_chunk_place {
	struct gp_chunk_header header;
	uint64_t offset;
};

/* Zeroed = empty. */
struct gp_chunk_order {
	struct gp_chunk_place *places;
	uint32_t count, capacity;
	uint32_t next;                /* index of the next chunk */
	uint64_t after;               /* chunks with lower sequences have been returned */
	uint64_t missing;             /* number of missing chunks */
	bool was_given;               /* some chunk has been returned */
	struct gp_chunk_place *known; /* the chunks of the previous list, by offset */
	uint32_t known_count, known_next;
};

/* Begins a new list, in the order of offsets. */
void gp_chunk_order_begin(struct gp_chunk_order *order);

/*
 * The header that stood at that offset in the previous list, or NULL. If the file still has the
 * same header there, the chunk is unchanged.
 */
const struct gp_chunk_header *gp_chunk_order_known(struct gp_chunk_order *order, uint64_t offset);

/* Returns 0 or -ENOMEM. */
int gp_chunk_order_add(struct gp_chunk_order *order, const struct gp_chunk_header *header,
		       uint64_t offset);

/*
 * Completes the list: keeps the valid chunks that have not been returned yet, in their order.
 * Returns 0 or -ENOMEM.
 */
int gp_chunk_order_settle(struct gp_chunk_order *order);

void gp_chunk_order_free(struct gp_chunk_order *order);

#endif
