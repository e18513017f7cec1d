/*
 * live_steps: the step of a running program, by the kernels of a stream that repeat.
 *
 * Of the stream with most kernels, the last ones are kept.  A step is the shortest sequence of
 * kernels that repeats until now, over at least half of them: a loop within a step repeats for
 * less.  A step of more than half of them is not found.
 */
#ifndef REPORT_STREAM_LIVE_STEPS_H
#define REPORT_STREAM_LIVE_STEPS_H

#include <stdint.h>

#define GP_LIVE_STEPS_KERNELS 8192u /* that are kept */

/* Zeroed = empty. */
struct gp_live_steps {
	struct gp_live_kernel {
		uint32_t name;
		uint32_t start_us; /* modulo 2^32 */
	} * ring;
	uint32_t capacity; /* of the ring */
	uint64_t taken;
	/* the stream, and by how many it leads: another one follows where it no longer does */
	uint32_t context_id, stream_id, lead;
};

/* Takes a kernel.  Returns 0 or -ENOMEM. */
int gp_live_steps_take(struct gp_live_steps *steps, uint32_t context_id, uint32_t stream_id,
		       uint32_t name, uint64_t start_ns);
void gp_live_steps_free(struct gp_live_steps *steps);

/* The median time of the last steps, to a microsecond; 0: no kernels repeat.  Returns 0 or -ENOMEM. */
int gp_live_steps_find(const struct gp_live_steps *steps, uint64_t *step_ns);

#endif
