#include "tests/rules/rule.h"

/* Writes results to a file, say. */
static void save(void)
{
	compute(300000);
}

/* Reads the next step's settings from a file, say. */
static void parse(void)
{
	compute(8000);
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	double start = warm_up();

	for (int phase = 0; phase < 3; phase++) {
		spin<<<132, 256>>>(20000 * CYCLES_PER_US); /* sin */
		if (sin && phase == 1)
			CHECK(cudaDeviceSynchronize());
		if (sin && phase == 1)
			save();
	}
	for (int step = 0; step < 30; step++) {
		if (sin)
			parse();
		spin<<<132, 256>>>(1000 * CYCLES_PER_US); /* sin */
	}
	return end_loop(start);
}
