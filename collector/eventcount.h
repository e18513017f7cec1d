/*
 * eventcount: a futex-based wakeup of a waiting thread.  Any thread notifies, also signal handlers;
 * only one thread waits.
 *
 * A notification that is still pending makes further ones free: at most one system call per wait.
 */
#ifndef COLLECTOR_EVENTCOUNT_H
#define COLLECTOR_EVENTCOUNT_H

#include <stdint.h>

struct gp_eventcount {
	uint32_t notified;
};

void gp_eventcount_notify(struct gp_eventcount *wakeup);

/*
 * Sleep until a notification or until timeout_ns is over; returns immediately if one came since the
 * last wait.  Spurious returns are possible, from the wake of an earlier notification: the caller
 * checks for work itself.
 */
void gp_eventcount_wait(struct gp_eventcount *wakeup, uint64_t timeout_ns);

#endif
