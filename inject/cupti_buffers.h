/*
 * cupti_buffers: the memory that CUPTI writes its records into.
 *
 * A pool of buffers; the first ones exist before CUPTI asks.  CUPTI takes buffers on any thread,
 * often in the middle of a launch, and returns them on any thread; one thread of ours, the decoder,
 * empties them.  There are no locks: the state of a buffer names its owner.  A request always gets
 * a buffer, because older CUPTI versions crash on NULL.
 *
 * CUPTI keeps the records of unfinished work, so a kernel that never ends holds all later buffers.
 * At the memory limit, if the decoder lags, a request may wait for it, up to GP_EMIT_WAIT_NS; else
 * the records from then on are dropped and counted.  Memory of a burst is returned to the system
 * after decoding.
 */
#ifndef INJECT_CUPTI_BUFFERS_H
#define INJECT_CUPTI_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GP_CUPTI_BUFFER_BYTES       (256u * 1024u)
#define GP_CUPTI_SMALL_BUFFER_BYTES (16u * 1024u)

/* With one buffer per thread: 18 kernels.  Small, because CUPTI clears a buffer before use. */
#define GP_CUPTI_FIRST_BUFFER_BYTES 4096u

/*
 * Below this limit, threads share buffers: idle buffers of threads that rarely launch would starve
 * the others.
 */
#define GP_CUPTI_PER_THREAD_LEAST_BYTES (64u * 1024u * 1024u)

/* This many large buffers, or as many bytes of others, stay in memory for the next burst. */
#define GP_BUFFERS_KEPT 32u

/*
 * From now on use buffers of GP_CUPTI_SMALL_BUFFER_BYTES, about 80 records.  Without flushes, CUPTI
 * holds no more records than that back; with a buffer for each thread, of each thread.
 */
void gp_buffers_use_small(void);

/*
 * Before gp_buffers_init(): each program thread has its own buffer.  Ten thousand threads may
 * launch once each: the first buffer of a thread has GP_CUPTI_FIRST_BUFFER_BYTES.  A thread that
 * filled its last buffer gets one of the usual size, as long as these take at most half of the
 * memory.
 */
void gp_buffers_use_per_thread(void);

/*
 * Map the first buffers.  most_bytes limits all buffers; waits = requests wait for the decoder.
 * Any thread calls wake_decoder.  Returns 0 or -errno.
 */
int gp_buffers_init(uint64_t most_bytes, bool waits, void (*wake_decoder)(void));

/*
 * After the end of a recording, in a process that runs on: the memory of free buffers is free;
 * gp_buffers_init() may come again, and uses them.
 */
void gp_buffers_empty(void);

/* There will be no decoder: requests do not wait, and no further buffers are made. */
void gp_buffers_set_no_decoder(void);

/*
 * For the decoder, and for a thread that the decoder waits for: requests of this thread do not wait
 * for the decoder.
 */
void gp_buffers_never_wait_here(void);

/* For CUPTI, any thread: an empty buffer, 8-byte aligned, of *bytes bytes. */
uint8_t *gp_buffers_take(size_t *bytes);

/*
 * For CUPTI, any thread: return a buffer filled with valid_bytes bytes of records.  False: it was a
 * discard buffer; its records are lost, and may be counted until the callback returns.
 */
bool gp_buffers_give(uint8_t *buffer, size_t valid_bytes);

/*
 * After gp_buffers_give() returned false and the records are counted: the buffer may be used again.
 */
void gp_buffers_end_discard(uint8_t *buffer);

/* Number of CUPTI's requests; wraps around. */
uint32_t gp_buffers_requests(void);

/* Whether CUPTI holds a buffer now. */
bool gp_buffers_are_out(void);

/*
 * For the decoder, one thread: the oldest filled buffer, or NULL.  The caller owns it, and it stays
 * the oldest, until gp_buffers_release().
 */
uint8_t *gp_buffers_next(size_t *valid_bytes);
void gp_buffers_release(void);

#endif
