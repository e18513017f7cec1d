/*
 * Shared by the sample programs.  Each prints "name count" lines of what it did, for tests to
 * compare.
 */
#ifndef GPUPROF_TESTS_PROGRAMS_CHECK_H
#define GPUPROF_TESTS_PROGRAMS_CHECK_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program if a call fails. */
#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t check_result = (call);                                                 \
		if (check_result) {                                                                \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,              \
				cudaGetErrorString(check_result));                                 \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static inline void say(const char *name, unsigned long long count)
{
	printf("%s %llu\n", name, count);
}

/* A number from the command line, or the default. */
static inline int argument(int argc, char **argv, int index, int fallback)
{
	return argc > index ? atoi(argv[index]) : fallback;
}

#endif
