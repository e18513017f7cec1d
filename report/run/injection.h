/*
 * injection: the variables by which CUDA's driver and NVTX load one tool's library each, and whose
 * it is.
 */
#ifndef REPORT_RUN_INJECTION_H
#define REPORT_RUN_INJECTION_H

#include "gpuprof/injection.h"

/*
 * The value of such a variable, which may be NULL, if it names another library than ours; else
 * NULL.
 */
const char *gp_injection_other(const char *path);

#endif
