/*
 * places: shared by the programs for tests of call stacks.  They use the driver API only, so that
 * they need no CUDA compiler.
 */
#ifndef TESTS_PROGRAMS_PLACES_H
#define TESTS_PROGRAMS_PLACES_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned long long device_pointer;

int cuInit(unsigned);
int cuCtxCreate_v2(void **, unsigned, int);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **, const void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		   void *, void **, void **);
int cuMemAlloc_v2(device_pointer *, size_t);
int cuMemFree_v2(device_pointer);
int cuMemsetD8_v2(device_pointer, unsigned char, size_t);
int cuStreamCreate(void **, unsigned);
int cuStreamBeginCapture_v2(void *, int);
int cuStreamEndCapture(void *, void **);
int cuGraphInstantiateWithFlags(void **, void *, unsigned long long);
int cuGraphLaunch(void *, void *);

#ifdef __cplusplus
}
#endif

#define FUNCTION __attribute__((noinline))
#define END()    __asm__ volatile("") /* prevents a tail call at the end of a function */
#define CHECK(call)                                                                                \
	do {                                                                                       \
		int status = (call);                                                               \
		if (status != 0) {                                                                 \
			fprintf(stderr, "%s: %d\n", #call, status);                                \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static const char step_ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
			       ".visible .entry step_kernel() { ret; }\n";

#endif
