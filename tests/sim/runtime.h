/*
 * The shared definitions of the simulated libcudart.  A function cudaX of the API is defined as
 * sim_cudaX; the exported cudaX around it, with its callbacks, is generated (gen.awk).  As in the
 * real runtime, each function calls its counterpart in the driver, whose callbacks nest inside.
 */
#ifndef GPUPROF_TESTS_SIM_RUNTIME_H
#define GPUPROF_TESTS_SIM_RUNTIME_H

#include "tests/sim/call.h"

#include <cuda_runtime_api.h>

#include "sim_rt_impl.h"

int sim_rt_enter(struct sim_call *call, const void *function);
int sim_rt_exit(struct sim_call *call, int result);

/* The kernel of a host function or a kernel handle, loaded if necessary; NULL: neither. */
CUkernel sim_rt_kernel(const void *function);
/* The kernel's name, queried from the driver for a kernel handle.  NULL: not a kernel. */
const char *sim_rt_kernel_name(const void *function);
/* Allocates the variables in the binary of a kernel that was loaded before there was a context. */
void sim_rt_place_variables(const void *function);
/* The device memory of a host variable.  False: not a registered variable. */
bool sim_rt_symbol(const void *symbol, CUdeviceptr *address, size_t *bytes);

/* The device of the calling thread, whose primary context is made current. */
int sim_rt_device(void);
cudaError_t sim_rt_set_device(int device);
cudaError_t sim_rt_bind(void);
/* cuInit and the runtime's first queries of the driver. */
cudaError_t sim_rt_init(void);
/* Return the calling thread's last error; return and reset it. */
cudaError_t sim_rt_last_error(void);
cudaError_t sim_rt_take_error(void);

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function);

static inline cudaError_t sim_rt_result(CUresult r)
{
	return (cudaError_t)r; /* both APIs have the same codes */
}

static inline CUdeviceptr sim_rt_pointer(const void *p)
{
	return (CUdeviceptr)(uintptr_t)p;
}

#endif
