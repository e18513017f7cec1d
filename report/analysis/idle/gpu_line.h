/*
 * gpu_line: the states of each device over time, kept: for sums over any span, in time that does not
 * grow with the span.
 */
#ifndef REPORT_ANALYSIS_IDLE_GPU_LINE_H
#define REPORT_ANALYSIS_IDLE_GPU_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "report/analysis/idle/gpu_sweep.h"

/* Segments of one state each (report/analysis/idle/gpu_sweep.h), neighbors of different ones. */
struct gp_gpu_line {
	uint64_t start_ns;
	uint64_t *ends_ns;
	uint8_t *states;
	size_t count, capacity;
	uint64_t (*sums_ns)[GP_STATES]; /* of all before every 64th */
};

struct gp_gpu_lines {
	struct gp_gpu_line *devices; /* parallel to the list of devices */
	size_t count;
};

/*
 * Of each device of the models' gp_device_list_all().  Returns 0 or -ENOMEM; gp_gpu_lines_free() in
 * either case.
 */
int gp_gpu_lines_of(struct gp_gpu_lines *lines, struct gp_model *const *models, size_t model_count,
		    struct gp_window window, struct gp_device_list *devices,
		    const struct gp_kinds *kinds);
void gp_gpu_lines_free(struct gp_gpu_lines *lines);

/*
 * Add to state_ns how long the device was in each state within that time (Unix ns); outside of the
 * line: in none.
 */
void gp_gpu_line_add(const struct gp_gpu_line *line, uint64_t start_ns, uint64_t end_ns,
		     uint64_t state_ns[GP_STATES]);

#endif
