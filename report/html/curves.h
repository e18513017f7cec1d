/*
 * curves: how many operations each stream's queue holds and at how many bytes a second each device
 * is copied to and from, over time, as columns of a page (report/analysis/device/curves.h).
 */
#ifndef REPORT_HTML_CURVES_H
#define REPORT_HTML_CURVES_H

#include <stdint.h>
#include <stdio.h>

#include "report/tables/breakdown_scope.h"
#include "report/codec/json_write.h"

/*
 * A row for each point: its time from the origin, less that of the row before, as gp_html_zigzag()
 * has it; the number of the curve; the value from then on.  One process's points come after the
 * other's; those of a curve are in order.
 *
 * Of more points than the limit (0 = none), of each few of a curve that follow each other those
 * stay that are highest and last.
 *
 * Goes to json: {"points": rows, "leftOut": points, "curves": [{"process", "device", "name",
 * "rate": whether values are bytes a second}]}.  Returns 0 or a -errno.
 */
int gp_html_curves(struct gp_scope *scope, uint64_t origin_unix_ns, uint64_t limit, FILE *out,
		   struct gp_json *json);

#endif
