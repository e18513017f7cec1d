/*
 * lanes: slices of one track that may overlap, spread over lanes on which they do not.
 *
 * Viewers draw a slice that begins within another one as its child, and lose or misplace one that
 * ends after it. Slices come by start; each gets the lowest lane where it fits:
 *  - on a flat track (what a stream did) it begins at or after the end of the lane's last slice;
 *  - on a nesting track (calls of a thread) it may also lie wholly within the lane's last slices.
 * No two slices of a lane have the same start, so that a flow arrow at a slice's start finds that
 * slice. The time is logarithmic in the number of lanes, whatever the slices are.
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
	uint64_t ends[GP_NESTING_DEPTH]; /* of the slices that are open, the innermost last */
};

struct gp_flat_lane {
	uint64_t free_from; /* when a slice may begin on it again */
	uint32_t lane;
};

/* Zeroed = empty. The arrays are heaps: busy lanes by free_from, free ones by number. */
struct gp_lanes {
	struct gp_nesting_lane *nesting; /* NULL on a flat track */
	struct gp_flat_lane *busy;
	uint32_t *free;
	uint32_t busy_count, free_count, capacity;
	uint32_t count; /* lanes in use so far */
};

/* Forget all slices; what is allocated stays for the next track. Returns 0 or -ENOMEM. */
int gp_lanes_begin(struct gp_lanes *lanes, bool nesting);
void gp_lanes_free(struct gp_lanes *lanes);

/* The lane for the next slice, counted from 0; start must not go back. Returns 0 or -ENOMEM. */
int gp_lanes_place(struct gp_lanes *lanes, uint64_t start, uint64_t end, uint32_t *lane);

#endif
