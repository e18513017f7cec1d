#include "tests/rules/rule.h"

const size_t BYTES = 8 << 20;

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	char *device, *host;
	double start;

	CHECK(cudaMalloc(&device, BYTES));
	if (sin)
		host = (char *)malloc(BYTES);
	else
		CHECK(cudaMallocHost(&host, BYTES));
	memset(host, 1, BYTES);
	start = warm_up();
	for (int i = 0; i < 40; i++) {
		CHECK(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice)); /* sin */
		launch_spin(500);
		memset(host, i, BYTES / 1024);
	}
	return end_loop(start);
}
