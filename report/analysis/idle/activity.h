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
	uint64_t copy_bytes;
};

/* Returns 0 or -ENOMEM. */
int gp_activity_gather(struct gp_activity *activity, struct gp_model *const *models,
		       size_t model_count);
void gp_activity_free(struct gp_activity *activity);

/*
 * Marks the operations of a model, all of which were gathered, that are not the program's own work:
 * with a number that is not 0.
 */
int gp_activity_set_apart(struct gp_activity *activity, const struct gp_model *model,
			  const uint8_t *numbers);

/*
 * Whether a call's return code is a failure: "not ready" is an answer, and cudaGetLastError()
 * returns another call's failure.
 */
bool gp_activity_is_failure(const struct gp_model *model, const struct gp_call *call);

/* Whether a call launched in a window of --counters: it lasted until its kernel had ended. */
bool gp_activity_is_in_window(const struct gp_model *model, const struct gp_call *call);

/* The memory of a memset if CUPTI does not tell it: for many in graphs. */
#define GP_ACTIVITY_UNTOLD 0u

/*
 * The name of an operation other than a kernel: "[memcpy HtoD pageable]"; without device memory,
 * and without facts that CUPTI does not tell of a memset.
 */
void gp_activity_label(char label[], const struct gp_op *op);
#define GP_ACTIVITY_LABEL_BYTES 96

#endif
