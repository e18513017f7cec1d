/*
 * session: our CUPTI session, from cuInit to exit.
 *
 * Subscribes, enables what is to be recorded, fetches GPU records from CUPTI on a thread of our own
 * and hands them to the collector.  One session per process; no CUPTI call is ever made in a forked
 * child.
 */
#ifndef INJECT_SESSION_H
#define INJECT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

#include "inject/cupti_library.h"

/* What the session needs from the start-up code: called once, when the process makes its first
 * context. */
typedef void (*gp_session_first_context)(void);

/*
 * To be called inside cuInit.  Loads libcupti, subscribes, enables callbacks and records.  Says one
 * line and returns -errno where that fails: the program then runs unprofiled.
 */
int gp_session_start(gp_session_first_context first_context);

/* Start the thread that fetches records; the collector may or may not be running.  Returns 0 or
 * -errno. */
int gp_session_start_fetching(void);

/* Facts about CUPTI and the driver, for the trace. */
void gp_session_emit_facts(void);

/*
 * At exit, once, before the driver is torn down: fetch everything that the GPU has done, and what
 * the driver says of its memory, on our own thread, waiting at most timeout_ns for it.  Afterwards
 * no CUPTI call is made.  Not in a forked child.
 */
void gp_session_finish(uint64_t timeout_ns);

/* CUPTI's number of a context, 0 = not known.  On a thread of the program, outside of callbacks; 0 in a forked child. */
uint32_t gp_session_context_id(const void *context);

/* CUPTI's number of a stream and that of its context.  False: not known.  As gp_session_context_id(). */
bool gp_session_stream_id(const void *stream, uint32_t *id, uint32_t *context_id);

/* ---- for a client of CUPTI inside the program (inject/cupti_client.h) ---- */

/* The library that we have subscribed to; NULL where we have not, or not yet.  The subscription, where we have. */
const struct gp_cupti *gp_session_shared(void);
CUpti_SubscriberHandle gp_session_subscriber(void);

/* CUPTI's time. */
uint64_t gp_session_now_ns(void);

#endif
