/*
 * own_threads: which of the process's threads are the profiler's.  A program whose main thread has left by pthread_exit() ends
 * with its last thread: ours must not be what it goes on for.
 */
#ifndef COLLECTOR_OWN_THREADS_H
#define COLLECTOR_OWN_THREADS_H

#include <stdbool.h>

/* By a thread of the profiler's, at its very beginning and end. */
void gp_own_thread_begins(void);
void gp_own_thread_ends(void);

/* Whether the main thread has ended, and all that are left are ours.  *is_known: false where /proc cannot be read, or must not be any more. */
bool gp_own_threads_are_all(bool *is_known);

#endif
