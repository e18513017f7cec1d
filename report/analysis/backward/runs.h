/*
 * runs: the launches of a process in the order of time, divided into runs: those of a forward pass,
 * and whatever comes before it, then those of its backward pass.
 *
 * Runs whose launches are of the same kernels and shapes are runs of one step that repeats.  Where
 * --stacks=sample took the stack of a launch in any of them, this is the stack of that launch in all
 * of them.  A launch whose stack was taken in none gets the one of a launch with the most equal
 * neighbors in the same run, else the estimate (report/model/build/stack_estimate.c).
 */
#ifndef REPORT_ANALYSIS_BACKWARD_RUNS_H
#define REPORT_ANALYSIS_BACKWARD_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/analysis/backward/stacks.h"
#include "report/model/model.h"

struct gp_launch {
	uint64_t start_ns;
	uint32_t call;   /* index in calls */
	uint32_t stack;  /* index in frames, or GP_NONE */
	uint32_t kernel; /* equal numbers: the same kernel or copy in the same shape, mostly */
	bool is_known;   /* the stack is recorded, here or in a run like this one */
	bool is_backward;
};

struct gp_launch_run {
	uint32_t first, backward, end; /* in launches */
	uint32_t like; /* the last run with the same launches; its own index: it is that one */
	uint64_t hash;
};

struct gp_launch_runs {
	struct gp_launch *launches; /* by start */
	struct gp_launch_run *runs;
	uint32_t launch_count, launch_capacity, run_count, run_capacity;
};

/* Reads all stacks. Call gp_launch_runs_free(). */
void gp_launch_runs_of(struct gp_launch_runs *runs, struct gp_autograd_stacks *stacks);
void gp_launch_runs_free(struct gp_launch_runs *runs);

/* The stack of a launch; without one, a stack that has nothing. */
const struct gp_autograd_stack *gp_launch_stack(struct gp_autograd_stacks *stacks,
						const struct gp_launch *launch);

#endif
