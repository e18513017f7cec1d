/*
 * phases: what the steps of the main loop consist of, on the host: data loading, forward, backward,
 * optimizer, ...
 *
 * Each instant of the loop is of one phase (report/analysis/loop/phase_events.h, phase_gaps.h).  An
 * operation is of the phase in which the host launched it, NCCL's kernels of communication.  A
 * program in whose loop one phase has nearly all the time, or none is known, is no training: its
 * phases are the user's functions (phase_functions.h).
 */
#ifndef REPORT_ANALYSIS_LOOP_PHASES_H
#define REPORT_ANALYSIS_LOOP_PHASES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/analysis/device/kernel_kinds.h"
#include "report/analysis/idle/gpu_line.h"
#include "report/analysis/loop/iterations.h"
#include "report/analysis/loop/phase_marks.h"
#include "report/model/devices.h"
#include "report/model/model.h"

/* If one phase has so much of the loop's time, it does not divide it. */
#define GP_PHASE_WHOLE_PERCENT 90u

struct gp_phase {
	char *name;               /* "forward"; "step (train.py)"; NULL: there is no such phase */
	uint64_t host_ns, gpu_ns; /* in all steps; of its operations */
	uint64_t op_count;
	/* of host_ns: in gaps beside another phase, where its end is estimated */
	uint64_t split_ns;
	uint32_t steps; /* that have any of it on the host */
	char *place; /* where most of it is: "Block.forward (gpt.py:31)"; "" if not known, or the name */
	/* of the devices that were added, while the host was in it */
	uint64_t state_ns[GP_STATES];
	uint64_t after_ns[GP_STATES]; /* of that, in steps after the warm-up */
};

/* A time of the host in one phase; on the model's timeline. */
struct gp_phase_time {
	uint64_t start_ns, end_ns;
	uint32_t step;
	uint8_t phase;
};

enum gp_phase_measure { GP_PHASE_HOST, GP_PHASE_GPU, GP_PHASE_IDLE, GP_PHASE_MEASURES };

struct gp_phases {
	struct gp_phase rows[GP_PHASE_KINDS]; /* by enum gp_phase_kind, or number of a function */
	bool by_functions;
	uint32_t step_count;
	uint32_t warm_up;            /* of them, the first ones; set before devices are added */
	uint64_t host_ns;            /* of all phases: the time of the loop */
	struct gp_phase_time *times; /* by start; neighbors are of different phases or steps */
	uint32_t time_count, time_capacity;
	uint8_t *of_ops; /* by operation: enum gp_phase_kind; NULL: there are no phases */
	uint64_t (*step_ns[GP_PHASE_MEASURES])[GP_PHASE_KINDS]; /* by step and phase */
	uint64_t *scratch;                                      /* a value for each step */
	uint32_t launches, with_stack; /* of the loop's threads, and those whose stack is known */
	uint32_t sample_count;
};

/*
 * Of the model's iterations; empty if there are none, or nothing tells phases. Call
 * gp_phases_free().
 */
void gp_phases_of(struct gp_phases *phases, const struct gp_model *model,
		  const struct gp_iterations *iterations, const struct gp_kinds *kinds);
void gp_phases_free(struct gp_phases *phases);

/* Add the states of one of the model's devices, for state_ns and GP_PHASE_IDLE. */
void gp_phases_add_device(struct gp_phases *phases, const struct gp_model *model,
			  const struct gp_gpu_line *line);

/* The same for all devices of the list that the model used. */
void gp_phases_add_devices(struct gp_phases *phases, const struct gp_model *model,
			   struct gp_device_list *devices, const struct gp_gpu_lines *lines);

/*
 * The cause with most of a phase's idle time after the warm-up, whose startup says little of other
 * steps; else in all steps.  idle_ns 0: the phase has none.
 */
enum gp_idle_cause gp_phase_idle_cause(const struct gp_phase *phase, uint64_t *idle_ns);

/* The median of a phase over the steps that have it on the host. */
uint64_t gp_phases_step_ns(const struct gp_phases *phases, enum gp_phase_measure measure,
			   uint32_t phase);

#endif
