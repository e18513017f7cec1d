#include "collector/bell.h"

#include "collector/atomic.h"
#include "collector/sys.h"

void gp_bell_ring(struct gp_bell *bell)
{
	if (gp_swap32(&bell->rung, 1) == 0)
		gp_sys_wake(&bell->rung);
}

void gp_bell_wait(struct gp_bell *bell, uint64_t timeout_ns)
{
	if (gp_swap32(&bell->rung, 0) != 0)
		return;
	gp_sys_wait(&bell->rung, 0, timeout_ns);
	gp_swap32(&bell->rung, 0);
}
