/*
 * curves: values of devices over time, as columns of a page: queue lengths of streams and copy
 * bandwidth (report/analysis/device/curves.h), and the samples of --hw-timeline.
 */
#ifndef REPORT_HTML_CURVES_H
#define REPORT_HTML_CURVES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/tables/breakdown_scope.h"
#include "report/codec/json_write.h"

/*
 * Write a row for each point: the difference of its time to the previous row, by gp_html_zigzag();
 * the number of the curve; the value from then on.  Times are relative to the origin.  Processes
 * follow each other; the points of a curve are in order.
 *
 * If there are more points than the limit (0 = none), of each few successive points of a curve the
 * highest and the last are kept.
 *
 * Written to json: {"points": rows, "leftOut": points, "curves": [{"process", "device", "name",
 * "unit", "divisor": values are shown divided by it}]}.  has_operations: also the curves of
 * operations.  Returns 0 or a -errno.
 */
int gp_html_curves(struct gp_scope *scope, bool has_operations, uint64_t origin_unix_ns,
		   uint64_t limit, FILE *out, struct gp_json *json);

#endif
