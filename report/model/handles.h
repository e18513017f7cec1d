/*
 * handles: physical memory (cuMemCreate), which lives as long as an ownership of its handle or a
 * mapping of it.
 *
 * Events come in the order of time.
 */
#ifndef REPORT_MODEL_HANDLES_H
#define REPORT_MODEL_HANDLES_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed = none. */
struct gp_handles {
	void *handles, *mappings; /* trees */
};

void gp_handles_free(struct gp_handles *handles);

/* The handle came into being, with one ownership.  Returns 0 or -ENOMEM. */
int gp_handles_create(struct gp_handles *handles, uint64_t handle);

/* One ownership more. */
void gp_handles_retain(struct gp_handles *handles, uint64_t handle);

/*
 * One ownership less.  Whether the memory is gone by that; also true of a handle that is not known.
 */
bool gp_handles_release(struct gp_handles *handles, uint64_t handle);

/*
 * The handle's memory appeared at an address; of one that is not known nothing is kept.  Returns 0
 * or -ENOMEM.
 */
int gp_handles_map(struct gp_handles *handles, uint64_t address, uint64_t handle);

/*
 * Removes the mappings within these bytes: true with the next handle whose memory is gone by that;
 * false if there is no further one.
 */
bool gp_handles_unmap(struct gp_handles *handles, uint64_t address, uint64_t bytes,
		      uint64_t *handle);

#endif
