#include "tests/rules/rule.h"

const int STEPS = 100;

/* Named like that of NCCL's: leaves most of the GPU to others. */
__global__ void ncclDevKernel_AllReduce_spin(long long cycles)
{
	long long start = clock64();

	while (clock64() - start < cycles)
		;
}

static void wait_for(cudaStream_t stream, cudaStream_t other, cudaEvent_t event)
{
	CHECK(cudaEventRecord(event, other));
	CHECK(cudaStreamWaitEvent(stream, event, 0));
}

/* The gradients of a step are summed up after all of its work, or those of the step before beside it. */
int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	cudaStream_t computing, communicating;
	cudaEvent_t event;
	double start;

	CHECK(cudaStreamCreate(&computing));
	CHECK(cudaStreamCreate(&communicating));
	CHECK(cudaEventCreate(&event));
	start = warm_up();
	for (int step = 0; step < STEPS; step++) {
		if (!sin)
			wait_for(communicating, computing, event);
		launch_spin(1000, computing);
		if (sin)
			wait_for(communicating, computing, event);
		ncclDevKernel_AllReduce_spin<<<4, 256, 0, communicating>>>(600 * CYCLES_PER_US); /* sin */
		CHECK(cudaGetLastError());
		wait_for(computing, communicating, event);
	}
	return end_loop(start);
}
