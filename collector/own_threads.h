/*
 * own_threads: which of the process's threads are the profiler's.  A program whose main thread has left by pthread_exit() ends
 * with its last thread: ours must not be what it goes on for.
 */
#ifndef COLLECTOR_OWN_THREADS_H
#define COLLECTOR_OWN_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* By a thread of the profiler's, at its very beginning and end. */
void gp_own_thread_begins(void);
void gp_own_thread_ends(void);

/*
 * By whoever started one: wait until it has set the word and woken those who wait for it, as when it asks the system for nothing more to be
 * able to go on.  A program may forbid itself system calls next, by which a thread starts, too.  Not for long: what keeps it may be this thread.
 */
void gp_own_thread_await(uint32_t *has_begun);

/* By one that runs code of the program's from here on: what that does is recorded.  It still counts as ours: the program does not go on for it. */
void gp_own_thread_becomes_programs(void);

/* Whether the calling thread is one, since its beginning. */
bool gp_own_thread_is_this(void);

/*
 * By a thread of ours: whether the main thread has ended, and all that are left are ours.  libc_threads: where the C library counts its
 * threads, or NULL; it is read where /proc cannot be, or must not be any more.  *may_change: false where neither tells, and none but the
 * caller is ours: then the C library ends the program by itself.
 */
bool gp_own_threads_are_all(const uint32_t *libc_threads, bool *may_change);

#endif
