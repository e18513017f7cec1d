#include "report/base/parallel.h"

#include <sched.h>

uint32_t gp_core_count(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}
