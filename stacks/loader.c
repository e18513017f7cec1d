#include "stacks/loader.h"

#include <pthread.h>
#include <stdbool.h>

#include "collector/atomic.h"
#include "collector/sys.h"

#define ONE_FORK         0x10000u
#define FIRST_PAUSE_NS   20000u
#define LONGEST_PAUSE_NS 2000000u
#define PAUSES                                                                                     \
	500 /* over a second; each pause yields to the other side, however busy the machine is */

/* atomic: number of forking threads in the upper half, of iterating threads in the lower */
static uint32_t state;
/*
 * atomic: number of iterating threads that will never finish, because a signal handler jumped out:
 * a fork waited for them until its time limit
 */
static uint32_t lost;

/*
 * The operations that this thread itself is inside: a signal handler or fork handler must not wait
 * for its own thread.
 */
static __thread struct {
	uint32_t iterations;
	uint32_t forks;
} own __attribute__((tls_model("initial-exec")));

static void change(uint32_t amount)
{
	uint32_t old;

	do {
		old = gp_load32(&state);
	} while (!gp_replace32(&state, old, old + amount));
}

/* Both waits are bounded, because the two sides may wait for each other.  False: timed out. */
static bool wait_until(bool (*holds)(uint32_t state))
{
	uint64_t pause_ns = FIRST_PAUSE_NS;

	for (int i = 0; i < PAUSES; i++) {
		if (holds(gp_load32_acquire(&state)))
			return true;
		gp_sys_sleep(pause_ns);
		if (pause_ns < LONGEST_PAUSE_NS)
			pause_ns *= 2;
	}
	return false;
}

/* ---- forking ---- */

static bool no_other_iterates(uint32_t now)
{
	return now % ONE_FORK <= own.iterations + gp_load32(&lost);
}

/*
 * A thread that finishes now was slow, not lost.  Without the correction, forks would not wait for
 * another iterating thread.
 */
static void correct_lost(void)
{
	uint32_t iterations = gp_load32(&state) % ONE_FORK;

	if (gp_load32(&lost) > iterations)
		gp_store32(&lost, iterations);
}

static void before_fork(void)
{
	own.forks++;
	change(ONE_FORK);
	if (!wait_until(no_other_iterates))
		gp_store32(&lost, gp_load32(&state) % ONE_FORK - own.iterations);
}

static void after_fork(void)
{
	change(-ONE_FORK);
	own.forks--;
}

/* The other threads do not exist in the child. */
static void after_fork_in_child(void)
{
	gp_store32(&state, own.iterations);
	gp_store32(&lost, 0);
	own.forks--;
}

/* Registered early: the first registered handler runs last before the fork, and first after it. */
static __attribute__((constructor)) void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* ---- iterating ---- */

static bool no_thread_forks(uint32_t now)
{
	return now < ONE_FORK;
}

static bool enter(void)
{
	uint32_t old;

	do {
		old = gp_load32(&state);
		if (!no_thread_forks(old))
			return false;
	} while (!gp_replace32(&state, old, old + 1));
	return true;
}

static bool iterate(gp_loader_visitor *visitor, void *user)
{
	if (!enter())
		return false;
	own.iterations++;
	dl_iterate_phdr(visitor, user);
	own.iterations--;
	change((uint32_t)-1);
	correct_lost();
	return true;
}

bool gp_loader_iterate_quick(gp_loader_visitor *visitor, void *user)
{
	while (!iterate(visitor, user))
		if (own.forks != 0 || !wait_until(no_thread_forks))
			return false;
	return true;
}

bool gp_loader_iterate(gp_loader_visitor *visitor, void *user)
{
	uint64_t signals = gp_sys_hold_signals(0);
	bool iterated = gp_loader_iterate_quick(visitor, user);

	gp_sys_let_signals(signals);
	return iterated;
}
