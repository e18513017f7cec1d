/*
 * axes: the axes of parallelism of a job, from the members of its communicators.
 *
 * Communicators of one axis have as many ranks, at the same distance from each other: with eight
 * ranks of tensor parallelism, these are ranks 0 to 7, 8 to 15, and so on.  Their operations and
 * distances tell which axis it is:
 *
 *	all      all ranks of the job, where other communicators have fewer
 *	EP       it exchanges (AllToAll): experts
 *	PP       it only sends and receives (SendRecv): a pipeline
 *	TP       it reduces, gathers or scatters, and its ranks are neighbors ...
 *	DP       ... and this one's, of a second such axis, are farther apart, or there is no other axis
 *	TP x PP  as many neighbors as both axes have together, and the like
 *
 * Other communicators have no name: a name would be a guess.
 */
#ifndef REPORT_TABLES_BY_AXES_H
#define REPORT_TABLES_BY_AXES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/tables/by/collective_ranks.h"

struct gp_axis {
	char name[16];       /* "" = not known */
	uint32_t groups;     /* communicators */
	uint32_t ranks;      /* of each */
	uint32_t distance;   /* between neighbors in a group; 0 = not the same everywhere */
	uint32_t kinds;      /* 1 << enum gp_collective_kind */
	uint64_t operations; /* kernels */
	uint64_t total_ns;
	uint64_t waited_ns; /* of operations that all ranks enter */
};

/* Zeroed = none. */
struct gp_axes {
	struct gp_axis *all; /* the longest total first */
	uint32_t count, capacity;
};

/*
 * models: by the process numbers of the collectives.  Returns 0 or -ENOMEM; call gp_axes_free() in
 * either case.
 */
int gp_axes_find(struct gp_axes *axes, struct gp_model *const *models, size_t model_count,
		 struct gp_collectives *c);
void gp_axes_free(struct gp_axes *axes);

#endif
