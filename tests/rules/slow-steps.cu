#include "tests/rules/rule.h"

const int STEPS = 60;
const size_t BYTES = 1 << 20;

/* Writes the state to a file, say: longer than the launched steps take. */
static void save(void)
{
	compute(60000);
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	char *sums;
	double start;

	CHECK(cudaMalloc(&sums, BYTES));
	start = warm_up();
	for (int step = 0; step < STEPS; step++) {
		launch_spin(2000);
		CHECK(cudaMemsetAsync(sums, 0, BYTES)); /* sin */
		if (sin && step % 12 == 11 && step + 1 < STEPS)
			save();
	}
	return end_loop(start);
}
