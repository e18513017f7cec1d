#include "collector/process_state.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/sys.h"

struct gp_process_state gp_process_state;

static_assert(sizeof(gp_process_state) == GP_PROCESS_STATE_BYTES, "whole pages");
static_assert(offsetof(struct gp_process_state, stacks) == 28,
	      "bench/gpu_stacks.py finds it there");

static void wipe(void)
{
	memset(&gp_process_state, 0, sizeof(gp_process_state));
}

int gp_process_state_prepare(void)
{
	/* The fallback, for kernels before 4.14, misses children of clone(). */
	if (gp_sys_wipe_on_fork(&gp_process_state, sizeof(gp_process_state)) == 0)
		return 0;
	return pthread_atfork(NULL, NULL, wipe) == 0 ? 0 : -ENOMEM;
}

bool gp_process_state_is_own_process(void)
{
	uint32_t id = gp_sys_process_id();

	return gp_replace32(&gp_process_state.process, 0, id) ||
	       gp_load32(&gp_process_state.process) == id;
}

/* Before any child can be created. */
__attribute__((constructor)) static void construct(void)
{
	if (gp_process_state_prepare() == 0)
		gp_process_state_is_own_process();
}
