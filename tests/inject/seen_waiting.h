/*
 * seen_waiting: proves that one thread waits for another.  The other thread's work lasts until the
 * first one sleeps, so neither is timed: call see_waiting(), then the waiting function;
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

/* In the function of the other thread's. */
static inline void last(void)
{
	gp_store32_release(&is_inside, 1);
	while (!gp_load32_acquire(&may_leave))
		sched_yield();
	gp_store32_release(&has_left, 1);
}

/* The waiting thread lets the other go on when it sleeps, and not before. */
static inline long let_go_in_sleep(long number, long a, long b, long c, long d, long e, long f)
{
	if (is_sleep(number, a, b))
		gp_store32_release(&may_leave, 1);
	return real_call(number, a, b, c, d, e, f);
}

/* A thread runs the code up to last(); from then on sleeping is watched. */
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
