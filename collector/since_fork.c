#include "collector/since_fork.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/sys.h"

struct gp_since_fork gp_since_fork;

static_assert(sizeof(gp_since_fork) == GP_SINCE_FORK_BYTES, "whole pages");
static_assert(offsetof(struct gp_since_fork, stacks) == 28, "bench/gpu_stacks.py finds it there");

static void wipe(void)
{
	memset(&gp_since_fork, 0, sizeof(gp_since_fork));
}

int gp_since_fork_prepare(void)
{
	/* The second way misses children of clone(); it is for kernels before 4.14. */
	if (gp_sys_wipe_on_fork(&gp_since_fork, sizeof(gp_since_fork)) == 0)
		return 0;
	return pthread_atfork(NULL, NULL, wipe) == 0 ? 0 : -ENOMEM;
}

bool gp_since_fork_is_own_process(void)
{
	uint32_t id = gp_sys_process_id();

	return gp_replace32(&gp_since_fork.process, 0, id) ||
	       gp_load32(&gp_since_fork.process) == id;
}

/* Before any child can be made. */
__attribute__((constructor)) static void construct(void)
{
	if (gp_since_fork_prepare() == 0)
		gp_since_fork_is_own_process();
}
