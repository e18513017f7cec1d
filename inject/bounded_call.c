#include "inject/bounded_call.h"

#include <pthread.h>

#include "collector/atomic.h"
#include "collector/profiler_threads.h"
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
	uint32_t call; /* set by the caller that sets SENT */
	void (*run)(uint32_t call);
	void (*wake)(void);
} bounded;

static void *run_bounded_calls(void *unused)
{
	uint32_t state;

	gp_profiler_thread_begin();
	pthread_setname_np(pthread_self(), "gpuprof-flush");
	gp_store32_release(&bounded.has_begun, 1);
	gp_sys_wake(&bounded.has_begun);
	while ((state = gp_load32_acquire(&bounded.state)) != CLOSED) {
		if (state != SENT || !gp_replace32(&bounded.state, SENT, RUNNING)) {
			gp_sys_wait(&bounded.state, state, UINT64_MAX);
			continue;
		}
		bounded.run(bounded.call);
		/* pairs with gp_bounded_call_is_done(): the results of the call are complete */
		gp_replace32(&bounded.state, RUNNING, READY);
		bounded.wake();
	}
	gp_profiler_thread_end();
	return unused;
}

int gp_bounded_call_begin(void (*run)(uint32_t call), void (*wake)(void))
{
	pthread_t thread;
	int error;

	bounded.state = READY;
	bounded.has_begun = 0;
	bounded.run = run;
	bounded.wake = wake;
	error = gp_sys.thread(&thread, run_bounded_calls);
	if (error != 0)
		return error;
	pthread_detach(thread);
	gp_profiler_thread_await_start(&bounded.has_begun);
	return 0;
}

bool gp_bounded_call_send(uint32_t call)
{
	if (gp_load32(&bounded.state) != READY)
		return false;
	bounded.call = call;
	/* orders the store above before it */
	if (!gp_replace32(&bounded.state, READY, SENT))
		return false;
	gp_sys_wake(&bounded.state);
	return true;
}

bool gp_bounded_call_is_done(void)
{
	return gp_load32_acquire(&bounded.state) == READY;
}

bool gp_bounded_call_is_wanted(void)
{
	return gp_load32(&bounded.state) == RUNNING;
}

void gp_bounded_call_close(void)
{
	gp_swap32(&bounded.state, CLOSED);
	gp_sys_wake(&bounded.state);
}
