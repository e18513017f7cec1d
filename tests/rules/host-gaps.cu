#include "tests/rules/rule.h"

/* Looks at the results of a step and decides what comes next, say. */
static void decide(void)
{
	compute(40000);
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	double start = warm_up();

	for (int step = 0; step < 8; step++) {
		spin<<<132, 256>>>(10000 * CYCLES_PER_US); /* sin */
		if (sin)
			decide();
	}
	return end_loop(start);
}
