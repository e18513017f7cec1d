/*
 * phase_ranges: the times of a thread that the program itself gave to phases, by ranges with names
 * such as "forward" or "Optimizer.step#Adam.step".  The innermost range with such a name counts.
 */
#ifndef REPORT_ANALYSIS_LOOP_PHASE_RANGES_H
#define REPORT_ANALYSIS_LOOP_PHASE_RANGES_H

#include <stdint.h>

#include "report/analysis/loop/phase_marks.h"
#include "report/model/model.h"

struct gp_phase_range {
	uint64_t start_ns, end_ns;
	uint8_t phase; /* enum gp_phase_kind */
};

struct gp_phase_ranges {
	struct gp_phase_range *rows; /* by start; none overlap */
	uint32_t count, capacity;
};

/* Call gp_phase_ranges_free(). */
void gp_phase_ranges_of(struct gp_phase_ranges *ranges, const struct gp_model *model,
			uint32_t thread_id);
void gp_phase_ranges_free(struct gp_phase_ranges *ranges);

/* The phase at that time; NONE: no range gives one. */
enum gp_phase_kind gp_phase_ranges_at(const struct gp_phase_ranges *ranges, uint64_t time_ns);

#endif
