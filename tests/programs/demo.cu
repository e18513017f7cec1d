/*
 * demo [STEPS]: steps of copy in, three kernels and copy out on two streams, and a forgotten
 * buffer.
 */
#include "check.h"

const int ELEMENTS = 1 << 18;
const size_t BYTES = ELEMENTS * sizeof(float);
const int STREAMS = 2;

template <typename T> __global__ void scale(T *data, int count, T factor)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		data[i] *= factor;
}

template <typename T> __global__ void add(T *sum, const T *data, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		sum[i] += data[i];
}

__global__ void smooth(float *out, const float *in, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i > 0 && i + 1 < count)
		out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;
}

struct lane {
	cudaStream_t stream;
	float *input, *sum, *output; /* on the device */
	float *host;		     /* pinned */
};

static void make_lane(struct lane *lane)
{
	CHECK(cudaStreamCreate(&lane->stream));
	CHECK(cudaMalloc(&lane->input, BYTES));
	CHECK(cudaMalloc(&lane->sum, BYTES));
	CHECK(cudaMalloc(&lane->output, BYTES));
	CHECK(cudaMallocHost(&lane->host, BYTES));
	CHECK(cudaMemsetAsync(lane->sum, 0, BYTES, lane->stream));
}

static void take_step(struct lane *lane)
{
	const dim3 grid(ELEMENTS / 256), block(256);

	CHECK(cudaMemcpyAsync(lane->input, lane->host, BYTES, cudaMemcpyHostToDevice, lane->stream));
	scale<float><<<grid, block, 0, lane->stream>>>(lane->input, ELEMENTS, 0.5f);
	add<float><<<grid, block, 0, lane->stream>>>(lane->sum, lane->input, ELEMENTS);
	smooth<<<grid, block, 0, lane->stream>>>(lane->output, lane->sum, ELEMENTS);
	CHECK(cudaMemcpyAsync(lane->host, lane->output, BYTES, cudaMemcpyDeviceToHost, lane->stream));
	CHECK(cudaGetLastError());
}

static void end_lane(struct lane *lane)
{
	CHECK(cudaStreamSynchronize(lane->stream));
	CHECK(cudaFree(lane->input));
	CHECK(cudaFree(lane->output)); /* not lane->sum: the summary shows the leak */
	CHECK(cudaFreeHost(lane->host));
	CHECK(cudaStreamDestroy(lane->stream));
}

int main(int argc, char **argv)
{
	int steps = argument(argc, argv, 1, 500);
	struct lane lanes[STREAMS];

	for (int i = 0; i < STREAMS; i++)
		make_lane(&lanes[i]);
	for (int step = 0; step < steps; step++)
		take_step(&lanes[step % STREAMS]);
	for (int i = 0; i < STREAMS; i++)
		end_lane(&lanes[i]);
	say("launches", 3ull * steps);
	say("copies", 2ull * steps);
	say("copy.htod.bytes", BYTES * steps);
	say("copy.dtoh.bytes", BYTES * steps);
	say("sets", STREAMS);
	say("leak.bytes", STREAMS * BYTES);
	return 0;
}
