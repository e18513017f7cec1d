/*
 * profiler_threads: counts the profiler's own threads of the process.
 *
 * A program whose main thread has left by pthread_exit() ends with its last thread: profiler
 * threads must not keep it alive.
 */
#ifndef COLLECTOR_PROFILER_THREADS_H
#define COLLECTOR_PROFILER_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* By a profiler thread, at its very beginning and end. */
void gp_profiler_thread_begin(void);
void gp_profiler_thread_end(void);

/*
 * By the creator of a profiler thread: wait until the thread has set the word and woken its
 * waiters, for example when its startup makes no more system calls.  The program may install a
 * seccomp filter next, which would break a starting thread.  The wait is bounded, because the
 * thread may depend on this one.
 */
void gp_profiler_thread_await_start(uint32_t *has_begun);

/*
 * By a profiler thread that runs program code from here on, which is recorded.  The thread still
 * counts as the profiler's and does not keep the program alive.
 */
void gp_profiler_thread_becomes_program(void);

/* Whether the calling thread is a profiler thread. */
bool gp_profiler_thread_is_current(void);

/*
 * By a profiler thread: whether the main thread has ended and only profiler threads are left.
 * libc_threads: the C library's thread counter, or NULL; it is used if /proc is unreadable or
 * forbidden.  *may_change: false if neither source is available and the caller is the only profiler
 * thread: then the C library ends the program by itself.
 */
bool gp_profiler_threads_are_last(const uint32_t *libc_threads, bool *may_change);

#endif
