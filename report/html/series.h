/* series: allocated memory over time and its holders, as columns of a page. */
#ifndef REPORT_HTML_SERIES_H
#define REPORT_HTML_SERIES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/codec/json_write.h"
#include "report/model/model.h"
#include "report/analysis/host/stack_profile.h"

/*
 * Write a row for each allocation and free of a block: the difference of its time to the previous
 * row; 2 × the number of its holder, + 1 for a free; its bytes.  The memory at a moment is the sum of
 * all rows until then, so a row depends on all before it.
 *
 * If there are more changes than the limit (0 = none), those of the longest-lived blocks are kept.
 *
 * Written to json: {"changes": rows, "leftOut": left-out blocks, "least": their lifetimes are below
 * this many ns (absent: none are left out, or some were never freed), "accounts": [{"kind",
 * "device", "own": it counts as memory of the device}], "sites": [[call site, callers, allocator]],
 * "holders": [[number of the account, node of the profile, number of the site]]}.  Returns 0 or a
 * -errno.
 */
int gp_html_series(struct gp_model *const *models, size_t model_count, uint64_t origin_unix_ns,
		   uint64_t limit, struct gp_stack_profile *profile, FILE *out,
		   struct gp_json *json);

#endif
