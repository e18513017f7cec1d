/*
 * What the programs of tests/rules share.  Each does something in two ways: `NAME sin` as the rule of that name says it should not be
 * done, `NAME mended` as it should.  The line to change ends in the comment "sin".  Each prints the time of its loop, "loop.us N".
 */
#ifndef GPUPROF_TESTS_RULES_RULE_H
#define GPUPROF_TESTS_RULES_RULE_H

#include "tests/programs/check.h"

#include <chrono>
#include <string.h>
#include <unistd.h>

#define CYCLES_PER_US 1975LL

/* A kernel that takes so long; with the name of a library's it is taken for one. */
#define SPIN_KERNEL(name)                                                                          \
	__global__ void name(long long cycles)                                                     \
	{                                                                                          \
		long long start = clock64();                                                       \
                                                                                                   \
		while (clock64() - start < cycles)                                                 \
			;                                                                          \
	}

SPIN_KERNEL(spin)

/* Takes about that long, with the whole GPU. */
static inline void launch_spin(int us, cudaStream_t stream = 0)
{
	spin<<<132, 256, 0, stream>>>(us * CYCLES_PER_US);
	CHECK(cudaGetLastError());
}

static inline double now_us(void)
{
	return std::chrono::duration<double, std::micro>(
		       std::chrono::steady_clock::now().time_since_epoch())
		.count();
}

/* The host does something of its own; other programs may have the processor meanwhile. */
static inline void compute(int us)
{
	double end = now_us() + us;

	if (us >= 1000)
		usleep(us);
	while (now_us() < end)
		;
}

/* Whether it is to be done as it should not be. */
static inline bool is_sin(int argc, char **argv)
{
	if (argc == 2 && (strcmp(argv[1], "sin") == 0 || strcmp(argv[1], "mended") == 0))
		return strcmp(argv[1], "sin") == 0;
	fprintf(stderr, "usage: %s sin|mended\n", argv[0]);
	exit(2);
}

/* What programs do before they measure: the context, and the code of the kernel that all have. */
static inline double warm_up(void)
{
	launch_spin(1);
	CHECK(cudaDeviceSynchronize());
	return now_us();
}

/* The loop began then, and ends when the GPU is done. */
static inline int end_loop(double start_us)
{
	CHECK(cudaDeviceSynchronize());
	say("loop.us", (unsigned long long)(now_us() - start_us));
	return 0;
}

#endif
