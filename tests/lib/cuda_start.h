/*
 * cuda_start: the start of small C programs: the primary context of the first device, made current,
 * and empty kernels, by the driver API.  A failure ends the program.
 */
#ifndef TESTS_LIB_CUDA_START_H
#define TESTS_LIB_CUDA_START_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cuda.h>

#define CUDA_START_NAME_BYTES 256

/* Exits without exit handlers, so that tests find the state at the failure. */
static inline void cuda_check(CUresult result)
{
	if (result == CUDA_SUCCESS)
		return;
	fprintf(stderr, "CUDA error %d\n", (int)result);
	_exit(1);
}

static inline CUcontext cuda_start(void)
{
	CUcontext context;

	cuda_check(cuInit(0));
	cuda_check(cuDevicePrimaryCtxRetain(&context, 0));
	cuda_check(cuCtxSetCurrent(context));
	return context;
}

/*
 * Loads `count` kernels in one module.  The name of a kernel is its number between prefix and
 * suffix.
 */
static inline void cuda_load_kernels(CUfunction *kernels, size_t count, const char *prefix,
				     const char *suffix)
{
	char *ptx = NULL, name[CUDA_START_NAME_BYTES];
	size_t bytes;
	FILE *out = open_memstream(&ptx, &bytes);
	CUmodule module;

	if (!out)
		_exit(1);
	fputs(".version 7.0\n.target sm_70\n.address_size 64\n", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, ".visible .entry %s%zu%s() { ret; }\n", prefix, i, suffix);
	if (fclose(out) != 0)
		_exit(1);
	cuda_check(cuModuleLoadData(&module, ptx));
	free(ptx);
	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s%zu%s", prefix, i, suffix);
		cuda_check(cuModuleGetFunction(&kernels[i], module, name));
	}
}

#endif
