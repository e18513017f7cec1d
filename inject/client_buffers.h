/*
 * share_buffers: the buffers of a client of CUPTI inside the program, filled with copies of the records it is to get.
 *
 * CUPTI's own buffers are ours.  The client is asked for one as CUPTI would ask it: on the thread of the first call after it
 * has enabled something; further ones, and the filled ones given back, by the fetching thread, as CUPTI does by its worker.
 */
#ifndef INJECT_SHARE_BUFFERS_H
#define INJECT_SHARE_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

/* The client's functions; those before are in use no more when this returns (inject/client_calls.h). */
void gp_client_buffers_register(CUpti_BuffersCallbackRequestFunc request,
				CUpti_BuffersCallbackCompleteFunc complete);
bool gp_client_buffers_are_registered(void);

/* It is to get back what it has given, and gives no more: a copy finds no room, and is not counted. */
void gp_client_buffers_close(void);

/* Have the client asked for a buffer in the next call. */
void gp_client_buffers_expect(void);

/* The fetching thread: ask now. */
void gp_client_buffers_request(void);

/* Inside a callback, at the beginning of each call, from when there is a client. */
void gp_client_buffers_next_call(void);

/* The fetching thread: append a copy.  One that does not fit, or finds no buffer, is dropped and counted. */
void gp_client_buffers_add(const CUpti_Activity *record, size_t bytes);

/* The fetching thread, or where there is none: give the client all that there is. */
void gp_client_buffers_hand_over(void);

/* How many records were dropped since the last question. */
size_t gp_client_buffers_take_dropped(void);

#endif
