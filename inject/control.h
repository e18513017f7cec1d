/*
 * control: decides when the recording gate is open, and which calls are recorded while it is.
 *
 * A window lasts from opening to closing.  It begins when the delay is over, the number of launches
 * is reached and, with --capture-range, a range begins.  It ends with the range, or after
 * --duration or --launches.  Every range makes a window of its own, after --capture-skip and
 * up to --capture-repeat.  A signal, gpuprof_start() and gpuprof_stop() open and close regardless.
 *
 * --sample is one more condition for a window, which is met again and again: after each window once
 * inject/sample_budget.h allows the next one.  With --capture-range such a window begins with a
 * range, goes on from range to range, and ends with the first one that ends after its time.
 *
 * Any thread may call any function; without these options they do nothing.
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

/*
 * The same when gpuprof is attached to a running program: the gate is closed.  gp_control_attach(),
 * once the trace has begun, opens it unless an option does so later.  gp_control_detach() closes it
 * for good.
 */
void gp_control_init_attached(void);
void gp_control_attach(void);
void gp_control_detach(void);

/* Whether --processes and --ranks include this process. */
bool gp_control_wants_process(void);

/* When a trace begins. */
void gp_control_begin_trace(void);

/*
 * Once, before the fetching thread starts.  wake() wakes the fetching thread; any thread calls it,
 * also in a signal handler.
 */
void gp_control_begin(void (*wake)(void));

/*
 * By the fetching thread: do all due work.  Returns the maximum number of nanoseconds until the
 * next call.
 */
uint64_t gp_control_pass(uint64_t now_ns);

/* ---- for callbacks; only if gp_watch is not 0 ---- */

/* Whether the callbacks of a call are needed even while the gate is closed. */
bool gp_control_needs(const struct gp_api_entry *entry);

/* The program enters a call.  False: the call is excluded. */
bool gp_control_enter(const struct gp_api_entry *entry, const CUpti_CallbackData *data);

/* The program leaves a call, included or not. */
void gp_control_exit(const struct gp_api_entry *entry);

/* Whether a call of this enum gp_api_class is long enough to be recorded. */
bool gp_control_keeps(uint8_t class, bool failed, uint64_t duration_ticks);

/* ---- for GPU records, on the fetching thread ---- */

/* Whether a kernel with this mangled name is recorded. */
bool gp_control_wants_kernel(const char *name);

/* ---- other triggers ---- */

/*
 * Whether --capture-range names NVTX ranges; whether it names this one.  domain is "" for the
 * default domain.
 */
bool gp_control_wants_ranges(void);
bool gp_control_wants_range(const char *name, const char *domain);

/* Such a range begins or ends; overlapping ranges count as one. */
void gp_control_begin_range(void);
void gp_control_end_range(void);

/* gpuprof_start() and gpuprof_stop(). */
void gp_control_switch(bool on);

#endif
