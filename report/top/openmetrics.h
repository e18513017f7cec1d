/*
 * openmetrics: the numbers of `gpuprof top` for a monitoring system, as `gpuprof export --format
 * openmetrics` names them. Counters run from the beginning of the recording.
 */
#ifndef REPORT_TOP_OPENMETRICS_H
#define REPORT_TOP_OPENMETRICS_H

#include <stddef.h>
#include <stdio.h>

#include "report/top/page.h"

/* Of the processes whose intervals have ended. */
void gp_top_openmetrics_print(FILE *out, const struct gp_page *pages, size_t count);

#endif
