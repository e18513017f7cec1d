/*
 * client_records: the fetching thread's service for a CUPTI client inside the program: copies the
 * client's records out of each decoded buffer, and returns the client's buffers on request.
 */
#ifndef INJECT_CLIENT_RECORDS_H
#define INJECT_CLIENT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

/* ---- the fetching thread ---- */

/*
 * Before the fetching thread starts; any thread calls `wake`.  On the fetching thread, at its
 * beginning.  After its end.
 */
void gp_client_records_begin(void (*wake)(void));
void gp_client_records_enter_thread(void);
void gp_client_records_end(void);

/*
 * Copy the client's records of a CUPTI buffer, before the buffer is released.  next:
 * cuptiActivityGetNextRecord.
 */
void gp_client_records_copy(__typeof__(&cuptiActivityGetNextRecord) next, uint8_t *buffer,
			    size_t valid_bytes);

/*
 * Whether the client waits for its records.  Answer when all delivered records are copied.  more:
 * CUPTI holds records of unfinished work.
 */
bool gp_client_records_is_requested(uint32_t *ticket);
void gp_client_records_answer(uint32_t ticket, bool more);

/* After a periodic flush: serves a client that wants its records periodically. */
void gp_client_records_end_period(bool more);

/* ---- the client's threads ---- */

/*
 * Wait until the client has all delivered records.  The wait is bounded; on the fetching thread
 * there is none.
 */
void gp_client_records_request(void);
bool gp_client_records_is_served(void); /* a fetching thread exists, and this is another thread */

/* Whether to deliver records periodically without requests. */
void gp_client_records_set_periodic(bool periodically);

#endif
