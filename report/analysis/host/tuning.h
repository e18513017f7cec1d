/*
 * tuning: operations that a library started only to find the fastest of several kernels, and to
 * check their results.
 *
 * The functions on a call's stack tell who started an operation
 * (report/analysis/loop/frame_marks.h). For XLA also: the names of kernels that only its autotuner
 * has, and ranges of modules that ran while XLA compiled and are no programs of their own. If calls
 * have no stacks, calls between two consecutive samples of their thread
 * (report/analysis/host/python_samples.h) that both found it in the same tuner are tuning. Other
 * operations may be tuning without a sign of it.
 */
#ifndef REPORT_ANALYSIS_HOST_TUNING_H
#define REPORT_ANALYSIS_HOST_TUNING_H

#include <stdbool.h>
#include <stdint.h>

#include "report/analysis/loop/frame_marks.h"
#include "report/model/model.h"

/* From start_ns on, before end_ns; on the model's timeline. */
struct gp_time_span {
	uint64_t start_ns, end_ns;
};

struct gp_tuning {
	uint8_t *of;             /* by operation: enum gp_tuner */
	uint64_t ops[GP_TUNERS]; /* timed or not; [GP_TUNER_NONE]: all others */
	uint64_t ns[GP_TUNERS];  /* of the timed ones */
	bool lacks_stacks;       /* of an operation the stack is not known */
	/* its sign */
	struct gp_frame_mark *marks; /* by index in frames: of the stack that begins there */
	/* when XLA compiled, by its ranges: in order, none overlap */
	struct gp_time_span *compiling;
	uint32_t compiling_count;
};

/* Returns 0 or -ENOMEM; gp_tuning_free() in either case. */
int gp_tuning_of(struct gp_tuning *tuning, const struct gp_model *model);
void gp_tuning_free(struct gp_tuning *tuning);

/*
 * Whether the range's thread started something else inside than tuning.  Ask of ranges in the order
 * that the model has them in: *own, 0 for the first, is the first call of the program's own that
 * does not come before the range.
 */
bool gp_tuning_range_has_own(const struct gp_model *model, const struct gp_tuning *tuning,
			     const struct gp_range *range, uint32_t *own);

/* Whether any operation is of tuning. */
static inline bool gp_tuning_has_any(const struct gp_model *model, const struct gp_tuning *tuning)
{
	return tuning->ops[GP_TUNER_NONE] < model->op_count;
}

#endif
