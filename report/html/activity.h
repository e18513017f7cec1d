/*
 * activity: how busy each GPU was over time, by all its operations, as the timeline may have only
 * the longest ones.
 */
#ifndef REPORT_HTML_ACTIVITY_H
#define REPORT_HTML_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

#include "report/analysis/device/kernel_kinds.h"
#include "report/codec/json_write.h"
#include "report/model/model.h"

/* Number of parts of the time. */
#define GP_HTML_ACTIVITY_PARTS 2048u

/*
 * Add "[[number of the device,[busy share of each part of the time from the origin on, in
 * thousandths]],...]".  span_ns is not 0.
 */
void gp_html_activity(struct gp_model *const *models, size_t model_count,
		      const struct gp_kinds *kinds, uint64_t origin_unix_ns, uint64_t span_ns,
		      struct gp_json *json);

#endif
