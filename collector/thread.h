/*
 * thread: passes records of program threads to the writer (gp_emit() and related functions of
 * collector/collector.h).
 *
 * Each thread has its own ring from its first record until it ends.  A record that cannot use it
 * (no ring is free, the thread is ending, a signal handler interrupted another record) goes to the
 * shared ring, under a lock with a bounded wait.
 *
 * A word that is zero in forked children is nonzero while the collector is live.  Every function
 * checks it first, because a child has neither rings nor writer.  The word is the number of the
 * recording: a child that starts its own uses the next number, and the inherited state of its
 * thread is discarded.
 */
#ifndef COLLECTOR_THREAD_H
#define COLLECTOR_THREAD_H

#include "collector/arena.h"
#include "collector/eventcount.h"

/* Writer, before gp_thread_go_live(): take the first ring as the shared one. */
void gp_thread_set_up(struct gp_arena *arena, struct gp_eventcount *wakeup,
		      enum gp_overload on_overload);

/* Accept records until gp_thread_go_dead(). */
void gp_thread_go_live(void);
void gp_thread_go_dead(void);

#endif
