/* The host of one rank does something of its own before it launches its step. */
#define MEET ncclDevKernel_AllReduce
#include "tests/gpu/sins/ranks.h"

static void work(int rank, bool sin)
{
	while (cudaStreamQuery(0) == cudaErrorNotReady) /* the host does not run ahead */
		;
	if (sin && rank == 1)
		compute(20000);
	launch_spin(5000);
}
