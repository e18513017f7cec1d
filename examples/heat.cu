/*
 * heat [STEPS]: heat spreads over a plate; what `make demo` profiles.
 *
 * It works and wastes most of its time. In every step it allocates and frees buffers, and waits for one number before
 * it launches more.  It copies pictures into memory that is not page-locked, and forgets a buffer.  The summary names
 * these lines.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error = (call);                                                        \
		if (error != cudaSuccess) {                                                        \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                         \
				cudaGetErrorString(error));                                        \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

const int SIDE = 1024, CELLS = SIDE * SIDE, THREADS = 256, BLOCKS = CELLS / THREADS;
const size_t BYTES = CELLS * sizeof(float);

__global__ void spread(float *next, const float *now)
{
	int cell = blockIdx.x * blockDim.x + threadIdx.x, x = cell % SIDE, y = cell / SIDE;

	if (x > 0 && x < SIDE - 1 && y > 0 && y < SIDE - 1)
		next[cell] = (now[cell - 1] + now[cell + 1] + now[cell - SIDE] + now[cell + SIDE]) / 4;
}

__global__ void changes(float *change, const float *next, const float *now)
{
	int cell = blockIdx.x * blockDim.x + threadIdx.x;

	change[cell] = fabsf(next[cell] - now[cell]);
}

/* Of each row, then of all rows. */
__global__ void largest(float *result, const float *change)
{
	float most = 0;

	for (int x = threadIdx.x; x < SIDE; x += blockDim.x)
		most = fmaxf(most, change[blockIdx.x * SIDE + x]);
	atomicMax((int *)&result[blockIdx.x], __float_as_int(most));
}

static float *scratch(int cells)
{
	float *buffer;

	CHECK(cudaMalloc(&buffer, cells * sizeof(float)));
	return buffer;
}

/* How much the plate changed in the last step. */
static float change_of(const float *next, const float *now)
{
	float *change = scratch(CELLS), *rows = scratch(SIDE), *result = scratch(1), most;

	CHECK(cudaMemsetAsync(rows, 0, SIDE * sizeof(float)));
	CHECK(cudaMemsetAsync(result, 0, sizeof(float)));
	changes<<<BLOCKS, THREADS>>>(change, next, now);
	largest<<<SIDE, THREADS>>>(rows, change);
	largest<<<1, THREADS>>>(result, rows);
	CHECK(cudaMemcpy(&most, result, sizeof(float), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(result));
	CHECK(cudaFree(rows));
	CHECK(cudaFree(change));
	return most;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 200;
	float *now, *next, *picture = (float *)malloc(BYTES);

	CHECK(cudaMalloc(&now, BYTES));
	CHECK(cudaMalloc(&next, BYTES));
	for (int cell = 0; cell < CELLS; cell++)
		picture[cell] = cell < SIDE ? 100 : 0;
	CHECK(cudaMemcpy(now, picture, BYTES, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(next, picture, BYTES, cudaMemcpyHostToDevice));
	for (int step = 0; step < steps; step++) {
		spread<<<BLOCKS, THREADS>>>(next, now);
		float most = change_of(next, now);

		if (step % 20 == 0)
			CHECK(cudaMemcpyAsync(picture, next, BYTES, cudaMemcpyDeviceToHost));
		if (most > 100)
			return 1;
		float *swap = now;
		now = next;
		next = swap;
	}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaGetLastError());
	CHECK(cudaFree(now)); /* not next: the summary shows the leak */
	free(picture);
	return 0;
}
