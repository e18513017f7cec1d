/*
 * series: what was allocated, over time, as columns of a page.
 */
#ifndef REPORT_HTML_SERIES_H
#define REPORT_HTML_SERIES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/json_write.h"
#include "report/model.h"

/*
 * A row for each change: its time from the origin, less that of the row before; the series' number; the bytes from then on.  What a series is,
 * goes to json as an array.  Returns 0 or -ENOMEM.
 */
int gp_html_series(struct gp_model *const *models, size_t model_count, uint64_t origin_unix_ns,
		   FILE *out, struct gp_json *json);

#endif
