/*
 * cupti_activity: takes CUPTI's activity records from the filled buffers to the decoder, and to a
 * CUPTI client inside the program.
 *
 * CUPTI requests and returns buffers on any thread.  Our fetching thread decodes them; a helper
 * thread makes CUPTI flush (inject/bounded_call.h).
 */
#ifndef INJECT_CUPTI_ACTIVITY_H
#define INJECT_CUPTI_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

#include "inject/cupti_library.h"

/*
 * Once, before CUPTI gets the two functions below.  The caller keeps cupti; any thread calls `wake`
 * to wake the fetching thread, and `on_request` when CUPTI has got an empty buffer.
 */
void gp_cupti_activity_init(const struct gp_cupti *cupti, void (*wake)(void),
			    void (*on_request)(void));

/* CUPTI calls these on any thread: to request an empty buffer, and to return a filled one. */
void CUPTIAPI gp_cupti_activity_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
void CUPTIAPI gp_cupti_activity_complete(CUcontext context, uint32_t stream, uint8_t *buffer,
					 size_t bytes, size_t valid_bytes);

/* ---- any one thread: a flush may last as long as a kernel ---- */

/*
 * Make CUPTI return the records of finished work.  flag: 0, or CUPTI_ACTIVITY_FLAG_FLUSH_FORCED for
 * unfinished work, too: only at exit, because CUPTI does not deliver such records again.
 */
void gp_cupti_activity_flush(uint32_t flag);

/* ---- the fetching thread ---- */

/* At its beginning. */
void gp_cupti_activity_enter_thread(void);

/* Decode all buffers that CUPTI has returned. */
void gp_cupti_activity_decode(void);

/* After a flush: decode its buffers, and scan for launches without a record. */
void gp_cupti_activity_end_flush(bool is_last);

/* Periodically during a flush: the same.  The work that the flush waits for has not ended. */
void gp_cupti_activity_during_flush(void);

/* If flushes are forbidden: decode the buffers that CUPTI has returned by itself. */
void gp_cupti_activity_without_flush(void);

/* Whether records of launches are still to come.  By the fetching thread, after decoding. */
bool gp_cupti_activity_is_awaited(void);

/*
 * Emit all launches without a record, because the process may end before they are overdue.  Ends at
 * until_ns of gp_sys_now_ns().
 */
void gp_cupti_activity_emit_unfinished(uint64_t until_ns);

#endif
