/*
 * recording: what CUPTI is asked for, by the options: records of the GPU's work, and callbacks in the program's calls.
 *
 * One part is on from the beginning to the end: what defines devices, contexts and streams, the birth and end of
 * contexts, and the calls that control needs.  All the rest is switched on and off together, as often as one likes, by any thread and also inside a
 * callback.  Nothing here waits: two threads that switch at a time do not get in each other's way.
 */
#ifndef INJECT_RECORDING_H
#define INJECT_RECORDING_H

#include <stdbool.h>

#include <cupti.h>

#include "inject/cupti_library.h"

/* To be called once, after cuptiSubscribe and before every other function; both arguments stay the caller's. */
void gp_recording_init(const struct gp_cupti *cupti, CUpti_SubscriberHandle subscriber);

/* Enable what is always on.  Once, after the buffer callbacks are registered; an error of CUPTI is returned. */
CUptiResult gp_recording_begin(void);

/*
 * Switch the rest on or off.  Where another thread is doing so at this moment, it does this, too, and the call returns
 * at once.  Returns CUPTI's error where switching on failed, and then some of it may be on.  Not in a forked child.
 */
CUptiResult gp_recording_switch(bool on);

/* The driver has been initialised: what must wait for it is enabled, now or when the rest is.  As gp_recording_switch(). */
void gp_recording_driver_is_ready(void);

/* Whether it was switched off, and there may be records all the same, which a client wants or wanted. */
bool gp_recording_is_for_client(void);

/* Whether what the device does is recorded at all. */
bool gp_recording_has_operations(void);

/* Whether nodes of graphs are recorded, rather than whole graphs or nothing of the device. */
bool gp_recording_has_nodes(void);

/* A client of CUPTI inside the program has enabled kinds of records that we have: all stays on, whatever the gate does. */
void gp_recording_want_for_client(bool wanted);

/*
 * To be held: a client asks for whole graphs.  What is instantiated meanwhile never has records of its nodes again, so that
 * we take those of whole graphs from now on, where there are no nodes.
 */
void gp_recording_take_graphs(void);

/* To be held: have callbacks for all calls in our table from now on, so that the next one is noticed whatever we record; or no longer. */
void gp_recording_watch_calls(bool on);

/*
 * For what the client changes by itself: hold, change, release, and nobody switches meanwhile.  Whoever switches does not
 * wait for the holder; the holder does it afterwards.  Held for a second by others, it is not waited for any longer: false.  In a
 * forked child, where nobody switches, false at once.
 */
bool gp_recording_hold(void);
void gp_recording_release(bool held);

/* Disable every record, to leave CUPTI as if we had never asked.  No other thread may be switching. */
void gp_recording_end(void);

#endif
