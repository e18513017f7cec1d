/*
 * job: the ranks of a job whose traces are not in memory together.  It keeps only values that compare
 * the ranks, so its memory grows with the number of ranks and of their collectives.
 */
#ifndef REPORT_TABLES_BY_JOB_H
#define REPORT_TABLES_BY_JOB_H

#include <stdio.h>

#include "report/tables/by/axes.h"
#include "report/tables/by/bus_bandwidth.h"
#include "report/tables/by/host_clocks.h"
#include "report/tables/by/rank_activity.h"
#include "report/tables/by/ranks.h"
#include "report/tables/by/what_if.h"

/* Zeroed = without ranks. */
struct gp_job {
	struct gp_model **models;            /* shrunk (gp_model_shrink()) */
	struct gp_rank_activity *activities; /* of each */
	uint32_t count, capacity, activity_capacity;
	struct gp_ranks ranks;
	struct gp_bus_bandwidths bandwidths;
	struct gp_axes axes;
	struct gp_tally collective_ranks; /* gp_collective_ranks_of() */
	struct gp_what_if what_if;
	struct gp_clock_fit fit;
	/* the ranks that are shown in detail, of all: numbers of models, in the order of their ranks */
#define GP_JOB_SHOWN 8
	uint32_t shown[GP_JOB_SHOWN];
	uint32_t shown_count;
};

/* Takes over a model.  Returns 0, -ENOMEM, or -ENODATA: it has no rank. */
int gp_job_add(struct gp_job *job, struct gp_model *model);

/*
 * Compares the ranks, after the last one; chooses those that the others wait for longest, some that
 * wait, and rank 0.  Returns 0 or -ENOMEM.
 */
int gp_job_end(struct gp_job *job);
void gp_job_free(struct gp_job *job);

/* "8 of 10,240 ranks, those that the others wait for longest and some that wait: 0, 5, ..." */
void gp_job_print_shown(const struct gp_job *job, FILE *out);

#endif
