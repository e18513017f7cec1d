/*
 * recording: enables CUPTI's records and callbacks according to the options.
 *
 * Some are always on: definitions of devices, contexts and streams, creation and destruction of
 * contexts, and the calls that control needs.  All others are switched together, any number of
 * times, by any thread, also inside a callback.  No function blocks: two threads that switch
 * concurrently do not wait for each other.
 */
#ifndef INJECT_RECORDING_H
#define INJECT_RECORDING_H

#include <stdbool.h>

#include <cupti.h>

#include "inject/cupti_library.h"

/* Once, after cuptiSubscribe and before every other function; the caller keeps both objects. */
void gp_recording_init(const struct gp_cupti *cupti, CUpti_SubscriberHandle subscriber);

/*
 * Enable the permanent part.  Once, after the buffer callbacks are registered; returns CUPTI's
 * error.
 */
CUptiResult gp_recording_begin(void);

/*
 * Switch the others on or off.  If another thread is switching, that thread also does this, and the
 * call returns immediately.  Returns CUPTI's error if switching on failed; then a part may be on.
 * Not in a forked child.
 */
CUptiResult gp_recording_switch(bool on);

/*
 * The driver is initialized: enable the kinds that had to wait for it, now or with the others.
 * Like gp_recording_switch().
 */
void gp_recording_driver_is_ready(void);

/*
 * Whether the recording is off but records may still come, because a client wants or wanted them.
 */
bool gp_recording_is_for_client(void);

/* Whether GPU activity is recorded at all; whether kernels have records of CUPTI's. */
bool gp_recording_has_operations(void);
bool gp_recording_has_kernels(void);

/* Whether nodes of graphs are recorded, rather than whole graphs or no GPU activity. */
bool gp_recording_has_nodes(void);

/*
 * A CUPTI client inside the program has enabled kinds that we also record: everything stays on,
 * whatever the gate does.
 */
void gp_recording_want_for_client(bool wanted);

/*
 * While held: a client asks for whole graphs.  Graphs that are instantiated from now on never have
 * records of their nodes, so we use the records of whole graphs for them.
 */
void gp_recording_take_graphs(void);

/*
 * While held: enable, or no longer enable, callbacks for all calls in our table, so that the next
 * call is noticed whatever we record.
 */
void gp_recording_watch_calls(bool on);

/*
 * For changes by the client: hold, change, release; no thread switches meanwhile.  A switching
 * thread does not wait for the holder; the holder does its work afterwards.  False: others held it
 * for a second.  In a forked child, where no thread switches, false immediately.
 */
bool gp_recording_hold(void);
void gp_recording_release(bool held);

/* Disable every record, to leave CUPTI unchanged.  No other thread may be switching. */
void gp_recording_end(void);

#endif
