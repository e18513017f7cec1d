#include "tests/rules/rule.h"

const size_t BYTES = 8 << 20;

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	char *device, *host[2];
	double start;

	CHECK(cudaMalloc(&device, BYTES));
	for (int i = 0; i < 2; i++) {
		if (sin)
			host[i] = (char *)malloc(BYTES);
		else
			CHECK(cudaMallocHost(&host[i], BYTES));
		memset(host[i], 0, BYTES); /* the first access to each page takes long on some machines */
	}
	start = warm_up();
	for (int i = 0; i < 40; i++) {
		memset(host[i % 2], i, BYTES);
		CHECK(cudaMemcpyAsync(device, host[i % 2], BYTES, cudaMemcpyHostToDevice)); /* sin */
		launch_spin(4000);
	}
	return end_loop(start);
}
