#include "tests/rules/rule.h"

const size_t BYTES = 8 << 20;

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	char *device, *host[2];
	double start;

	/* Before the first call: the first access to each page takes long on some machines. */
	for (int i = 0; i < 2 && sin; i++)
		host[i] = (char *)memset(malloc(BYTES), 0, BYTES);
	CHECK(cudaMalloc(&device, BYTES));
	for (int i = 0; i < 2 && !sin; i++)
		CHECK(cudaMallocHost(&host[i], BYTES));
	start = warm_up();
	for (int i = 0; i < 40; i++) {
		memset(host[i % 2], i, BYTES);
		CHECK(cudaMemcpyAsync(device, host[i % 2], BYTES, cudaMemcpyHostToDevice)); /* sin */
		launch_spin(4000);
	}
	return end_loop(start);
}
