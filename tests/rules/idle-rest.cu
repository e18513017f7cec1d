#include "tests/rules/rule.h"

const int STEPS = 400, PIECES = 32, BLOCKS = STEPS * PIECES;
const size_t BYTES = (1 << 20) + (4 << 10); /* no others' rest */

__global__ void work(char *piece)
{
	if (piece && threadIdx.x == 0)
		*piece = 1;
}

/* Each step has memory of its own, in pieces, which stay: none is allocated in vain, but all could be before the work, and in one. */
int main(int argc, char **argv)
{
	static char *pieces[BLOCKS];
	bool sin = is_sin(argc, argv);
	double start;

	if (!sin)
		CHECK(cudaMalloc(&pieces[0], BLOCKS * BYTES));
	for (int i = 1; !sin && i < BLOCKS; i++)
		pieces[i] = pieces[0] + i * BYTES;
	work<<<1, 32>>>(NULL);
	start = warm_up();
	for (int i = 0; i < BLOCKS; i++) {
		if (sin)
			CHECK(cudaMalloc(&pieces[i], BYTES)); /* sin */
		if ((i + 1) % PIECES != 0)
			continue;
		work<<<1, 32>>>(pieces[i]);
		launch_spin(20);
	}
	end_loop(start);
	for (int i = 0; i < (sin ? BLOCKS : 1); i++)
		CHECK(cudaFree(pieces[i]));
	return 0;
}
