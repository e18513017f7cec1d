/*
 * reserved_pool: memory that a library takes from CUDA in advance.  XLA (JAX) allocates three quarters
 * of a GPU as one block, and hands out parts of it: how much of it is in use is not known to CUDA.
 */
#ifndef REPORT_ANALYSIS_MEMORY_RESERVED_POOL_H
#define REPORT_ANALYSIS_MEMORY_RESERVED_POOL_H

#include <stdint.h>

#include "report/model/model.h"

/* The size of such a block of the process, the largest; 0: there is none. */
uint64_t gp_reserved_pool_bytes(const struct gp_model *model);

#endif
