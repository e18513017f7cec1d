/*
 * recording_gate: whether this process is being recorded right now.
 *
 * While open, everything that the options name is recorded.  While closed, nothing is, and after a
 * while CUPTI is switched off, so that the program runs as without a profiler.  Work that started
 * while the gate was open is recorded to its end.
 *
 * Any thread opens and closes it, also inside a CUDA callback.  Concurrent callers never wait for
 * each other: one of them works until the gate is in the last requested state.  inject/control.h
 * decides when.
 */
#ifndef INJECT_RECORDING_GATE_H
#define INJECT_RECORDING_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/record.h"

/*
 * The time after closing during which CUPTI stays on: GPU records come late, and a loop that opens
 * and closes avoids the cost of switching.
 */
#define GP_RECORDING_GATE_LINGER_NS 200000000u

/*
 * Tasks of a callback besides recording its call; 0, the common case, means none.  GP_WATCH_CLOSED
 * belongs to the gate, the others to control.
 */
enum gp_watch {
	GP_WATCH_CLOSED = 1, /* the gate is closed: the call is excluded */
	GP_WATCH_GATE = 2,   /* the gate may move: ask gp_recording_gate_admits() for every call */
	GP_WATCH_PROFILER = 4,   /* cudaProfilerStart and cudaProfilerStop control the recording */
	GP_WATCH_BEFORE = 8,     /* launches are counted until the first window */
	GP_WATCH_WITHIN = 16,    /* launches are counted within a window */
	GP_WATCH_KERNELS = 32,   /* some kernels are excluded */
	GP_WATCH_SHORT = 64,     /* short calls are excluded */
	GP_WATCH_COUNTERS = 128, /* launches open and close windows (inject/counter_windows.h) */
	GP_WATCH_SAMPLE = 256,   /* calls are counted, for the budget of --sample */
	GP_WATCH_WINDOW = 512, /* such a window is open: CUPTI must tell the end of its launches */
};
extern uint32_t gp_watch __attribute__((visibility("hidden"))); /* one load, in every callback */

void gp_watch_set(uint32_t bits);
void gp_watch_clear(uint32_t bits);

/* Once, by the constructor, and whenever gpuprof is attached: the initial state. */
void gp_recording_gate_init(bool open);

/*
 * Once, as soon as CUPTI can be switched; switch_cupti is never called concurrently, nor in a
 * forked child.
 */
void gp_recording_gate_connect(void (*switch_cupti)(bool on));

/* Open or close.  Each change is a GP_RECORD_GATE in the trace. */
void gp_recording_gate_set(bool open, enum gp_gate_reason reason);

/* The last requested state. */
bool gp_recording_gate_is_open(void);

/* While held, CUPTI stays on after the gate was closed. */
void gp_recording_gate_hold(bool held);

/* Whether it is closed, and CUPTI is switched off. */
bool gp_recording_gate_is_off(void);

/* Whether it is open, or was at that time or later (gp_sys_now_ns()). */
bool gp_recording_gate_was_open_since(uint64_t since_ns);

/* Emit the state at the beginning of the trace as a GP_RECORD_GATE. */
void gp_recording_gate_emit_start(void);

/*
 * By the fetching thread, periodically: switch CUPTI off if the gate has been closed for long
 * enough, and no window of hardware counters is open.  Returns the remaining nanoseconds; UINT64_MAX if there is nothing to wait for.
 */
uint64_t gp_recording_gate_poll(uint64_t now_ns);

/*
 * Whether a call that the program enters is recorded.  A call and its GPU records arrive on
 * different threads at different times, so the correlation id decides for both: CUPTI counts
 * upwards.
 */
bool gp_recording_gate_admits(uint32_t correlation_id);

/*
 * Whether the call with this id was excluded, and with it its GPU records.  For the fetching
 * thread.
 */
bool gp_recording_gate_has_excluded(uint32_t correlation_id);

#endif
