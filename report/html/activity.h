/*
 * activity: how busy each GPU was over time, of all its operations, where the timeline has the
 * longest ones alone.
 */
#ifndef REPORT_HTML_ACTIVITY_H
#define REPORT_HTML_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

#include "report/analysis/device/kernel_kinds.h"
#include "report/codec/json_write.h"
#include "report/model/model.h"

/* Parts into which the time is cut. */
#define GP_HTML_ACTIVITY_PARTS 2048u

/*
 * Add "[[device's number,[for each part of the time from the origin on how much of it the device
 * was busy, in thousandths]],...]". span_ns is not 0.  Returns 0 or -ENOMEM.
 */
int gp_html_activity(struct gp_model *const *models, size_t model_count,
		     const struct gp_kinds *kinds, uint64_t origin_unix_ns, uint64_t span_ns,
		     struct gp_json *json);

#endif
