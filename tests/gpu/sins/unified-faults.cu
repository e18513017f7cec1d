#include "tests/rules/rule.h"

const int PARTS = 16;
const size_t PART_BYTES = 16 << 20;

__global__ void touch(char *bytes)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < PART_BYTES;
	     i += (size_t)gridDim.x * blockDim.x)
		bytes[i]++;
}

static void move(char *bytes, size_t count, bool to_gpu, cudaStream_t stream)
{
#if CUDART_VERSION >= 13000
	struct cudaMemLocation place = {};

	place.type = to_gpu ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
	CHECK(cudaMemPrefetchAsync(bytes, count, place, 0, stream));
#else
	CHECK(cudaMemPrefetchAsync(bytes, count, to_gpu ? 0 : cudaCpuDeviceId, stream));
#endif
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	cudaStream_t work, ahead;
	cudaEvent_t there;
	char *parts;
	double start;

	CHECK(cudaMallocManaged(&parts, PARTS * PART_BYTES)); /* sin */
	move(parts, PARTS * PART_BYTES, false, 0);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&ahead, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&there, cudaEventDisableTiming));
	start = warm_up();
	for (int i = 0; i < PARTS; i++) {
		char *part = parts + i * PART_BYTES;

		if (!sin)
			move(part, PART_BYTES, true, ahead);
		CHECK(cudaEventRecord(there, ahead));
		launch_spin(2000, work);
		CHECK(cudaStreamWaitEvent(work, there, 0));
		touch<<<132, 256, 0, work>>>(part);
		CHECK(cudaGetLastError());
	}
	return end_loop(start);
}
