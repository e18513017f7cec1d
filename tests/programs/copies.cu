/*
 * copies: copies and memsets of every direction and kind of memory, with the number of moved bytes.
 */
#include "check.h"

#include <string.h>

#define BYTES ((size_t)1 << 20)

__device__ char d_symbol[4096];

static char *host, *pinned, *device, *other;
static unsigned long long htod, dtoh, dtod, sets;

static void flat()
{
	for (int i = 0; i < 4; i++) {
		CHECK(cudaMemcpy(device, host, BYTES, cudaMemcpyHostToDevice));
		CHECK(cudaMemcpy(host, device, BYTES / 2, cudaMemcpyDeviceToHost));
		CHECK(cudaMemcpy(other, device, BYTES / 4, cudaMemcpyDeviceToDevice));
	}
	htod += 4 * BYTES;
	dtoh += 4 * BYTES / 2;
	dtod += 4 * BYTES / 4;
}

static void asynchronous(cudaStream_t stream)
{
	for (int i = 0; i < 8; i++) {
		CHECK(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
		CHECK(cudaMemcpyAsync(pinned, device, 1000, cudaMemcpyDeviceToHost, stream));
		CHECK(cudaMemcpyAsync(other, device, 3000, cudaMemcpyDefault, stream));
	}
	htod += 8 * BYTES;
	dtoh += 8 * 1000;
	dtod += 8 * 3000;
	CHECK(cudaStreamSynchronize(stream));
}

static void shaped(cudaStream_t stream)
{
	CHECK(cudaMemcpy2D(device, 512, host, 300, 200, 16, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy2DAsync(other, 512, device, 512, 200, 16, cudaMemcpyDeviceToDevice,
				stream));
	CHECK(cudaMemcpyToSymbol(d_symbol, host, 4096));
	CHECK(cudaMemcpyFromSymbol(host, d_symbol, 4096));
	htod += 200 * 16 + 4096;
	dtod += 200 * 16;
	dtoh += 4096;
}

static void set(cudaStream_t stream)
{
	CHECK(cudaMemset(device, 7, BYTES));
	CHECK(cudaDeviceSynchronize()); // the stream does not wait for the null stream
	CHECK(cudaMemsetAsync(device, 8, 100, stream));
	CHECK(cudaMemset2D(other, 512, 9, 100, 10));
	sets += BYTES + 100 + 100 * 10;
	CHECK(cudaDeviceSynchronize());
}

static bool bytes_are_right()
{
	CHECK(cudaMemcpy(host, device, 200, cudaMemcpyDeviceToHost));
	dtoh += 200;
	return host[0] == 8 && host[99] == 8 && host[100] == 7;
}

int main()
{
	cudaStream_t stream;

	host = (char *)malloc(BYTES);
	memset(host, 1, BYTES);
	CHECK(cudaMallocHost((void **)&pinned, BYTES));
	CHECK(cudaMalloc((void **)&device, BYTES));
	CHECK(cudaMalloc((void **)&other, BYTES));
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	flat();
	asynchronous(stream);
	shaped(stream);
	set(stream);
	say("bytes_are_right", bytes_are_right());
	say("copy.htod.bytes", htod);
	say("copy.dtoh.bytes", dtoh);
	say("copy.dtod.bytes", dtod);
	say("set.bytes", sets);
	say("copies", 12 + 24 + 4 + 1);
	say("sets", 3);
	CHECK(cudaStreamDestroy(stream));
	return 0;
}
