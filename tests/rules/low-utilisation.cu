#include "tests/rules/rule.h"

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	double start = warm_up();

	for (int i = 0; i < 150; i++) {
		spin<<<132, 256>>>(50 * CYCLES_PER_US); /* sin */
		if (sin)
			compute(1000);
	}
	return end_loop(start);
}
