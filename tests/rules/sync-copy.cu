#include "tests/rules/rule.h"

const size_t BYTES = 8 << 20;

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	char *device, *host[2];
	cudaStream_t copies;
	double start;

	CHECK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
	CHECK(cudaMalloc(&device, 2 * BYTES));
	for (int i = 0; i < 2; i++)
		CHECK(cudaMallocHost(&host[i], BYTES));
	start = warm_up();
	for (int i = 0; i < 60; i++) {
		char *to = device + i % 2 * BYTES;

		if (sin)
			CHECK(cudaMemcpy(host[i % 2], to, BYTES, cudaMemcpyDeviceToHost)); /* sin */
		else
			CHECK(cudaMemcpyAsync(host[i % 2], to, BYTES, cudaMemcpyDeviceToHost, copies));
		compute(100);
	}
	return end_loop(start);
}
