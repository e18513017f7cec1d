/*
 * gate: whether this process is being recorded right now.
 *
 * Open, everything that the options name is recorded.  Closed, nothing is, and after a while CUPTI is asked for nothing any
 * more, so that the program runs as if we were not there.  What was started while the gate was open is recorded to its end.
 *
 * Any thread opens and closes it, also inside a CUDA callback.  Two that do so at once never wait for each other: one of
 * them does the work until the gate is as it was asked for last.  inject/control.h decides when.
 */
#ifndef INJECT_GATE_H
#define INJECT_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/record.h"

/* How long after closing CUPTI goes on as before: GPU records come late, and a loop that opens and closes pays no switching. */
#define GP_RECORDING_GATE_LINGER_NS 200000000u

/*
 * What a callback has to look at besides recording its call; 0, the usual case, is nothing.  GP_WATCH_CLOSED belongs to
 * the gate, the others to control.
 */
enum gp_watch {
	GP_WATCH_CLOSED = 1, /* the gate is closed: the call is left out */
	GP_WATCH_GATE =
		2, /* the gate may move: gp_recording_gate_admits() is to be asked of every call */
	GP_WATCH_PROFILER = 4, /* cudaProfilerStart and cudaProfilerStop mean something */
	GP_WATCH_BEFORE = 8,   /* launches are counted until the first window */
	GP_WATCH_WITHIN = 16,  /* launches are counted within a window */
	GP_WATCH_KERNELS = 32, /* not all kernels are recorded */
	GP_WATCH_SHORT = 64,   /* short calls are not recorded */
};
extern uint32_t gp_watch __attribute__((visibility("hidden"))); /* one load, in every callback */

void gp_watch_set(uint32_t bits);
void gp_watch_clear(uint32_t bits);

/* Once, by the constructor: open or closed at the beginning. */
void gp_recording_gate_init(bool open);

/* Once, as soon as there is something to switch; switch_cupti is never called by two threads at once, nor in a forked child. */
void gp_recording_gate_connect(void (*switch_cupti)(bool on));

/* Open or close.  Each change is a GP_RECORD_GATE in the trace. */
void gp_recording_gate_set(bool open, enum gp_gate_reason reason);

/* What it was set to last. */
bool gp_recording_gate_is_open(void);

/* The state at the beginning of the trace, as a GP_RECORD_GATE. */
void gp_recording_gate_emit_start(void);

/* By the fetching thread, now and then: switch CUPTI off where the gate has been closed for long enough.  Returns for how
 * many nanoseconds more it is to wait; UINT64_MAX if there is nothing to wait for. */
uint64_t gp_recording_gate_poll(uint64_t now_ns);

/*
 * Whether a call that the program enters is to be recorded.  Calls and the GPU records that they cause come on different
 * threads at different times, so it is the number of the call that decides for both: CUPTI counts upwards.
 */
bool gp_recording_gate_admits(uint32_t correlation_id);

/* Whether the call with this number was left out: its GPU record is, too.  For the fetching thread. */
bool gp_recording_gate_has_left_out(uint32_t correlation_id);

#endif
