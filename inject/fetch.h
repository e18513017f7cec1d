/*
 * fetch: CUPTI's records, from the buffers that it fills to the decoder, and to a client of CUPTI inside the program.
 *
 * CUPTI takes buffers and gives them back on any thread.  One thread of ours, the fetching thread, decodes them, and has
 * CUPTI give back what it keeps.
 */
#ifndef INJECT_FETCH_H
#define INJECT_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

#include "inject/cupti_library.h"

/* Once, before CUPTI has the two functions below.  cupti stays the caller's; wake: the fetching thread, by any thread. */
void gp_fetch_init(const struct gp_cupti *cupti, void (*wake)(void));

/* What CUPTI calls, on any thread: for an empty buffer, and with a filled one. */
void CUPTIAPI gp_fetch_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
void CUPTIAPI gp_fetch_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
				size_t valid_bytes);

/* ---- the fetching thread ---- */

/* At its beginning. */
void gp_fetch_here(void);

/* Decode what CUPTI has given back. */
void gp_fetch_decode(void);

/*
 * Have CUPTI give back what has ended, and decode it.  flag: 0, or CUPTI_ACTIVITY_FLAG_FLUSH_FORCED for what has not ended,
 * too: only at exit, for it is not delivered again, and launches that have no record then are told.  False: it took too long
 * (gp_fetch_give_up()), and nothing is to be called here any more.
 */
bool gp_fetch_flush(uint32_t flag);

/* In place of a flush, where that must not be: decode what CUPTI has given back by itself. */
void gp_fetch_without_flush(void);

/* Tell launches that have no record yet, for the process may end before they are overdue. */
void gp_fetch_tell(void);

/*
 * Before and after a call of CUDA's that may never return, a flush aside.  False: the fetching thread was given up before, or
 * meanwhile; launches that have no record are told, and nothing here is to be called any more.
 */
bool gp_fetch_begins_call(void);
bool gp_fetch_ends_call(void);

/* ---- any other thread ---- */

/*
 * At the end, where the fetching thread takes too long.  It is to do nothing more; what has no record is told by it or, where it is
 * in a call from which it may not come back, here, until until_ns of gp_sys_now_ns().
 */
void gp_fetch_give_up(uint64_t until_ns);

#endif
