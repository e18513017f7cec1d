/*
 * series: what was allocated, over time, and by whom, as columns of a page.
 */
#ifndef REPORT_HTML_SERIES_H
#define REPORT_HTML_SERIES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/codec/json_write.h"
#include "report/model/model.h"
#include "report/analysis/host/stack_profile.h"

/*
 * A row for each block that comes or goes: its time from the origin, less that of the row before;
 * twice the number of its holder, and 1 more where it goes; its bytes.  What was allocated at a
 * moment is the sum of all rows until then, so that a row needs all before it.
 *
 * Of more changes than the limit (0 = none) those of the blocks that lived longest are there.
 *
 * Goes to json: {"changes": rows, "leftOut": blocks, "least": that lived shorter than so many ns
 * (not there: none are left out, or blocks that were never freed, too), "accounts": [{"kind",
 * "device", "own": it counts as the device's own}], "sites": [[call site, callers, allocator]],
 * "holders": [[number of the account, node of the profile, number of the site]]}.  Returns 0 or a
 * -errno.
 */
int gp_html_series(struct gp_model *const *models, size_t model_count, uint64_t origin_unix_ns,
		   uint64_t limit, struct gp_stack_profile *profile, FILE *out,
		   struct gp_json *json);

#endif
