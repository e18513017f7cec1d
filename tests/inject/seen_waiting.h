/*
 * seen_waiting: proves that one thread waits for another.  The other thread's work lasts until the
 * first thread sleeps, so no time is measured.  Call see_waiting(), then the waiting function;
 * end_waiting() returns whether it waited.
 */
#ifndef TESTS_INJECT_SEEN_WAITING_H
#define TESTS_INJECT_SEEN_WAITING_H

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#include "collector/atomic.h"
#include "collector/sys.h"
#include "tests/lib/sleeping.h"

static uint32_t is_inside, may_leave, has_left;
static pthread_t waited_for;
static long (*real_call)(long number, long a, long b, long c, long d, long e, long f);

/* Called in the other thread's function: lasts until the first thread sleeps. */
static inline void last(void)
{
	gp_store32_release(&is_inside, 1);
	while (!gp_load32_acquire(&may_leave))
		sched_yield();
	gp_store32_release(&has_left, 1);
}

/* Releases the other thread when the waiting thread sleeps, and not before. */
static inline long let_go_in_sleep(long number, long a, long b, long c, long d, long e, long f)
{
	if (is_sleep(number, a, b))
		gp_store32_release(&may_leave, 1);
	return real_call(number, a, b, c, d, e, f);
}

/* Starts a thread that runs the function up to last().  From then on sleeps are observed. */
static inline void see_waiting(void *(*run)(void *))
{
	assert_int_equal(pthread_create(&waited_for, NULL, run, NULL), 0);
	while (!gp_load32_acquire(&is_inside))
		sched_yield();
	real_call = gp_sys.call;
	gp_sys.call = let_go_in_sleep;
}

static inline void end_waiting(void)
{
	gp_sys.call = real_call;
	assert_true(gp_load32_acquire(&has_left));
	pthread_join(waited_for, NULL);
}

#endif
