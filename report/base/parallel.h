/* cores: how many cores of the machine this process may run on; 1 where that is not known. */
#ifndef REPORT_BASE_PARALLEL_H
#define REPORT_BASE_PARALLEL_H

#include <stdint.h>

uint32_t gp_core_count(void);

#endif
