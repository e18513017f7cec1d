#include "tests/rules/rule.h"

const int STREAMS = 4;

/* Fills an eighth of the GPU. */
static void launch_small(cudaStream_t stream)
{
	spin<<<16, 256, 0, stream>>>(300 * CYCLES_PER_US);
	CHECK(cudaGetLastError());
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	cudaStream_t streams[STREAMS];
	char *flags;
	double start;

	CHECK(cudaMalloc(&flags, 4096));
	for (int i = 0; i < STREAMS; i++)
		CHECK(cudaStreamCreate(&streams[i]));
	start = warm_up();
	for (int i = 0; i < 100; i++) {
		cudaStream_t stream = streams[i % STREAMS];

		CHECK(cudaMemsetAsync(flags, 0, 4096, sin ? 0 : stream)); /* sin */
		launch_small(stream);
	}
	return end_loop(start);
}
