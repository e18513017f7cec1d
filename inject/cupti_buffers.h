/*
 * cupti_buffers: the memory that CUPTI writes its records into.
 *
 * A pool of buffers of GP_CUPTI_BUFFER_BYTES, the first of them made before CUPTI asks.  CUPTI
 * takes buffers on any thread, often in the middle of a launch, and gives them back on any thread;
 * one thread of ours, the decoder's, empties them.  No lock anywhere: a buffer's state says who
 * owns it.  A request always gets a buffer, for older versions of CUPTI crash on NULL.
 */
#ifndef INJECT_CUPTI_BUFFERS_H
#define INJECT_CUPTI_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GP_CUPTI_BUFFER_BYTES (256u * 1024u)

/* Map the first buffers.  Returns 0 or -errno. */
int gp_buffers_init(void);

/* For CUPTI, any thread: an empty buffer, 8-byte aligned, of *bytes bytes. */
uint8_t *gp_buffers_take(size_t *bytes);

/* For CUPTI, any thread: a buffer that it has filled with valid_bytes bytes of records. */
void gp_buffers_give(uint8_t *buffer, size_t valid_bytes);

/* For the decoder, one thread: the filled buffer given back first, or NULL.  It stays the caller's
 * until gp_buffers_release(). */
uint8_t *gp_buffers_next(size_t *valid_bytes);
void gp_buffers_release(uint8_t *buffer);

#endif
