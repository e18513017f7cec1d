#include "tests/rules/rule.h"

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	float *device, *host;
	double start;

	CHECK(cudaMalloc(&device, sizeof(float)));
	CHECK(cudaMallocHost(&host, sizeof(float)));
	start = warm_up();
	for (int i = 0; i < 200; i++) {
		launch_spin(200);
		if (sin)
			CHECK(cudaMemcpy(host, device, sizeof(float), cudaMemcpyDeviceToHost)); /* sin */
		else
			CHECK(cudaMemcpyAsync(host, device, sizeof(float), cudaMemcpyDeviceToHost));
		compute(150);
	}
	return end_loop(start);
}
