/* fail: calls that must fail, each with its error code, in a program that continues. */
#include "check.h"

__global__ void k_empty()
{
}

static void not_a_kernel()
{
}

int main()
{
	void *p = nullptr;
	char host[16];

	CHECK(cudaFree(0));
	say("malloc.too_much", cudaMalloc(&p, 1ull << 60));
	say("malloc.nothing", cudaMalloc(&p, 0));
	k_empty<<<1, 4096>>>();
	say("launch.too_many_threads", cudaGetLastError());
	say("error_is_gone", cudaGetLastError());
	k_empty<<<0, 32>>>();
	say("launch.empty_grid", cudaGetLastError());
	say("launch.no_kernel",
	    cudaLaunchKernel((const void *)not_a_kernel, dim3(1), dim3(1), nullptr, 0, 0));
	say("copy.wild", cudaMemcpy((void *)host, (void *)64, 16, cudaMemcpyDeviceToHost));
	say("free.wild", cudaFree(host));
	say("device.none", cudaSetDevice(1000));
	say("last_error", cudaGetLastError());
	k_empty<<<1, 32>>>();
	CHECK(cudaDeviceSynchronize());
	say("kernel.k_empty", 1);
	return 0;
}
