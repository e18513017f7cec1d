/*
 * lone_ops: operations whose times stand alone: one took a good part of all GPU time, and many
 * times what others like it take; or was said to have taken as much, which its own stream
 * contradicts.
 */
#ifndef REPORT_ANALYSIS_DEVICE_OUTLIERS_H
#define REPORT_ANALYSIS_DEVICE_OUTLIERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/analysis/device/kernel_kinds.h"
#include "report/model/devices.h"
#include "report/model/model.h"

struct gp_outlier {
	size_t model;           /* index in the models */
	const struct gp_op *op; /* with the times that were stated; NULL: there is none */
	uint64_t all_ns;        /* what all operations of all models took, one by one */
	/*
	 * those like it, itself included: of the same kernel and shape, or copies or sets of the
	 * same kinds of memory
	 */
	uint64_t like;
	bool is_first; /* of those */
	/*
	 * what these take by the median; of more bytes than these move by the median, as much more;
	 * 0 = there are no others
	 */
	uint64_t usual_ns;
	uint64_t alone_ns; /* of its time, what no other operation kept its device busy */
	/*
	 * of one whose time is wrong: so many of its stream ran meanwhile, no more than
	 * GP_CLASHES_COUNTED
	 */
	uint32_t clashes;
};

/*
 * The longest such one, if any; none that its stream contradicts, and no kernel that communicates,
 * for how long that waits for others is theirs.  devices: of all models (gp_device_list_all()).
 * Returns 0 or -ENOMEM.
 */
int gp_outlier_find(struct gp_outlier *found, struct gp_model *const *models, size_t model_count,
		    const struct gp_device_list *devices, const struct gp_kinds *kinds);

/*
 * Of those that their stream contradicts the longest, where that would be a good part of all GPU
 * time; alone_ns is 0.
 */
int gp_outlier_find_wrong(struct gp_outlier *found, struct gp_model *const *models,
			  size_t model_count);

#endif
