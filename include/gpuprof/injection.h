/* injection: variables by which CUDA's driver and NVTX load a tool's library, one each, and how a tool is known that bears no other. */
#ifndef GPUPROF_INJECTION_H
#define GPUPROF_INJECTION_H

#define GP_INJECTION_CUDA "CUDA_INJECTION64_PATH"
#define GP_INJECTION_NVTX "NVTX_INJECTION64_PATH"

/* In all processes that Nsight Compute (ncu) has started.  It ends a program in which GP_INJECTION_CUDA is set, whatever that names. */
#define GP_INJECTION_BY_NCU "NV_NSIGHT_INJECTION_TRANSPORT_TYPE"

#endif
