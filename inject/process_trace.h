/*
 * process_trace: the trace of this process: begins with the first recorded event, is reported to
 * gpuprof-run, and is closed at the end.
 *
 * A forked child may have its own trace, even if its parent has one: nothing of the parent's is
 * touched.
 */
#ifndef INJECT_PROCESS_TRACE_H
#define INJECT_PROCESS_TRACE_H

#include <stdbool.h>

#include "gpuprof/record.h"

/*
 * By the constructor: set the function to call at quick_exit() in a process with a trace; NULL =
 * none.
 */
void gp_process_trace_init(void (*on_leave)(void));

/*
 * By the source of the first recorded event: CUDA's first context, the first range.  The first call
 * creates the trace (some ms), concurrent calls wait for it, and later calls cost two loads.  The
 * first call after a fork that paused the collector resumes it.  Returns whether there is a trace; a failure was logged.  Any thread; preserves errno.
 */
bool gp_process_trace_start(void);

/*
 * Whether this very process records: false in every child that has not started a trace, also in a
 * child of vfork().
 */
bool gp_process_trace_is_live(void);

/*
 * Record for the trace how this process is about to end; no effect without a trace.  Determines the
 * status of exit() by itself.
 */
void gp_process_trace_ends(enum gp_end_way way, int status);

/* The same, and while the trace is being closed. */
bool gp_process_trace_is_unfinished(void);

/* The program code that runs after the end of its trace. */
enum gp_followed_by {
	GP_FOLLOWED_BY_NOTHING,  /* _exit() */
	GP_FOLLOWED_BY_HANDLERS, /* handlers of its end: destructors, or quick_exit() handlers */
	GP_FOLLOWED_BY_PROGRAM,  /* the next program, or this one if the exec fails */
};

/*
 * Stop recording.  Completes the trace, after complete() if this process records, and finishes it
 * unless gpuprof-run does.  The first caller does it; others wait.  Also in a signal handler.
 * Signals are held meanwhile (gp_sys_hold_signals()) and delivered afterwards, except those of
 * timers at an end (docs/reference/limits.md), and none before _exit().
 */
void gp_process_trace_close(void (*complete)(void), enum gp_followed_by followed_by);

/*
 * After gp_process_trace_close(), in a process that runs on: gp_process_trace_start() may begin
 * another trace.
 */
void gp_process_trace_forget(void);

/* Record this process alone: its forked children get no recordings. */
void gp_process_trace_confine(void);

/*
 * Whether gpuprof-run handles everything that concerns the whole process tree: option errors, the
 * summary, the Chrome trace.
 */
bool gp_process_trace_in_session(void);

/*
 * Report to gpuprof-run, if possible, a reason for a missing trace: a GP_SESSION_... name.
 * Preserves errno.
 */
void gp_process_trace_report(const char *what);

#endif
