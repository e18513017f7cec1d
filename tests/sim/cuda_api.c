/* libcuda: the exported functions, generated. */
/* All versions of the functions, none renamed. */
#define __CUDA_API_VERSION_INTERNAL
#include "tests/sim/driver.h"

#include <generated_cuda_meta.h>

#include "sim_drv_wrappers.inc"
