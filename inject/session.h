/*
 * session: our CUPTI session, from cuInit to exit.
 *
 * Subscribes, enables records and callbacks, fetches GPU records from CUPTI on a thread of our own,
 * and passes them to the collector.  One session per process; a forked child never makes a CUPTI
 * call.
 */
#ifndef INJECT_SESSION_H
#define INJECT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

#include "inject/cupti_library.h"

/* The session calls this once, when the process creates its first context. */
typedef void (*gp_session_first_context)(void);

/*
 * To be called inside cuInit.  Loads libcupti, subscribes, enables callbacks and records.  On
 * failure logs a line and returns -errno: the program then runs unprofiled.
 */
int gp_session_start(gp_session_first_context first_context);

/*
 * After gp_session_start() in a program that uses CUDA already: the contexts that exist count as
 * created now.  Returns whether there are any; else first_context() comes with the first one.  Outside
 * of callbacks.
 */
bool gp_session_adopt_contexts(void);

/*
 * After the gate was closed: wait until the launches before have their records, at most so long.
 * CUPTI must stay on meanwhile (gp_recording_gate_hold()).
 */
void gp_session_await_records(uint64_t most_ns);

/*
 * After gp_session_finish(), in a process that runs on: undo gp_session_start(), which may come
 * again.  Outside of callbacks.
 */
void gp_session_leave(void);

/* Start the fetching thread; the collector may or may not be running.  Returns 0 or -errno. */
int gp_session_start_fetching(void);

/* Emit facts about CUPTI and the driver. */
void gp_session_emit_facts(void);

/*
 * At exit, once, before the driver shuts down: fetch all GPU records and the driver's memory usage
 * on our own thread, waiting at most timeout_ns for it.  No CUPTI call is made afterwards.  Not in
 * a forked child.
 */
void gp_session_finish(uint64_t timeout_ns);

/*
 * CUPTI's id of a context, 0 = unknown.  On a thread of the program, outside callbacks; 0 in a
 * forked child.
 */
uint32_t gp_session_context_id(const void *context);

/* CUPTI's ids of a stream and of its context.  False: unknown.  Like gp_session_context_id(). */
bool gp_session_stream_id(const void *stream, uint32_t *id, uint32_t *context_id);

/* ---- for a client of CUPTI inside the program (inject/cupti_client.h) ---- */

/*
 * The library that we have subscribed to; NULL if we have not, or not yet.  The subscription, if
 * any.
 */
const struct gp_cupti *gp_session_shared(void);
CUpti_SubscriberHandle gp_session_subscriber(void);

/* CUPTI's time. */
uint64_t gp_session_now_ns(void);

#endif
