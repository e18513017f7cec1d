/*
 * cupti_buffers: the memory that CUPTI writes its records into.
 *
 * A pool of buffers, the first of them made before CUPTI asks.  CUPTI
 * takes buffers on any thread, often in the middle of a launch, and gives them back on any thread;
 * one thread of ours, the decoder's, empties them.  No lock anywhere: a buffer's state says who
 * owns it.  A request always gets a buffer, for older versions of CUPTI crash on NULL.
 *
 * CUPTI keeps the records of what has not ended, so that a kernel that never ends holds all buffers that follow.  Where
 * the limit is reached, and it is the decoder that lags, a request waits for it where that is wanted, GP_EMIT_WAIT_NS at most; else what CUPTI
 * writes from then on is dropped, and counted.  Memory that a burst took goes back to the system when the burst is decoded.
 */
#ifndef INJECT_CUPTI_BUFFERS_H
#define INJECT_CUPTI_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GP_CUPTI_BUFFER_BYTES       (256u * 1024u)
#define GP_CUPTI_SMALL_BUFFER_BYTES (16u * 1024u)

/* Where each thread has its own, 18 kernels: CUPTI clears a buffer before it writes. */
#define GP_CUPTI_FIRST_BUFFER_BYTES 4096u

/* With less in all, threads had better share: what those have that launch seldom is missing to others. */
#define GP_CUPTI_PER_THREAD_LEAST_BYTES (64u * 1024u * 1024u)

/* So many large ones, or as many bytes of others, stay in memory for the next burst. */
#define GP_BUFFERS_KEPT 32u

/*
 * Before gp_buffers_init(): buffers are of GP_CUPTI_SMALL_BUFFER_BYTES, some 80 records.  Where nobody asks CUPTI for what a buffer has so far, no
 * more than that is held back.
 */
void gp_buffers_be_small(void);

/*
 * Before gp_buffers_init(): each thread of the program has a buffer of its own.  There may be ten thousand threads that launch once: a thread's
 * first is of GP_CUPTI_FIRST_BUFFER_BYTES; one that has filled its last gets a large one, as long as these take no more than half of all.
 */
void gp_buffers_be_per_thread(void);

/* Map the first buffers.  most_bytes limits all; waits = requests wait for the decoder.  wake_decoder is called on any thread.  Returns 0 or -errno. */
int gp_buffers_init(uint64_t most_bytes, bool waits, void (*wake_decoder)(void));

/* There will be no decoder: nobody waits for it, and no more buffers are made than there are. */
void gp_buffers_have_no_decoder(void);

/* Of a thread that the decoder waits for, and of the decoder: its requests do not wait for the decoder. */
void gp_buffers_never_wait_here(void);

/* For CUPTI, any thread: an empty buffer, 8-byte aligned, of *bytes bytes. */
uint8_t *gp_buffers_take(size_t *bytes);

/*
 * For CUPTI, any thread: a buffer that it has filled with valid_bytes bytes of records.  False: it was of those that
 * nobody decodes; its records are lost, and may be counted until the return of the callback.
 */
bool gp_buffers_give(uint8_t *buffer, size_t valid_bytes);

/* After gp_buffers_give() has said no, when the records are counted: it may be given out again. */
void gp_buffers_end_discard(uint8_t *buffer);

/* How often CUPTI has asked for one; wraps around. */
uint32_t gp_buffers_requests(void);

/* Whether CUPTI has one at this moment. */
bool gp_buffers_are_out(void);

/* For the decoder, one thread: the filled buffer given back first, or NULL.  It stays the caller's, and the first, until gp_buffers_release(). */
uint8_t *gp_buffers_next(size_t *valid_bytes);
void gp_buffers_release(void);

#endif
