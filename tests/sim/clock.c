#include "tests/sim/device.h"

#include <time.h>

#define NS_PER_S UINT64_C(1000000000)
#define SPIN_NS 20000 /* below this a sleep would overshoot by more than it saves */

static uint64_t realtime_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC at the first reading */
static bool started;
static bool forked;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void read_offset(void)
{
	realtime_offset_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
}

uint64_t sim_now_ns(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_offset);
	return clock_ns(CLOCK_MONOTONIC) + realtime_offset_ns;
}

void sim_wait_until_ns(uint64_t when)
{
	uint64_t now = sim_now_ns();

	if (when > now + SPIN_NS) {
		uint64_t until = when - realtime_offset_ns;
		struct timespec t = { .tv_sec = (time_t)(until / NS_PER_S),
				      .tv_nsec = (long)(until % NS_PER_S) };

		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
			;
	}
	while (sim_now_ns() < when)
		;
}

static void in_child(void)
{
	forked = started;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

void sim_started(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
	started = true;
}

bool sim_forked(void)
{
	return forked;
}
