/*
 * stall_reasons: the texts of stall samples, their reasons in plain words, and the uncertainty of
 * shares.
 */
#ifndef REPORT_ANALYSIS_DEVICE_STALL_REASONS_H
#define REPORT_ANALYSIS_DEVICE_STALL_REASONS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/model/model.h"

struct gp_stall_reason {
	const char *name, *meaning, *helps; /* a reason of a newer chip has only its name */
};

/* Never NULL. */
const struct gp_stall_reason *gp_stall_reason_of(const char *name);

/* A warp with this reason issues an instruction. */
bool gp_stall_reason_is_work(const char *name);

/* A text that a stall record names by its id; "(unknown)" if the trace lacks it. */
const char *gp_stall_text(const struct gp_model *model, uint32_t id);

/* Whether samples were taken, in kernels or outside of them. */
bool gp_stalls_any(struct gp_model *const *models, size_t model_count);

/* The 95 % error of a share of samples, in percentage points: of a binomial distribution. */
double gp_stall_error(double part, double whole);

#endif
