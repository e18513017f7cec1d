/* counters: what the tables of hardware counters know of a counter by its name. */
#ifndef REPORT_TABLES_BY_COUNTERS_H
#define REPORT_TABLES_BY_COUNTERS_H

#include "report/tables/breakdown_scope.h"

/* Whether a sum over kernels means something: not of shares, ratios, rates and peaks. */
bool gp_counter_has_sum(const char *counter);

/* CUPTI's word for its unit; "" if the traces do not tell. */
const char *gp_counter_unit(const struct gp_scope *scope, const char *counter);

#endif
