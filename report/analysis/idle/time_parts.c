#include "report/analysis/idle/time_parts.h"

#include <math.h>

void gp_time_parts_take(double *taken_ns, size_t parts, double part_ns, double at_ns,
			double until_ns)
{
	for (size_t part = (size_t)(at_ns / part_ns); part < parts && at_ns < until_ns; part++) {
		double end_ns = fmin((double)(part + 1) * part_ns, until_ns);

		taken_ns[part] += fmax(end_ns - at_ns, 0);
		at_ns = fmax(end_ns, at_ns);
	}
}
