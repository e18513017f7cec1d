/*
 * outliers: single operations with an unusual time: one took a good part of all GPU time, and many
 * times as long as similar ones; or is stated to have taken as much, which its own stream
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
	uint64_t all_ns;        /* the times of all operations of all models, one by one */
	/*
	 * similar ones, itself included: of the same kernel and shape, or copies or memsets of the
	 * same kinds of memory
	 */
	uint64_t like;
	bool is_first; /* of those */
	/*
	 * the median time of these; more if it moves more bytes than their median; 0 = there are no
	 * others
	 */
	uint64_t usual_ns;
	/* the part of its time in which no other operation kept its device busy */
	uint64_t alone_ns;
	/*
	 * of one whose time is wrong: so many of its stream ran meanwhile, GP_CLASHES_COUNTED at
	 * most
	 */
	uint32_t clashes;
};

/*
 * The longest such one, if any; none that its stream contradicts, and no kernel that communicates,
 * for how long that waits for others is theirs.  devices: of all models (gp_device_list_all()).
 */
void gp_outlier_find(struct gp_outlier *found, struct gp_model *const *models, size_t model_count,
		     const struct gp_device_list *devices, const struct gp_kinds *kinds);

/*
 * Of those that their stream contradicts the longest, where that would be a good part of all GPU
 * time; alone_ns is 0.
 */
void gp_outlier_find_wrong(struct gp_outlier *found, struct gp_model *const *models,
			   size_t model_count);

#endif
