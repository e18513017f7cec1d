#include "tests/rules/rule.h"

const int BATCHES = 30;
const size_t BYTES = 1 << 20;

static char *batches[2];

/* Makes a batch: 2 ms. */
static void load(int i)
{
	compute(2000);
	batches[i % 2][0] = (char)i;
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	char *device;
	double start;

	CHECK(cudaMalloc(&device, BYTES));
	for (int i = 0; i < 2; i++)
		CHECK(cudaMallocHost(&batches[i], BYTES));
	start = warm_up();
	for (int i = 0; i < BATCHES; i++) {
		if (sin)
			load(i);
		CHECK(cudaMemcpyAsync(device, batches[i % 2], BYTES, cudaMemcpyHostToDevice)); /* sin */
		launch_spin(1000);
	}
	if (!sin)
		load(0); /* the others were made by somebody else, meanwhile */
	return end_loop(start);
}
