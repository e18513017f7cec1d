#include "tests/rules/rule.h"

const int PIECES = 64, PIECE = 256;

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	char *device, *host;
	double start;

	CHECK(cudaMalloc(&device, PIECES * PIECE));
	CHECK(cudaMallocHost(&host, PIECES * PIECE));
	start = warm_up();
	for (int i = 0; i < 50; i++) {
		for (int piece = 0; sin && piece < PIECES; piece++)
			CHECK(cudaMemcpyAsync(device + piece * PIECE, host + piece * PIECE, PIECE, cudaMemcpyHostToDevice)); /* sin */
		if (!sin)
			CHECK(cudaMemcpyAsync(device, host, PIECES * PIECE, cudaMemcpyHostToDevice));
		launch_spin(100);
	}
	return end_loop(start);
}
