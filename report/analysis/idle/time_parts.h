/* time_parts: how much of each of the equal parts of a time is taken. */
#ifndef REPORT_ANALYSIS_IDLE_TIME_PARTS_H
#define REPORT_ANALYSIS_IDLE_TIME_PARTS_H

#include <stddef.h>

/* Adds a time, relative to the first part, to the parts that it lies in; its rest beyond them is left out. */
void gp_time_parts_take(double *taken_ns, size_t parts, double part_ns, double at_ns,
			double until_ns);

#endif
