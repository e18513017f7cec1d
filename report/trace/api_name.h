/* api_name: the names of API calls as a program writes them. */
#ifndef REPORT_TRACE_API_NAME_H
#define REPORT_TRACE_API_NAME_H

#include <stddef.h>

/*
 * Length of the name without the endings that only CUPTI knows: a version of four and more digits
 * (cudaLaunchKernel_v7000) and the per-thread default stream (_ptsz, _ptds). "_v2" is the program's
 * own and stays.
 */
size_t gp_api_name_length(const char *name, size_t length);

#endif
