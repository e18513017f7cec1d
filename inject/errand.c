#include "inject/errand.h"

#include <pthread.h>

#include "collector/atomic.h"
#include "collector/own_threads.h"
#include "collector/sys.h"

enum state {
	READY,
	SENT,
	RUNNING,
	CLOSED,
};

static struct {
	uint32_t state; /* enum state; the thread sleeps on it */
	uint32_t has_begun;
	uint32_t errand; /* whoever makes it SENT sets it */
	void (*run)(uint32_t errand);
	void (*wake)(void);
} errands;

static void *run_errands(void *unused)
{
	uint32_t state;

	gp_own_thread_begins();
	pthread_setname_np(pthread_self(), "gpuprof-flush");
	gp_store32_release(&errands.has_begun, 1);
	gp_sys_wake(&errands.has_begun);
	while ((state = gp_load32_acquire(&errands.state)) != CLOSED) {
		if (state != SENT || !gp_replace32(&errands.state, SENT, RUNNING)) {
			gp_sys_wait(&errands.state, state, UINT64_MAX);
			continue;
		}
		errands.run(errands.errand);
		/* pairs with gp_errand_is_back(): what it has left is complete */
		gp_replace32(&errands.state, RUNNING, READY);
		errands.wake();
	}
	gp_own_thread_ends();
	return unused;
}

int gp_errand_begin(void (*run)(uint32_t errand), void (*wake)(void))
{
	pthread_t thread;
	int error;

	errands.run = run;
	errands.wake = wake;
	error = gp_sys.thread(&thread, run_errands);
	if (error != 0)
		return error;
	pthread_detach(thread);
	gp_own_thread_await(&errands.has_begun);
	return 0;
}

bool gp_errand_send(uint32_t errand)
{
	if (gp_load32(&errands.state) != READY)
		return false;
	errands.errand = errand;
	/* orders the line above before it */
	if (!gp_replace32(&errands.state, READY, SENT))
		return false;
	gp_sys_wake(&errands.state);
	return true;
}

bool gp_errand_is_back(void)
{
	return gp_load32_acquire(&errands.state) == READY;
}

bool gp_errand_is_awaited(void)
{
	return gp_load32(&errands.state) == RUNNING;
}

void gp_errand_close(void)
{
	gp_swap32(&errands.state, CLOSED);
	gp_sys_wake(&errands.state);
}
