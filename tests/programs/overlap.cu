/* overlap: kernels of known duration on concurrent streams, and on one stream that orders them. */
#include "check.h"

#define STREAMS 4
#define CYCLES  100000000LL /* about 50 ms */

__global__ void k_spin(long long cycles)
{
	long long start = clock64();

	while (clock64() - start < cycles)
		;
}

static float together(cudaStream_t *streams, int count)
{
	cudaEvent_t begin, end[STREAMS];
	float longest = 0, ms;

	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventRecord(begin, streams[0]));
	for (int i = 0; i < count; i++) {
		CHECK(cudaEventCreate(&end[i]));
		k_spin<<<1, 32, 0, streams[i]>>>(CYCLES);
		CHECK(cudaEventRecord(end[i], streams[i]));
	}
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < count; i++) {
		CHECK(cudaEventElapsedTime(&ms, begin, end[i]));
		longest = ms > longest ? ms : longest;
	}
	return longest;
}

int main()
{
	cudaStream_t beside[STREAMS], same[STREAMS];
	float one, parallel, serial;

	for (int i = 0; i < STREAMS; i++) {
		CHECK(cudaStreamCreateWithFlags(&beside[i], cudaStreamNonBlocking));
		same[i] = beside[0];
	}
	together(beside, 1);
	one = together(beside, 1);
	parallel = together(beside, STREAMS);
	serial = together(same, STREAMS);
	say("parallel_is_like_one", parallel < 2 * one);
	say("serial_is_like_four", serial > 3 * one);
	say("kernel.k_spin", 2 + 2 * STREAMS);
	return 0;
}
