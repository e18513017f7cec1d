/* cover: copies of every direction, shape and kind of memory, and memsets. */
#ifndef GPUPROF_TESTS_PROGRAMS_COVER_COPIES_H
#define GPUPROF_TESTS_PROGRAMS_COVER_COPIES_H

#include "cover.h"

__device__ char d_symbol[2048];

static char *host, *pinned, *device, *other;

static void copy_flat()
{
	for (int i = 0; i < 2; i++) {
		CHECK(cudaMemcpy(device, host, 100000, cudaMemcpyHostToDevice));
		CHECK(cudaMemcpy(host, device, 100004, cudaMemcpyDeviceToHost));
		CHECK(cudaMemcpy(other, device, 100008, cudaMemcpyDeviceToDevice));
	}
	for (int i = 0; i < 4; i++)
		CHECK(cudaMemcpyAsync(device, pinned, 65536, cudaMemcpyHostToDevice, stream));
	for (int i = 0; i < 3; i++)
		CHECK(cudaMemcpyAsync(pinned, device, 65540, cudaMemcpyDeviceToHost, stream));
	CHECK(cudaMemcpyAsync(other, device, 65544, cudaMemcpyDefault, stream));
	copied("htod", 100000, 2);
	copied("dtoh", 100004, 2);
	copied("dtod", 100008, 2);
	copied("htod", 65536, 4);
	copied("dtoh", 65540, 3);
	copied("dtod", 65544, 1);
	add("copy.htod.pinned", 4);
	add("copy.dtoh.pinned", 3);
}

static void copy_shaped()
{
	cudaMemcpy3DParms cube = {};

	CHECK(cudaMemcpy2D(device, 512, host, 300, 200, 16, cudaMemcpyHostToDevice));
	copied("htod", 200 * 16, 1);
	CHECK(cudaMemcpy2DAsync(other, 512, device, 512, 300, 16, cudaMemcpyDeviceToDevice,
				stream));
	copied("dtod", 300 * 16, 1);
	cube.srcPtr = make_cudaPitchedPtr(device, 128, 128, 8);
	cube.dstPtr = make_cudaPitchedPtr(other, 128, 128, 8);
	cube.extent = make_cudaExtent(128, 8, 4);
	cube.kind = cudaMemcpyDeviceToDevice;
	CHECK(cudaMemcpy3DAsync(&cube, stream));
	copied("dtod", 128 * 8 * 4, 1);
}

static void copy_symbols()
{
	CHECK(cudaMemcpyToSymbol(d_symbol, host, 1024));
	CHECK(cudaMemcpyFromSymbol(host, d_symbol, 1028));
	CHECK(cudaMemcpyToSymbolAsync(d_symbol, pinned, 1032, 0, cudaMemcpyHostToDevice, stream));
	CHECK(cudaMemcpyFromSymbolAsync(pinned, d_symbol, 1036, 0, cudaMemcpyDeviceToHost, stream));
	copied("htod", 1024, 1);
	copied("dtoh", 1028, 1);
	copied("htod", 1032, 1);
	copied("dtoh", 1036, 1);
	add("copy.htod.pinned", 1);
	add("copy.dtoh.pinned", 1);
}

static void copy_arrays()
{
	cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
	cudaArray_t array;

	CHECK(cudaMallocArray(&array, &format, 64, 64));
	allocated("array", 64 * 64 * sizeof(float));
	for (int i = 0; i < 2; i++)
		CHECK(cudaMemcpy2DToArray(array, 0, 0, host, 256, 256, 64, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy2DFromArray(host, 256, array, 0, 0, 256, 32, cudaMemcpyDeviceToHost));
	add("copy.htoa", 2);
	add("copy.atoh", 1);
	CHECK(cudaFreeArray(array));
}

static void copies()
{
	host = (char *)calloc(1, MIB);
	pinned = pinned_memory(MIB);
	device = device_memory(MIB);
	other = device_memory(MIB);
	copy_flat();
	copy_shaped();
	copy_symbols();
	copy_arrays();
	wait_for(stream);
	CHECK(cudaFree(device));
	CHECK(cudaFree(other));
	CHECK(cudaFreeHost(pinned));
	free(host);
}

/* The number of records of a batch depends on the driver, and is not compared. */
static void batches()
{
	char *memory = device_memory(MIB), *half = memory + MIB / 2;
	const void *from[] = {memory, memory + 4096, memory + 8192};
	void *to[] = {half, half + 4096, half + 8192};
	size_t bytes[] = {1000, 2000, 3000}, first = 0;
	cudaMemcpyAttributes how = {};
	cudaError_t result;

	how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
	result = cudaMemcpyBatchAsync(to, from, bytes, 3, &how, &first, 1, stream);
	if (result)
		skip("copy.batch", cudaGetErrorString(cudaGetLastError()));
	else
		add("copy.dtod.bytes", 6000);
	wait_for(stream);
	CHECK(cudaFree(memory));
}

static void sets()
{
	char *memory = device_memory(MIB);

	for (int i = 0; i < 2; i++)
		CHECK(cudaMemset(memory, i, MIB));
	for (int i = 0; i < 3; i++)
		CHECK(cudaMemsetAsync(memory, i, 4096, stream));
	CHECK(cudaMemset2DAsync(memory, 1024, 3, 512, 16, stream));
	set(MIB, 2);
	set(4096, 3);
	set(512 * 16, 1);
	wait_for(stream);
	CHECK(cudaFree(memory));
}

#endif
