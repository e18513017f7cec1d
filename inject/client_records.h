/*
 * share_records: the fetching thread's part for a client of CUPTI inside the program: it copies the client's records out of
 * each buffer that it decodes, and gives the client its buffers back when it asks.
 */
#ifndef INJECT_SHARE_RECORDS_H
#define INJECT_SHARE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

/* ---- the fetching thread ---- */

/* There will be one; wake: any thread calls it.  By itself, at its beginning.  There is none any more. */
void gp_client_records_begin(void (*wake)(void));
void gp_client_records_enter_thread(void);
void gp_client_records_end(void);

/* All records of a buffer of CUPTI's, before it is given back.  next: cuptiActivityGetNextRecord. */
void gp_client_records_copy(__typeof__(&cuptiActivityGetNextRecord) next, uint8_t *buffer,
			    size_t valid_bytes);

/*
 * Whether the client waits for its records; the answer is given when all that has come is copied.  more: CUPTI holds records
 * of what has not ended.
 */
bool gp_client_records_is_requested(uint32_t *ticket);
void gp_client_records_answer(uint32_t ticket, bool more);

/* It has flushed by itself: a client that wants its records from time to time gets them. */
void gp_client_records_end_period(bool more);

/* ---- the client's threads ---- */

/* Wait until the client has all that has come.  Not for ever, and not at all on the fetching thread. */
void gp_client_records_request(void);
bool gp_client_records_is_served(void); /* there is a fetching thread, and this is not it */

/* From time to time without being asked, or not. */
void gp_client_records_set_periodic(bool periodically);

#endif
