/* reset: memory that no call frees: a device reset frees it, or a static destructor after main. */
#include "check.h"

__global__ void k_before()
{
}
__global__ void k_after()
{
}

/* Freed after CUDA has shut down: the call returns an error, but the memory is freed. */
struct owner {
	void *memory = nullptr;

	~owner()
	{
		cudaFree(memory);
	}
};

static owner late;

int main()
{
	void *lost, *kept;

	CHECK(cudaMalloc(&lost, 10000));
	for (int i = 0; i < 10; i++)
		k_before<<<1, 32>>>();
	CHECK(cudaDeviceReset());
	CHECK(cudaMalloc(&late.memory, 20000));
	CHECK(cudaMalloc(&kept, 3000));
	for (int i = 0; i < 5; i++)
		k_after<<<1, 32>>>();
	CHECK(cudaDeviceSynchronize());
	say("kernel.k_before", 10);
	say("kernel.k_after", 5);
	say("device.allocated.bytes", 33000);
	say("leak.bytes", 3000);
	return 0;
}
