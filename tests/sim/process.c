#include "tests/sim/device.h"

#include <stdlib.h>

static bool started, forked, ended;
static _Atomic bool failed;

static void in_child(void)
{
	forked = started;
}

static void at_exit(void)
{
	ended = true;
}

static void watch(void)
{
	pthread_atfork(NULL, NULL, in_child);
	atexit(at_exit);
	started = true;
}

void sim_started(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch);
}

bool sim_is_started(void)
{
	return started;
}

bool sim_forked(void)
{
	return forked;
}

void sim_fail(void)
{
	failed = true;
}

int sim_unusable(void)
{
	if (ended)
		return CUDA_ERROR_DEINITIALIZED;
	if (failed)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	return forked ? CUDA_ERROR_NOT_INITIALIZED : CUDA_SUCCESS;
}
