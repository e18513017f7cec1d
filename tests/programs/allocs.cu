/* allocs: memory of every family.  All of it is freed, except for "leak.bytes". */
#include "check.h"

#define COUNT 16

static unsigned long long allocated, freed;

static void device_memory()
{
	void *p[COUNT];

	for (int i = 0; i < COUNT; i++)
		CHECK(cudaMalloc(&p[i], 1000 << i));
	for (int i = 0; i < COUNT; i++)
		CHECK(cudaFree(p[i]));
	allocated += 1000ull * ((1 << COUNT) - 1);
	freed += 1000ull * ((1 << COUNT) - 1);
}

static void ordered_memory(cudaStream_t stream)
{
	void *p[COUNT];

	for (int i = 0; i < COUNT; i++)
		CHECK(cudaMallocAsync(&p[i], 4096, stream));
	for (int i = 0; i < COUNT - 1; i++)
		CHECK(cudaFreeAsync(p[i], stream));
	CHECK(cudaFree(p[COUNT - 1])); /* a plain free of such memory is legal */
	allocated += 4096 * COUNT;
	freed += 4096 * COUNT;
}

static void host_memory()
{
	static char own[8192];
	void *p;

	CHECK(cudaMallocHost(&p, 12345));
	CHECK(cudaFreeHost(p));
	CHECK(cudaHostAlloc(&p, 54321, cudaHostAllocMapped));
	CHECK(cudaFreeHost(p));
	CHECK(cudaHostRegister(own, sizeof(own), 0));
	CHECK(cudaHostUnregister(own));
}

static void managed_memory()
{
	void *p;

	CHECK(cudaMallocManaged(&p, 1 << 20));
	((char *)p)[12345] = 1;
	CHECK(cudaFree(p));
}

static void shaped_memory()
{
	cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
	cudaArray_t array;
	size_t pitch;
	void *p;

	CHECK(cudaMallocPitch(&p, &pitch, 1000, 10));
	allocated += 10 * pitch;
	freed += 10 * pitch;
	CHECK(cudaFree(p));
	CHECK(cudaMallocArray(&array, &format, 64, 64));
	CHECK(cudaFreeArray(array));
}

static void used_memory()
{
	size_t before, after, total;
	void *p;

	CHECK(cudaMemGetInfo(&before, &total));
	CHECK(cudaMalloc(&p, 256 << 20));
	/* free memory depends on other processes: not compared */
	CHECK(cudaMemGetInfo(&after, &total));
	CHECK(cudaFree(p));
	allocated += 256 << 20;
	freed += 256 << 20;
}

int main()
{
	cudaStream_t stream;
	void *leaked;

	CHECK(cudaStreamCreate(&stream));
	device_memory();
	ordered_memory(stream);
	host_memory();
	managed_memory();
	shaped_memory();
	used_memory();
	CHECK(cudaMalloc(&leaked, 77777));
	allocated += 77777;
	say("device.allocated.bytes", allocated);
	say("device.freed.bytes", freed);
	say("leak.bytes", allocated - freed);
	return 0;
}
