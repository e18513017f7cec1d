#include "collector/eventcount.h"

#include "collector/atomic.h"
#include "collector/sys.h"

void gp_eventcount_notify(struct gp_eventcount *wakeup)
{
	if (gp_swap32(&wakeup->notified, 1) == 0)
		gp_sys_wake(&wakeup->notified);
}

void gp_eventcount_wait(struct gp_eventcount *wakeup, uint64_t timeout_ns)
{
	if (gp_swap32(&wakeup->notified, 0) != 0)
		return;
	gp_sys_wait(&wakeup->notified, 0, timeout_ns);
	gp_swap32(&wakeup->notified, 0);
}
