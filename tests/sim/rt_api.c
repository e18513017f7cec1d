/* libcudart: the exported functions, generated. */
#include "tests/sim/runtime.h"

#include <generated_cuda_runtime_api_meta.h>

#include "sim_rt_wrappers.inc"
