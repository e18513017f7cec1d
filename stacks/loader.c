#include "stacks/loader.h"

#include <pthread.h>
#include <stdbool.h>

#include "collector/atomic.h"
#include "collector/sys.h"

#define ONE_FORK   0x10000u
#define PAUSE_NS   20000u
#define LONGEST_NS 10000000u

static uint32_t state; /* atomic: threads that fork, in the higher half, and threads that ask */

static void change(uint32_t amount)
{
	uint32_t old;

	do {
		old = gp_load32(&state);
	} while (!gp_replace32(&state, old, old + amount));
}

/* Neither waits for ever: the one who asks may be waited for by the one who forks, or interrupted by it.  False: it waited long enough. */
static bool wait_until(bool (*holds)(uint32_t state))
{
	uint64_t give_up_ns;

	if (holds(gp_load32_acquire(&state)))
		return true;
	give_up_ns = gp_sys_now_ns() + LONGEST_NS;
	while (gp_sys_now_ns() < give_up_ns) {
		gp_sys_sleep(PAUSE_NS);
		if (holds(gp_load32_acquire(&state)))
			return true;
	}
	return false;
}

/* ---- forking ---- */

static bool nobody_asks(uint32_t now)
{
	return now % ONE_FORK == 0;
}

static void before_fork(void)
{
	change(ONE_FORK);
	wait_until(nobody_asks);
}

static void after_fork(void)
{
	change(-ONE_FORK);
}

/* The others are not there. */
static void after_fork_in_child(void)
{
	gp_store32(&state, 0);
}

/* Early: what is registered first is called last before the fork, and first after it. */
static __attribute__((constructor)) void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* ---- asking ---- */

static bool nobody_forks(uint32_t now)
{
	return now < ONE_FORK;
}

static bool enter(void)
{
	uint32_t old;

	do {
		old = gp_load32(&state);
		if (!nobody_forks(old))
			return false;
	} while (!gp_replace32(&state, old, old + 1));
	return true;
}

void gp_loader_ask(gp_loader_look *look, void *user)
{
	while (!enter()) {
		if (wait_until(nobody_forks))
			continue;
		change(1);
		break;
	}
	dl_iterate_phdr(look, user);
	change((uint32_t)-1);
}
