/*
 * bell: wakes the writer.  Any thread rings, also signal handlers; only the writer waits.
 *
 * A ring that nobody has heard yet makes further ones free: at most one system call per pass of the
 * writer.
 */
#ifndef COLLECTOR_BELL_H
#define COLLECTOR_BELL_H

#include <stdint.h>

struct gp_eventcount {
	uint32_t rung;
};

void gp_eventcount_notify(struct gp_eventcount *wakeup);

/* Sleep until the bell rings or timeout_ns is over; returns at once where it rang since the last wait.  It may also return early, by
 * the wake of a ring that an earlier wait has heard already: the caller looks for itself whether there is work. */
void gp_eventcount_wait(struct gp_eventcount *wakeup, uint64_t timeout_ns);

#endif
