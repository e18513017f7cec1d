/* api_name: the names of API calls as programs write them. */
#ifndef REPORT_TRACE_API_NAME_H
#define REPORT_TRACE_API_NAME_H

#include <stddef.h>

/*
 * The length of the name without the endings that only CUPTI uses: a version of four or more digits
 * (cudaLaunchKernel_v7000) and the per-thread default stream (_ptsz, _ptds). "_v2" belongs to the
 * program's own name and stays.
 */
size_t gp_api_name_length(const char *name, size_t length);

#endif
