#include "tests/rules/rule.h"

const size_t BYTES = 4 << 20;

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	char *weights, *host;
	double start;

	CHECK(cudaMalloc(&weights, BYTES));
	CHECK(cudaMallocHost(&host, BYTES));
	start = warm_up();
	for (int i = 0; i < 60; i++) {
		if (sin || i == 0)
			CHECK(cudaMemcpyAsync(weights, host, BYTES, cudaMemcpyHostToDevice)); /* sin */
		launch_spin(500);
	}
	return end_loop(start);
}
