/*
 * analysis: results that both advice and the summary use, found once: each process's tuning,
 * main loop and backward passes; and, in one sweep over the devices, the use of their time, their idle gaps, and their
 * work in the loop.
 */
#ifndef REPORT_ANALYSIS_ANALYSIS_H
#define REPORT_ANALYSIS_ANALYSIS_H

#include <stddef.h>
#include <stdint.h>

#include "report/analysis/backward/backward.h"
#include "report/analysis/loop/iterations.h"
#include "report/analysis/loop/phases.h"
#include "report/analysis/loop/steps.h"
#include "report/analysis/idle/idle_gaps.h"
#include "report/analysis/idle/where.h"

struct gp_analysis {
	size_t model_count;
	struct gp_tuning *tunings;        /* by model */
	struct gp_iterations *iterations; /* by model */
	struct gp_wheres wheres;          /* by device */
	/* by device; advice marks the gaps that it has explained */
	struct gp_idle_gaps idle_gaps;
	struct gp_steps *steps;       /* by model */
	struct gp_phases *phases;     /* by model: of its steps, with the states of its devices */
	struct gp_backward *backward; /* by model */
	size_t *owners; /* by device: the process that has its operations; SIZE_MAX = several */
	uint64_t (
		*part_ns)[GP_RUN_PARTS][GP_STATES]; /* by device: in the parts of its owner's run */
};

/*
 * Of the models' gp_device_list_all() and gp_busy_window(); of each device the gap_limit longest
 * gaps.  Returns 0, -ENOMEM or -EOVERFLOW; gp_analysis_free() in either case.
 */
int gp_analysis_of(struct gp_analysis *basis, struct gp_model *const *models, size_t model_count,
		   struct gp_device_list *devices, const struct gp_kinds *kinds, size_t gap_limit);

/* The process whose steps are the run's: they recur for the longest.  SIZE_MAX: none has steps. */
size_t gp_analysis_main_process(const struct gp_analysis *basis);

/* Add the states of the devices of a process in a part of its run. */
void gp_analysis_add_part(const struct gp_analysis *basis, size_t process, enum gp_run_part part,
			  uint64_t state_ns[GP_STATES]);
void gp_analysis_free(struct gp_analysis *basis);

#endif
