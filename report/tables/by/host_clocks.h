/*
 * host_clocks: aligns the clocks of hosts by the ends of collectives.
 *
 * No rank leaves a collective before all have entered it, and its kernels end on all ranks at
 * about the same time.  So the distance between the ends on two hosts is the distance of their
 * clocks.  Over time it is a line, because clocks drift.  The line goes through medians, so a few
 * operations that end at different times do not move it.  A host that has no operation in common
 * with the host of rank 0 is aligned with a host that is already aligned.
 *
 * The error is three times the largest standard error of the line, plus the distances of the ends on
 * each of both hosts, plus the errors of the clock readings on both.  It does not cover a delay
 * between two hosts that is the same in all operations.
 */
#ifndef REPORT_TABLES_BY_HOST_CLOCKS_H
#define REPORT_TABLES_BY_HOST_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "report/base/group_by.h"
#include "report/model/host_clock.h"
#include "report/tables/by/collective_ranks.h"

/* Zeroed = without models. */
struct gp_clock_fit {
	struct gp_host_clocks clocks; /* the result; load the models with it */
	struct gp_clock_host *hosts;  /* parallel to clocks.hosts */
	struct gp_clock_process *processes;
	uint32_t host_capacity, process_count, process_capacity;
	struct gp_groups names;
	struct gp_kinds *kinds;
	struct gp_collectives collectives;
};

/* Adds a model that was loaded without clocks; it may be freed then.  Returns 0 or -ENOMEM. */
int gp_clock_fit_add(struct gp_clock_fit *fit, const struct gp_model *model);

/* Finds the clocks, after the last model.  Returns 0 or -ENOMEM. */
int gp_clock_fit_solve(struct gp_clock_fit *fit);

void gp_clock_fit_free(struct gp_clock_fit *fit);

#endif
