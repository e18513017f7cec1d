/*
 * launch_order: the operations that one thread started, in the order of its launches, of all
 * streams: as a model of their own, in which they are one stream's. A loop whose copies and kernels
 * are in different streams, or that makes a stream in each iteration, repeats in that order alone.
 *
 * The thread is the one that started most operations that are no tuning.
 */
#ifndef REPORT_ANALYSIS_LOOP_LAUNCH_ORDER_H
#define REPORT_ANALYSIS_LOOP_LAUNCH_ORDER_H

#include <stdint.h>

#include "report/analysis/host/tuning.h"
#include "report/model/model.h"

struct gp_launch_order {
	/* its operations are copies; all else is that of the model that it was made of */
	struct gp_model model;
	struct gp_tuning tuning; /* likewise, of these */
	uint32_t *indices;       /* of each operation, in that model */
};

/*
 * Empty, without operations, if it would tell no more than a stream does (all are one stream's), or
 * for more than four million operations, whose copies would take too much memory. Call
 * gp_launch_order_free().
 */
void gp_launch_order_of(struct gp_launch_order *order, const struct gp_model *model,
			const struct gp_tuning *tuning);
void gp_launch_order_free(struct gp_launch_order *order);

#endif
