#include "tests/sim/device.h"

#include <time.h>

#define NS_PER_S UINT64_C(1000000000)
#define SPIN_NS  20000 /* shorter waits spin: a sleep would overshoot by more than it saves */

#define STEP_AFTER_NS (NS_PER_S + NS_PER_S / 5)

static uint64_t realtime_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC at the first reading */
static uint64_t first_ns;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void read_offset(void)
{
	first_ns = clock_ns(CLOCK_REALTIME);
	realtime_offset_ns = first_ns - clock_ns(CLOCK_MONOTONIC);
}

uint64_t sim_now_ns(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_offset);
	return clock_ns(CLOCK_MONOTONIC) + realtime_offset_ns;
}

uint64_t sim_since_monotonic_ns(void)
{
	sim_now_ns(); /* reads the offset */
	return realtime_offset_ns;
}

uint64_t sim_wall_clock_ns(uint64_t when)
{
	bool is_set = when > first_ns + STEP_AFTER_NS;

	return when + (is_set ? (uint64_t)sim_config()->clock_step_ns : 0);
}

static struct timespec monotonic(uint64_t when)
{
	uint64_t ns = when - realtime_offset_ns;

	return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S),
				 .tv_nsec = (long)(ns % NS_PER_S)};
}

void sim_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attributes);
	pthread_condattr_destroy(&attributes);
}

void sim_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t when)
{
	struct timespec t = monotonic(when);

	pthread_cond_timedwait(cond, lock, &t);
}

void sim_wait_until_ns(uint64_t when)
{
	if (when > sim_now_ns() + SPIN_NS) {
		struct timespec t = monotonic(when);

		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
			;
	}
	while (sim_now_ns() < when)
		;
}
