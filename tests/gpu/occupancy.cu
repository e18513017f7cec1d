/*
 * occupancy [SHAPES]: launches kernels with many register counts in different random shapes, and
 * prints the runtime's occupancy of each: "KERNEL threads shared blocks", with the kernel as
 * gpuprof names it, and blocks per SM.  Repeated shapes, and shapes that the device cannot launch,
 * are replaced by others.  The last line counts the latter: "impossible N".
 */
#include "tests/programs/check.h"

#include <random>
#include <set>
#include <tuple>

/* Uses about this many registers if the pointer is valid, which it never is. */
template <int REGISTERS, int SHARED> __global__ void use(float *data)
{
	__shared__ char block[SHARED > 0 ? SHARED : 1];
	float values[REGISTERS];

	if (!data)
		return;
#pragma unroll
	for (int i = 0; i < REGISTERS; i++)
		values[i] = data[i * 1000 + threadIdx.x];
	if (SHARED > 0)
		block[threadIdx.x % (SHARED > 0 ? SHARED : 1)] = (char)values[0];
	__syncthreads();
#pragma unroll
	for (int i = 0; i < REGISTERS; i++)
		data[i] = values[i] * values[(i * 7 + 3) % REGISTERS] + (SHARED > 0 ? block[i % (SHARED > 0 ? SHARED : 1)] : 0);
}

struct kernel {
	void (*function)(float *);
	const char *name;
};

#define KERNEL(registers, shared)                                                                  \
	{                                                                                          \
		use<registers, shared>, "use<" #registers ", " #shared ">"                         \
	}
#define KERNELS(registers) KERNEL(registers, 0), KERNEL(registers, 1000), KERNEL(registers, 20000)

static const kernel kernels[] = {
	KERNELS(1),  KERNELS(8),  KERNELS(16), KERNELS(24),  KERNELS(32),  KERNELS(40),	 KERNELS(56),
	KERNELS(72), KERNELS(88), KERNELS(96), KERNELS(120), KERNELS(144), KERNELS(176), KERNELS(210),
};
const int KERNEL_COUNT = sizeof(kernels) / sizeof(kernels[0]);

/* The inputs of the occupancy: the kernel's index, threads, dynamic bytes. */
using shape = std::tuple<int, int, size_t>;

/* False: the device cannot launch this shape. */
static bool try_shape(const kernel &kernel, int threads, int grid, size_t dynamic_bytes)
{
	cudaFuncAttributes attributes;
	int blocks = 0;

	CHECK(cudaFuncGetAttributes(&attributes, kernel.function));
	if (cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)dynamic_bytes) ||
	    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function, threads, dynamic_bytes) || blocks == 0) {
		cudaGetLastError();
		return false;
	}
	kernel.function<<<grid, threads, dynamic_bytes>>>(nullptr);
	CHECK(cudaGetLastError());
	printf("%s %d %zu %d\n", kernel.name, threads, attributes.sharedSizeBytes + dynamic_bytes, blocks);
	return true;
}

int main(int argc, char **argv)
{
	int shapes = argument(argc, argv, 1, 1000), impossible = 0;
	std::mt19937 random(1);
	std::set<shape> done;
	cudaDeviceProp device;

	CHECK(cudaGetDeviceProperties(&device, 0));
	while (done.size() < (size_t)shapes) {
		int kernel = random() % KERNEL_COUNT;
		int threads = random() % 4 ? 32 * (1 + random() % 32) : 1 + random() % 1024;
		size_t most = random() % 2 ? 8192 : device.sharedMemPerBlockOptin;
		size_t dynamic_bytes = random() % 3 ? random() % most : 0;
		shape drawn(kernel, threads, dynamic_bytes);

		if (done.count(drawn))
			continue;
		if (try_shape(kernels[kernel], threads, 1 + random() % 2000, dynamic_bytes))
			done.insert(drawn);
		else
			impossible++;
	}
	CHECK(cudaDeviceSynchronize());
	say("impossible", impossible);
	return 0;
}
