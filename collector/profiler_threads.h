/*
 * own_threads: which of the process's threads are the profiler's.  A program whose main thread has left by pthread_exit() ends
 * with its last thread: ours must not be what it goes on for.
 */
#ifndef COLLECTOR_OWN_THREADS_H
#define COLLECTOR_OWN_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* By a thread of the profiler's, at its very beginning and end. */
void gp_profiler_thread_begin(void);
void gp_profiler_thread_end(void);

/*
 * By whoever started one: wait until it has set the word and woken those who wait for it, as when it asks the system for nothing more to be
 * able to go on.  A program may forbid itself system calls next, by which a thread starts, too.  Not for long: what keeps it may be this thread.
 */
void gp_profiler_thread_await_start(uint32_t *has_begun);

/* By one that runs code of the program's from here on: what that does is recorded.  It still counts as ours: the program does not go on for it. */
void gp_profiler_thread_becomes_program(void);

/* Whether the calling thread is one, since its beginning. */
bool gp_profiler_thread_is_current(void);

/*
 * By a thread of ours: whether the main thread has ended, and all that are left are ours.  libc_threads: where the C library counts its
 * threads, or NULL; it is read where /proc cannot be, or must not be any more.  *may_change: false where neither tells, and none but the
 * caller is ours: then the C library ends the program by itself.
 */
bool gp_profiler_threads_are_last(const uint32_t *libc_threads, bool *may_change);

#endif
