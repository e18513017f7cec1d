#include "tests/rules/rule.h"

/* Jobs of many kinds: the same two hardly ever follow each other. */
template <int KIND> static void run_job(void)
{
	spin<<<132, 256>>>((40 + KIND) * CYCLES_PER_US);
}

static void (*const jobs[])(void) = {run_job<0>, run_job<1>, run_job<2>,  run_job<3>,
				     run_job<4>, run_job<5>, run_job<6>,  run_job<7>,
				     run_job<8>, run_job<9>, run_job<10>, run_job<11>};

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	double start = warm_up();

	for (int i = 0; i < 150; i++) {
		jobs[i % (sizeof(jobs) / sizeof(jobs[0]))](); /* sin */
		if (sin)
			compute(1000);
	}
	return end_loop(start);
}
