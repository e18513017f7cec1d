/*
 * counts: how many calls and operations a process made, whether its model has each one or only
 * their totals.
 */
#ifndef REPORT_MODEL_SUMS_COUNTS_H
#define REPORT_MODEL_SUMS_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model/model.h"

struct gp_counts {
	uint64_t calls, launches, graph_launches;
	uint64_t operations;
	uint64_t gpu_ns; /* of those, all together */
};

struct gp_counts gp_counts_of(const struct gp_model *model);

/* Whether it made any. */
bool gp_counts_any(const struct gp_model *model);

#endif
