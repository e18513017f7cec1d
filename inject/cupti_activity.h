/*
 * fetch: CUPTI's records, from the buffers that it fills to the decoder, and to a client of CUPTI inside the program.
 *
 * CUPTI takes buffers and gives them back on any thread.  One thread of ours, the fetching thread, decodes them; another
 * has CUPTI give back what it keeps (inject/bounded_call.h).
 */
#ifndef INJECT_FETCH_H
#define INJECT_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

#include "inject/cupti_library.h"

/* Once, before CUPTI has the two functions below.  cupti stays the caller's; wake: the fetching thread, by any thread. */
void gp_cupti_activity_init(const struct gp_cupti *cupti, void (*wake)(void));

/* What CUPTI calls, on any thread: for an empty buffer, and with a filled one. */
void CUPTIAPI gp_cupti_activity_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
void CUPTIAPI gp_cupti_activity_complete(CUcontext context, uint32_t stream, uint8_t *buffer,
					 size_t bytes, size_t valid_bytes);

/* ---- any one thread: a flush may last as long as a kernel does ---- */

/*
 * Have CUPTI give back what has ended.  flag: 0, or CUPTI_ACTIVITY_FLAG_FLUSH_FORCED for what has not ended, too: only at exit, for it is not
 * delivered again.
 */
void gp_cupti_activity_flush(uint32_t flag);

/* ---- the fetching thread ---- */

/* At its beginning. */
void gp_cupti_activity_enter_thread(void);

/* Decode what CUPTI has given back. */
void gp_cupti_activity_decode(void);

/* When a flush is over: decode what it gave, and look for launches that have no record. */
void gp_cupti_activity_end_flush(bool is_last);

/* From time to time while one lasts: the same.  What it waits for has not ended. */
void gp_cupti_activity_during_flush(void);

/* In place of a flush, where that must not be: decode what CUPTI has given back by itself. */
void gp_cupti_activity_without_flush(void);

/* Tell launches that have no record, for the process may end before they are overdue.  Until until_ns of gp_sys_now_ns() at most. */
void gp_cupti_activity_emit_unfinished(uint64_t until_ns);

#endif
