/*
 * The shared definitions of the simulated libcudart.  A function cudaX of the API is defined as
 * sim_cudaX; the exported cudaX around it, with its callbacks, is generated (gen.awk).  As in the
 * real one each calls its counterpart in the driver, whose callbacks nest inside.
 */
#ifndef GPUPROF_TESTS_SIM_RUNTIME_H
#define GPUPROF_TESTS_SIM_RUNTIME_H

#include "tests/sim/call.h"

#include <cuda_runtime_api.h>

#include "sim_rt_impl.h"

int sim_rt_enter(struct sim_call *call, const void *function);
int sim_rt_exit(struct sim_call *call, int result);

/* The kernel behind a host function or a kernel handle, loaded if need be; NULL: not one. */
CUkernel sim_rt_kernel(const void *function);
/* Its name; the driver is asked unless it is a host function.  NULL: not a kernel. */
const char *sim_rt_kernel_name(const void *function);
/* Gives memory to the variables beside a kernel that was loaded before there was a context. */
void sim_rt_place_variables(const void *function);
/* The device memory behind a host variable; false: not one. */
bool sim_rt_symbol(const void *symbol, CUdeviceptr *address, size_t *bytes);

/* The device that the calling thread chose, and its primary context made current. */
int sim_rt_device(void);
cudaError_t sim_rt_set_device(int device);
cudaError_t sim_rt_bind(void);
/* cuInit and the runtime's first queries of the driver. */
cudaError_t sim_rt_init(void);
/* The calling thread's last error, and its reset to a new value. */
cudaError_t sim_rt_last_error(void);
cudaError_t sim_rt_take_error(void);

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function);

static inline cudaError_t sim_rt_result(CUresult r)
{
	return (cudaError_t)r; /* the codes are numbered alike */
}

static inline CUdeviceptr sim_rt_pointer(const void *p)
{
	return (CUdeviceptr)(uintptr_t)p;
}

#endif
