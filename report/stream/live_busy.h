/*
 * live_busy: for how much of the time each GPU had something to do, while operations still come in.
 *
 * Time is cut into windows that follow each other.  An operation counts in each window that it lies
 * in, together with all others, whatever their stream; of one that comes in when a window is over,
 * what lies in that window is left out.
 */
#ifndef REPORT_STREAM_LIVE_BUSY_H
#define REPORT_STREAM_LIVE_BUSY_H

#include <stddef.h>
#include <stdint.h>

struct gp_live_busy_device {
	uint16_t device;
	uint64_t covered_ns;     /* what lies before that is counted */
	uint64_t window_busy_ns; /* in the last window */
	uint64_t next_busy_ns;   /* in the one that is open */
};

/* Zeroed = nothing yet. */
struct gp_live_busy {
	struct gp_live_busy_device *devices;
	uint32_t device_count, device_capacity;
	struct gp_live_busy_operation *pending;
	uint32_t pending_count, pending_capacity;
	uint64_t window_start_ns, window_end_ns; /* of the last one; 0, 0 = there was none */
};

void gp_live_busy_free(struct gp_live_busy *busy);

/*
 * An operation, in any order; what ends before it starts is left out.  Returns 0, -ENOMEM or
 * -EOVERFLOW.
 */
int gp_live_busy_add(struct gp_live_busy *busy, uint16_t device, uint64_t start_ns,
		     uint64_t end_ns);

/* Count what lies before that time, in the window that is still open.  Returns 0 or -ENOMEM. */
int gp_live_busy_count(struct gp_live_busy *busy, uint64_t until_ns);

/*
 * End the window there; the next one begins there.  It begins at start_ns where it is the first
 * one.
 */
int gp_live_busy_end_window(struct gp_live_busy *busy, uint64_t start_ns, uint64_t end_ns);

#endif
