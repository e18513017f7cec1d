/* metric_library: the libcupti that this machine has, for questions about metrics. */
#ifndef REPORT_COUNTERS_METRIC_LIBRARY_H
#define REPORT_COUNTERS_METRIC_LIBRARY_H

#include <stddef.h>

#include "hardware/profiler_host.h"

/*
 * Loads a libcupti that answers such questions: the named file, or the first one found if file is
 * NULL.  It is never closed: that crashes at exit.  Returns 0, or -errno with one line for the user
 * in message.
 */
int gp_metric_library_open(struct gp_profiler_host *host, const char *file, char *message,
			   size_t message_bytes);

#endif
