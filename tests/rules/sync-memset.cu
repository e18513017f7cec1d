#include "tests/rules/rule.h"

const size_t BYTES = 1 << 20;

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	char *host;
	double start;

	CHECK(cudaMallocHost(&host, BYTES));
	start = warm_up();
	for (int i = 0; i < 100; i++) {
		launch_spin(200);
		if (sin)
			CHECK(cudaMemset(host, 0, BYTES)); /* sin */
		else
			CHECK(cudaMemsetAsync(host, 0, BYTES));
		compute(150);
	}
	return end_loop(start);
}
