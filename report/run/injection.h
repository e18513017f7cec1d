/*
 * injection: the variables that make the CUDA driver and NVTX load a tool's library.
 */
#ifndef REPORT_RUN_INJECTION_H
#define REPORT_RUN_INJECTION_H

#include "gpuprof/injection.h"

/* Returns path if it names another library than ours; else, or if path is NULL, NULL. */
const char *gp_injection_other(const char *path);

#endif
