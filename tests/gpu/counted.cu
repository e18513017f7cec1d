/*
 * counted [ROUNDS [OTHERS]]: kernels whose operations and bytes are known, one after the other.
 *
 * Prints "KERNEL QUANTITY VALUE" for one launch of each kernel: ffma, fadd, dfma (executed by
 * threads), tensor (operations of tensor cores), read and written (bytes of DRAM).  OTHERS: each
 * round also fills and copies memory on the device.  The kernels of a round are in a range "round".
 */
#include <nvtx3/nvToolsExt.h>
#include <stdint.h>

#include "tests/programs/check.h"

#define ELEMENTS (1u << 26) /* 256 MiB, several times the L2 cache */
#define THREADS  256u
#define SIDE     1024u
#define CHAIN    1024u
#define BLOCKS   1056u /* 8 for each SM of an H200 */
#define ROW      8192u

__global__ void saxpy(float *y, const float *x, float a)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

	y[i] = a * x[i] + y[i];
}

__global__ void sgemm(float *c, const float *a, const float *b)
{
	unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
	unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	for (unsigned k = 0; k < SIDE; k++)
		sum += a[row * SIDE + k] * b[k * SIDE + column];
	c[row * SIDE + column] = sum;
}

__global__ void reduce(float *sums, const float *x)
{
	__shared__ float parts[THREADS];
	float sum = 0;

	for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < ELEMENTS;
	     i += (size_t)gridDim.x * THREADS)
		sum += x[i];
	parts[threadIdx.x] = sum;
	__syncthreads();
	for (unsigned s = THREADS / 2; s > 0; s /= 2) {
		if (threadIdx.x < s)
			parts[threadIdx.x] += parts[threadIdx.x + s];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		sums[blockIdx.x] = parts[0];
}

__global__ void copy(float4 *to, const float4 *from)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

	to[i] = from[i];
}

template <typename T> __device__ void chain(T *data, T a, T b)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	T value = data[i];

#pragma unroll 16
	for (unsigned k = 0; k < CHAIN; k++)
		value = value * a + b;
	data[i] = value;
}

__global__ void fma32(float *data, float a, float b)
{
	chain(data, a, b);
}

__global__ void fma64(double *data, double a, double b)
{
	chain(data, a, b);
}

/* mma.sync: 16 x 8 x 16 products, BF16 into FP32 */
__global__ void mma(float *data)
{
	float c[4] = {0, 0, 0, 0};
#if __CUDA_ARCH__ >= 800
	uint32_t a[4] = {threadIdx.x, 1, 2, 3}, b[2] = {threadIdx.x, 5};

#pragma unroll 16
	for (unsigned k = 0; k < CHAIN; k++)
		asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
			     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
			     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
			     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
	data[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = c[0] + c[1] + c[2] + c[3];
}

/* The rows above and below are read from the L2 cache. */
__global__ void stencil(float *y, const float *x)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

	y[i] = x[(i - ROW) % ELEMENTS] + x[i] + x[(i + ROW) % ELEMENTS];
}

__global__ void axpy64(double *y, const double *x, double a)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

	y[i] = a * x[i] + y[i];
}

/* Atomics in shared memory, and in global memory at the end. */
__global__ void histogram(int *bins, const float *x)
{
	__shared__ int parts[THREADS];

	parts[threadIdx.x] = 0;
	__syncthreads();
	for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < ELEMENTS;
	     i += (size_t)gridDim.x * THREADS)
		atomicAdd(&parts[(unsigned)x[i] % THREADS], 1);
	__syncthreads();
	atomicAdd(&bins[threadIdx.x], parts[threadIdx.x]);
}

static void say_counts(void)
{
	const double n = ELEMENTS, bytes = 4 * n, threads = (double)BLOCKS * THREADS;
	const struct {
		const char *kernel, *quantity;
		double value;
	} counts[] = {
		{"saxpy", "ffma", n},
		{"saxpy", "read", 2 * bytes},
		{"saxpy", "written", bytes},
		{"sgemm", "ffma", (double)SIDE * SIDE * SIDE},
		{"reduce", "fadd", n + BLOCKS * (THREADS - 1)},
		{"reduce", "read", bytes},
		{"copy", "read", bytes},
		{"copy", "written", bytes},
		{"fma32", "ffma", threads * CHAIN},
		{"fma64", "dfma", threads * CHAIN},
		{"stencil", "fadd", 2 * n},
		{"stencil", "read", bytes},
		{"stencil", "written", bytes},
		{"axpy64", "dfma", n / 2},
		{"axpy64", "read", 2 * bytes},
		{"axpy64", "written", bytes},
		{"histogram", "read", bytes},
		{"mma", "tensor", threads / 32 * CHAIN * 2 * 16 * 8 * 16},
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		printf("%s %s %.0f\n", counts[i].kernel, counts[i].quantity, counts[i].value);
}

int main(int argc, char **argv)
{
	int rounds = argument(argc, argv, 1, 100), others = argument(argc, argv, 2, 0);
	float *x, *y;

	CHECK(cudaMalloc((void **)&x, ELEMENTS * sizeof(float)));
	CHECK(cudaMalloc((void **)&y, ELEMENTS * sizeof(float)));
	CHECK(cudaMemset(x, 0, ELEMENTS * sizeof(float)));
	CHECK(cudaMemset(y, 0, ELEMENTS * sizeof(float)));
	for (int i = 0; i < rounds; i++) {
		nvtxRangePushA("round");
		saxpy<<<ELEMENTS / THREADS, THREADS>>>(y, x, 2);
		sgemm<<<dim3(SIDE / 16, SIDE / 16), dim3(16, 16)>>>(y, x, x);
		reduce<<<BLOCKS, THREADS>>>(y, x);
		if (others) {
			CHECK(cudaMemsetAsync(y, 0, 1 << 20));
			CHECK(cudaMemcpyAsync(y, x, 1 << 20, cudaMemcpyDeviceToDevice));
		}
		copy<<<ELEMENTS / 4 / THREADS, THREADS>>>((float4 *)y, (const float4 *)x);
		fma32<<<BLOCKS, THREADS>>>(y, 0.5f, 1);
		fma64<<<BLOCKS, THREADS>>>((double *)y, 0.5, 1);
		mma<<<BLOCKS, THREADS>>>(y);
		stencil<<<ELEMENTS / THREADS, THREADS>>>(y, x);
		axpy64<<<ELEMENTS / 2 / THREADS, THREADS>>>((double *)y, (const double *)x, 0.5);
		histogram<<<BLOCKS, THREADS>>>((int *)y, x);
		nvtxRangePop();
		if (i % 10 == 9)
			CHECK(cudaDeviceSynchronize());
	}
	CHECK(cudaDeviceSynchronize());
	say_counts();
	return 0;
}
