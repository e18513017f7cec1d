/*
 * device_work: the end of a device's work that had been launched before a call: finds calls that
 * waited for it.
 *
 * One model; ask about its calls in about the order of their starts.
 */
#ifndef REPORT_ANALYSIS_DEVICE_DEVICE_WORK_H
#define REPORT_ANALYSIS_DEVICE_DEVICE_WORK_H

#include <stdint.h>

#include "report/base/kway_merge.h"
#include "report/model/model.h"

struct gp_device_work {
	const struct gp_model *model;
	struct gp_kway_merge threads; /* their calls, by start */
	uint32_t *next;               /* by thread: its next call ... */
	/* by device: the latest end of all launched operations so far */
	uint64_t *ends_ns;
};

/* Call gp_device_work_close(). */
void gp_device_work_open(struct gp_device_work *work, const struct gp_model *model);
void gp_device_work_close(struct gp_device_work *work);

/*
 * How long a call waited for its context's device: work that had been launched before it ended
 * during the call, and that took at least half of the call.  0 = it did not wait, or for less than
 * the clocks of host and device differ by.
 */
uint64_t gp_device_work_wait_ns(struct gp_device_work *work, const struct gp_call *call);

#endif
