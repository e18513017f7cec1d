/* Products of 64 x 128 x 16 numbers in BF16 by each group of four warps, by mma.sync or by wgmma. */
#include "tests/rules/rule.h"

const int BLOCKS = 132 * 2;
const int PRODUCTS = 12000;

#define THREADS 128
#define SUMS    64 /* of each thread: 64 x 128 of a group */

__global__ void multiply_old(float *results, int products)
{
	float c[16][4] = {};
	unsigned a[4] = {threadIdx.x, 1, 2, 3}, b[2] = {threadIdx.x, 5};

	for (int k = 0; k < products; k++)
#pragma unroll
		for (int n = 0; n < 16; n++)
			asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
				     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
				     : "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])
				     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
				       "r"(b[1]));
	for (int n = 0; n < 16; n++)
		results[((size_t)blockIdx.x * THREADS + threadIdx.x) * 16 + n] =
			c[n][0] + c[n][1] + c[n][2] + c[n][3];
}

#define FOUR(n)    "+f"(c[n]), "+f"(c[(n) + 1]), "+f"(c[(n) + 2]), "+f"(c[(n) + 3])
#define SIXTEEN(n) FOUR(n), FOUR((n) + 4), FOUR((n) + 8), FOUR((n) + 12)

/* A matrix in shared memory: parts of 8 x 8 numbers, which are 128 bytes, one after the other. */
__device__ unsigned long long describe(const void *matrix, unsigned bytes_to_next_k, unsigned bytes_to_next_row)
{
	unsigned long long address = (unsigned long long)__cvta_generic_to_shared(matrix);

	return (address & 0x3ffff) >> 4 | (unsigned long long)(bytes_to_next_k >> 4) << 16 |
	       (unsigned long long)(bytes_to_next_row >> 4) << 32;
}

#define PRODUCT                                                                                    \
	"wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "                                   \
	"{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"                                  \
	"%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"                         \
	"%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"                         \
	"%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, 1, 1, 1, 0, 0;\n"
#define FOUR_PRODUCTS PRODUCT PRODUCT PRODUCT PRODUCT

__global__ void multiply_new(float *results, int products)
{
	__shared__ alignas(128) unsigned short operands[(64 + 128) * 16];
	float c[SUMS] = {};

	for (int i = threadIdx.x; i < (64 + 128) * 16; i += THREADS)
		operands[i] = 0;
	__syncthreads();
	c[0] = operands[threadIdx.x];
#if __CUDA_ARCH_FEAT_SM90_ALL
	asm volatile("fence.proxy.async;" ::: "memory");
	for (int k = 0; k < products; k += 8)
		asm volatile("wgmma.fence.sync.aligned;\n" FOUR_PRODUCTS FOUR_PRODUCTS
			     "wgmma.commit_group.sync.aligned;\n"
			     "wgmma.wait_group.sync.aligned 0;"
			     : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)
			     : "l"(describe(operands, 128, 256)),
			       "l"(describe(operands + 64 * 16, 128, 256))
			     : "memory");
#endif
	for (int n = 0; n < 16; n++)
		results[((size_t)blockIdx.x * THREADS + threadIdx.x) * 16 + n] =
			c[n] + c[n + 16] + c[n + 32] + c[n + 48];
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	float *results;
	double start;

	CHECK(cudaMalloc(&results, (size_t)BLOCKS * THREADS * 16 * sizeof(*results)));
	start = warm_up();
	for (int i = 0; i < 400; i++) {
		if (sin)
			multiply_old<<<BLOCKS, THREADS>>>(results, PRODUCTS); /* sin */
		else
			multiply_new<<<BLOCKS, THREADS>>>(results, PRODUCTS);
		CHECK(cudaGetLastError());
	}
	return end_loop(start);
}
