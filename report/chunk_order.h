/*
 * chunk_order: which chunks of a circle count, and in which order (gpuprof/trace.h, "Circle").
 */
#ifndef REPORT_CHUNK_ORDER_H
#define REPORT_CHUNK_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/trace.h"

/* A valid chunk, and where in the file. */
struct gp_chunk_place {
	uint64_t sequence;
	uint64_t offset;
	uint64_t position;
	uint32_t form;
	bool is_own; /* of ring 0 */
};

/* Zero at first. */
struct gp_chunk_order {
	struct gp_chunk_place *places;
	uint32_t count, capacity;
	uint32_t next;    /* place of the chunk that comes next */
	uint64_t after;   /* sequence: chunks before it have been given out */
	uint64_t missing; /* chunks that should be there */
	bool was_given;   /* anything, ever */
};

/* Begin a new list. */
void gp_chunk_order_begin(struct gp_chunk_order *order);

/* 0 or -ENOMEM. */
int gp_chunk_order_add(struct gp_chunk_order *order, const struct gp_chunk_header *header,
		       uint64_t offset);

/* All are in the list: leave those that count and have not been given out yet, in their order. */
void gp_chunk_order_settle(struct gp_chunk_order *order);

void gp_chunk_order_free(struct gp_chunk_order *order);

#endif
