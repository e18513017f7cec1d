/*
 * rank_activity: how the GPUs of a rank spent its time, in parts of that time, and in those of the
 * job: what the heat map of all ranks shows.
 */
#ifndef REPORT_TABLES_BY_RANK_ACTIVITY_H
#define REPORT_TABLES_BY_RANK_ACTIVITY_H

#include <stdint.h>

#include "report/analysis/device/kernel_kinds.h"
#include "report/model/model.h"

/* Few enough that they fit for thousands of ranks: a byte each. */
#define GP_RANK_PARTS      128u
#define GP_RANK_SHARE_MOST 200u /* all of the time */
#define GP_RANK_SHARE_NONE 255u /* nothing was recorded then */

/* What the GPUs do: anything but communication, or anything. */
enum gp_rank_work { GP_RANK_COMPUTES, GP_RANK_BUSY, GP_RANK_WORKS };

struct gp_rank_activity {
	uint64_t start_ns, end_ns; /* of its first and last call or operation, on its timeline */
	uint8_t shares[GP_RANK_WORKS][GP_RANK_PARTS]; /* of equal parts from start_ns to end_ns */
};

/* Returns 0 or -ENOMEM. */
int gp_rank_activity_of(struct gp_model *model, const struct gp_kinds *kinds,
			struct gp_rank_activity *activity);

/*
 * The shares of equal parts of another time, on the same timeline, which may begin earlier.  A part
 * in which nothing was recorded is GP_RANK_SHARE_NONE.
 */
void gp_rank_activity_cut(const struct gp_rank_activity *activity, enum gp_rank_work work,
			  int64_t start_ns, uint64_t length_ns, uint8_t shares[GP_RANK_PARTS]);

#endif
