/*
 * The shared definitions of the simulated libcuda.  A function cuX of the API is defined as
 * sim_cuX; the exported cuX around it, with its callbacks, is generated (gen.awk).
 */
#ifndef GPUPROF_TESTS_SIM_DRIVER_H
#define GPUPROF_TESTS_SIM_DRIVER_H

#include "tests/sim/call.h"
#include "tests/sim/graph.h"
#include "tests/sim/memory.h"
#include "tests/sim/module.h"

/* The types of the first API version, which cuda.h declares only for implementations. */
#ifndef __CUDA_API_VERSION_INTERNAL
#include <cupti.h>
#endif

#include "sim_drv_impl.h"

struct CUarray_st {
	struct sim_range range;
	size_t width_bytes, height, depth;
	CUDA_ARRAY3D_DESCRIPTOR descriptor;
};

int sim_drv_enter(struct sim_call *call, const void *function);
int sim_drv_exit(struct sim_call *call, int result);

/* The current context and the program's stream argument, or an error. */
CUresult sim_drv_context(CUcontext *ctx);
CUresult sim_drv_stream(CUstream handle, CUstream *stream);
/* The effect of a synchronization, or a lack of memory, on the device's memory pools. */
void sim_drv_trim_pools(struct sim_device *device, bool always);
/*
 * Load a function at its first use, which the tools see as overhead.  Returns whether this call
 * loaded it.
 */
bool sim_drv_load_function(struct CUfunc_st *function);
/* Allocate memory in the current context and report it to the tools. */
CUresult sim_drv_allocate(enum sim_memory_kind kind, size_t bytes, struct sim_range *range);
void sim_drv_report_memory(const struct sim_range *range, bool release);
/* Managed memory, which initially resides on the CPU. */
void sim_drv_managed_add(const struct sim_range *range);
void sim_drv_managed_remove(uintptr_t start);
/* A kernel writes to managed memory: blocks on another device or the CPU fault and migrate. */
void sim_drv_fault_in(CUstream stream, CUdeviceptr at, size_t bytes);
void sim_drv_sync(uint32_t type, CUstream stream, CUevent event, uint64_t start);

#endif
