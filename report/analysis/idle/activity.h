/*
 * activity: the operations and API calls of several processes, gathered by name.
 *
 * A kernel's key is 'k' and its mangled name, any other operation's is 'o' or 'g' and a label
 * ("[memcpy HtoD pageable]"), so that no kernel can pass for a copy.
 */
#ifndef REPORT_ANALYSIS_IDLE_ACTIVITY_H
#define REPORT_ANALYSIS_IDLE_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/base/group_by.h"
#include "report/model/model.h"

#define GP_ACTIVITY_KERNEL 'k'
#define GP_ACTIVITY_OTHER  'o'
#define GP_ACTIVITY_GRAPH  'g' /* "[graph 3]": launches of it as a whole */

struct gp_activity {
	struct gp_groups operations;
	struct gp_groups calls;
	uint64_t failures;                 /* calls; report/analysis/device/failures.h says which */
	uint64_t launches, graph_launches; /* calls */
	uint64_t kernels, copies, sets,
		graphs; /* operations; copies from host to host are rows aside */
};

/* Returns 0 or -ENOMEM. */
int gp_activity_gather(struct gp_activity *activity, struct gp_model *const *models,
		       size_t model_count);
void gp_activity_free(struct gp_activity *activity);

/*
 * What of the operations of a model, all of which were gathered, is not the program's own work:
 * those with a number that is not 0.
 */
int gp_activity_set_apart(struct gp_activity *activity, const struct gp_model *model,
			  const uint8_t *numbers);

/*
 * Whether a call's return code says that it failed: "not ready" is an answer, and
 * cudaGetLastError() tells of another call's failure.
 */
bool gp_activity_is_failure(const struct gp_model *model, const struct gp_call *call);

/* The memory of a set where CUPTI does not tell it: of many in graphs. */
#define GP_ACTIVITY_UNTOLD 0u

/*
 * What an operation other than a kernel is called: "[memcpy HtoD pageable]"; memory of the device
 * is not named, nor what is not told of a set.
 */
void gp_activity_label(char label[], const struct gp_op *op);
#define GP_ACTIVITY_LABEL_BYTES 96

#endif
