/*
 * lanes: spreads the slices of a track that overlap over lanes where none do.
 *
 * Viewers draw a slice that begins within another one as its child, and lose or misplace it if it
 * ends later. Slices come in order of their starts. Each gets the lowest lane that fits:
 *
 *  - on a flat track (operations of a stream) it begins at or after the end of the lane's last slice;
 *  - on a nesting track (calls of a thread) it may also lie wholly within the lane's open slices.
 *
 * No two slices of a lane have the same start, so that a flow arrow that points to a start finds
 * one slice. The time is logarithmic in the number of lanes.
 */
#ifndef REPORT_BASE_LANES_H
#define REPORT_BASE_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GP_NESTING_LANES 8
#define GP_NESTING_DEPTH 64

struct gp_nesting_lane {
	bool used;
	uint32_t depth;
	uint64_t last_start;
	uint64_t ends[GP_NESTING_DEPTH]; /* ends of the open slices, the innermost last */
};

struct gp_flat_lane {
	uint64_t free_from; /* the next slice may begin here */
	uint32_t lane;
};

/* Zeroed = empty. The arrays are heaps: busy lanes by free_from, free lanes by number. */
struct gp_lanes {
	struct gp_nesting_lane *nesting; /* NULL on a flat track */
	struct gp_flat_lane *busy;
	uint32_t *free;
	uint32_t busy_count, free_count, capacity;
	uint32_t count; /* lanes in use so far */
};

/* Forgets all slices, and keeps the memory for the next track. Returns 0 or -ENOMEM. */
int gp_lanes_begin(struct gp_lanes *lanes, bool nesting);
void gp_lanes_free(struct gp_lanes *lanes);

/* The lane of the next slice, counted from 0; start must not decrease. Returns 0 or -ENOMEM. */
int gp_lanes_place(struct gp_lanes *lanes, uint64_t start, uint64_t end, uint32_t *lane);

#endif
