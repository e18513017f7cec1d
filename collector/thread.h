/*
 * thread: how a program thread hands records over (gp_emit() and its companions of
 * collector/collector.h).
 *
 * Each thread has a ring of its own from its first record on, until it ends.  A record that cannot
 * go there (no ring is free, the thread is ending, a signal handler interrupted another record)
 * takes the shared ring, under a lock that nobody waits long for.
 *
 * A word that becomes zero in forked children says that the collector is live; every function looks at it before
 * anything else, because a child has neither rings nor writer.  It numbers the recordings: a child that starts one of its
 * own gives it the next number, and what its thread kept of the parent's is forgotten.
 */
#ifndef COLLECTOR_THREAD_H
#define COLLECTOR_THREAD_H

#include "collector/arena.h"
#include "collector/eventcount.h"

/* Writer, before gp_thread_go_live(): take the first ring as the shared one. */
void gp_thread_set_up(struct gp_arena *arena, struct gp_eventcount *wakeup,
		      enum gp_overload on_overload);

/* From here on records are taken, and until gp_thread_go_dead(). */
void gp_thread_go_live(void);
void gp_thread_go_dead(void);

#endif
