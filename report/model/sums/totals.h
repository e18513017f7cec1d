/* totals: sums over the calls and operations of a process, in place of these. */
#ifndef REPORT_MODEL_SUMS_TOTALS_H
#define REPORT_MODEL_SUMS_TOTALS_H

#include "report/model/model.h"
#include "report/model/sums/cover.h"
#include "report/model/sums/sums.h"
#include "report/model/sums/live_memory.h"

struct gp_totals {
	/* of kernels, name_id is an index in the model's names, GP_NONE where it has none */
	struct gp_sums sums;
	struct gp_cover cover;
	struct gp_live_memory memory;
	struct gp_record_usage *usages; /* the last of each device */
	uint32_t usage_count, usage_capacity;
	uint64_t file_bytes;
	uint64_t first_op_ns,
		last_op_ns; /* all operations' start and end; 0, 0: there was none with times */
};

/* The sums of a model: empty ones if it has calls and operations. */
const struct gp_totals *gp_totals_of(const struct gp_model *model);

/*
 * Whether any model has sums in place of its calls and operations.  One pass makes all so, or none.
 */
bool gp_totals_any(struct gp_model *const *models, size_t model_count);

/* The operations of a sum as one: its bytes are those of the timed ones, and it has no times. */
struct gp_op gp_totals_op(const struct gp_sum *sum);

void gp_totals_free(struct gp_totals *totals);

#endif
