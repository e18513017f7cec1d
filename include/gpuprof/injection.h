/*
 * injection: the environment variables through which the CUDA driver and NVTX load a tool's
 * library, the variable that identifies Nsight Compute, and the words by which `gpuprof doctor`
 * finds what the library says if it cannot record GPU activity.
 */
#ifndef GPUPROF_INJECTION_H
#define GPUPROF_INJECTION_H

#define GP_INJECTION_CUDA "CUDA_INJECTION64_PATH"
#define GP_INJECTION_NVTX "NVTX_INJECTION64_PATH"

/*
 * Set in every process that Nsight Compute (ncu) starts.  ncu ends a program in which
 * GP_INJECTION_CUDA is set, whatever its value.
 */
#define GP_INJECTION_BY_NCU "NV_NSIGHT_INJECTION_TRANSPORT_TYPE"

/* The library's line without GPU activity: its beginning, and the words before a command. */
#define GP_NO_ACTIVITY "no GPU activity is recorded: "
#define GP_FIX_COMMAND "; for the fix, type: "

#endif
