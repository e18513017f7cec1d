/*
 * client_buffers: the buffers of a CUPTI client inside the program, filled with copies of its
 * records.
 *
 * CUPTI itself uses our buffers.  The client's request function runs where CUPTI would call it: on
 * the thread of the first API call after the client has enabled a kind.  As CUPTI's worker does,
 * the fetching thread requests further buffers and returns the filled ones.
 */
#ifndef INJECT_CLIENT_BUFFERS_H
#define INJECT_CLIENT_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

/*
 * Set the client's functions.  The previous functions are no longer in use on return
 * (inject/client_calls.h).
 */
void gp_client_buffers_register(CUpti_BuffersCallbackRequestFunc request,
				CUpti_BuffersCallbackCompleteFunc complete);
bool gp_client_buffers_are_registered(void);

/*
 * Return all buffers to the client and request no more: later copies are discarded without
 * counting.
 */
void gp_client_buffers_close(void);

/* Let the next call ask the client for a buffer. */
void gp_client_buffers_expect(void);

/* The fetching thread: ask the client now. */
void gp_client_buffers_request(void);

/* Inside a callback, at the beginning of each call while there is a client. */
void gp_client_buffers_next_call(void);

/*
 * The fetching thread: append a copy.  A copy that does not fit, or finds no buffer, is dropped and
 * counted.
 */
void gp_client_buffers_add(const CUpti_Activity *record, size_t bytes);

/* The fetching thread, or any thread if there is none: return all data to the client. */
void gp_client_buffers_hand_over(void);

/* Number of records dropped since the last call. */
size_t gp_client_buffers_take_dropped(void);

#endif
