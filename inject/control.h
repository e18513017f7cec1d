/*
 * control: decides when the gate is open, by the options for it, and which calls are recorded while it is.
 *
 * A window, the time from opening to closing, begins when the delay is over, so many launches have been made, and, where
 * --capture-range names one, a range begins.  It ends with the range, or after --duration, or after --launches.  Every
 * range makes a window of its own, up to --capture-repeat.  A signal, or gpuprof_start() and gpuprof_stop(), open and
 * close regardless.
 *
 * Everything may be called by any thread, and without any of the options does nothing.
 */
#ifndef INJECT_CONTROL_H
#define INJECT_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

#include "inject/api_table.h"
#include "inject/recording_gate.h"

/* By the constructor, after the options are read. */
void gp_control_init(void);

/* Whether this process is to be recorded at all, by --processes. */
bool gp_control_wants_process(void);

/* Whenever a trace begins. */
void gp_control_begin_trace(void);

/* Once, before the fetching thread starts.  wake() wakes the fetching thread; it is called on any thread, in a signal handler, too. */
void gp_control_begin(void (*wake)(void));

/* By the fetching thread: whatever is due.  Returns the nanoseconds after which to call again at the latest. */
uint64_t gp_control_pass(uint64_t now_ns);

/* ---- for callbacks; to be called only where gp_watch is not 0 ---- */

/* The calls whose callbacks are needed also while the gate is closed. */
bool gp_control_needs(const struct gp_api_entry *entry);

/* The program enters a call.  False: it is left out. */
bool gp_control_enter(const struct gp_api_entry *entry, const CUpti_CallbackData *data);

/* It leaves a call, also one that was left out. */
void gp_control_exit(const struct gp_api_entry *entry);

/* Whether a call of this enum gp_api_class is long enough to be recorded. */
bool gp_control_keeps(uint8_t class, bool failed, uint64_t duration_ticks);

/* ---- for GPU records, on the fetching thread ---- */

/* Whether a kernel of this mangled name is recorded. */
bool gp_control_wants_kernel(const char *name);

/* ---- other triggers ---- */

/* Whether --capture-range names NVTX ranges, and these among them; domain is "" for the default domain. */
bool gp_control_wants_ranges(void);
bool gp_control_wants_range(const char *name, const char *domain);

/* Such a range begins, or ends; ranges that overlap are one. */
void gp_control_begin_range(void);
void gp_control_end_range(void);

/* gpuprof_start() and gpuprof_stop(). */
void gp_control_switch(bool on);

#endif
