#include "tests/rules/rule.h"

int main(int argc, char **argv)
{
	int threads = is_sin(argc, argv) ? 4096 : 1024;
	double start = warm_up();

	for (int i = 0; i < 8; i++)
		spin<<<1, threads>>>(1000); /* sin */
	(void)cudaGetLastError();
	end_loop(start);
	return 0;
}
