/*
 * process_trace: the trace of this process: begins with whatever is first to be recorded, is made known to gpuprof-run,
 * and is closed at the end.
 *
 * A forked child may have one of its own, also where its parent has one: nothing of the parent's is touched.
 */
#ifndef INJECT_PROCESS_TRACE_H
#define INJECT_PROCESS_TRACE_H

#include <stdbool.h>

#include "gpuprof/record.h"

/* What is to be called at quick_exit(), in a process that has a trace; NULL = nothing.  By the constructor. */
void gp_process_trace_init(void (*on_leave)(void));

/*
 * To be called by what is first to be recorded: CUDA's first context, the first range.  The first call makes the trace
 * (some ms), others wait for it, and from then on it costs two loads.
 * Returns whether there is a trace to record to; where it could not be made, one line has said so.  Any thread; keeps errno.
 */
bool gp_process_trace_start(void);

/* Whether this very process records: false in every child that has not started a trace, also in one of vfork(). */
bool gp_process_trace_is_here(void);

/*
 * How this process is about to end, for its trace; in a process that has none it does nothing.  With which status exit() was called is found
 * out here.
 */
void gp_process_trace_ends(enum gp_end_way way, int status);

/* The same, and while it is being closed. */
bool gp_process_trace_is_unfinished(void);

/* What of the program's follows the end of its trace. */
enum gp_followed_by {
	GP_FOLLOWED_BY_NOTHING,  /* _exit() */
	GP_FOLLOWED_BY_HANDLERS, /* of its end: destructors, or what quick_exit() calls */
	GP_FOLLOWED_BY_PROGRAM,  /* the next one, or this one where the exec fails */
};

/*
 * Nothing is recorded any more.  The trace gets its end, after complete() if this process records, and is finished where gpuprof-run is not there to.  Once, by
 * whoever comes first; others wait for that.  Also in a signal handler.  Meanwhile signals are held (gp_sys_hold_signals()): they come then, but for those of
 * timers at an end (docs/reference/limits.md), and none behind _exit().
 */
void gp_process_trace_close(void (*complete)(void), enum gp_followed_by followed_by);

/* Whether gpuprof-run does what concerns the whole tree: complaints about options, the summary, the Chrome trace. */
bool gp_process_trace_in_session(void);

/* Tell gpuprof-run, if it is there, what may be why there is no trace: a GP_SESSION_... name.  Keeps errno. */
void gp_process_trace_tell(const char *what);

#endif
