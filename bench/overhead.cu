// What one operation costs the program's thread, for comparison with and without a profiler (bench/overhead).
//
//   overhead MODE COUNT      prints "MODE COUNT NS_IN_ALL"; MODE: launch, copy, set, malloc, malloc_async, graph, threads
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

__global__ void overhead_kernel()
{
}

static void check(cudaError_t status)
{
	if (status != cudaSuccess) {
		fprintf(stderr, "overhead: %s\n", cudaGetErrorString(status));
		exit(1);
	}
}

static double now_ns()
{
	timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

// A synchronisation every 512 operations keeps the queue from filling: the thread is never held up by the GPU.
template <class Operation> static void repeat(long count, cudaStream_t stream, Operation operation)
{
	for (long i = 0; i < count; i++) {
		operation();
		if (i % 512 == 511)
			check(cudaStreamSynchronize(stream));
	}
	check(cudaStreamSynchronize(stream));
}

static void launch(long count)
{
	repeat(count, 0, [] { overhead_kernel<<<1, 1>>>(); });
}

static void copy(long count)
{
	char *device, *host;

	check(cudaMalloc(&device, 4096));
	check(cudaMallocHost(&host, 4096));
	repeat(count, 0, [&] { check(cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice)); });
}

static void set(long count)
{
	char *device;

	check(cudaMalloc(&device, 4096));
	repeat(count, 0, [&] { check(cudaMemsetAsync(device, 0, 4096)); });
}

static void malloc_pair(long count)
{
	repeat(count, 0, [] {
		void *memory;

		check(cudaMalloc(&memory, 65536));
		check(cudaFree(memory));
	});
}

static void malloc_async(long count)
{
	repeat(count, 0, [] {
		void *memory;

		check(cudaMallocAsync(&memory, 65536, 0));
		check(cudaFreeAsync(memory, 0));
	});
}

static void graph(long count)
{
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t executable;

	check(cudaStreamCreate(&stream));
	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 100; i++)
		overhead_kernel<<<1, 1, 0, stream>>>();
	check(cudaStreamEndCapture(stream, &graph));
	check(cudaGraphInstantiate(&executable, graph, 0));
	repeat(count, stream, [&] { check(cudaGraphLaunch(executable, stream)); });
}

static void threads(long count)
{
	std::vector<std::thread> all;

	for (int i = 0; i < 8; i++)
		all.emplace_back([=] {
			cudaStream_t stream;

			check(cudaStreamCreate(&stream));
			repeat(count / 8, stream, [=] { overhead_kernel<<<1, 1, 0, stream>>>(); });
		});
	for (auto &thread : all)
		thread.join();
}

static const struct {
	const char *name;
	void (*run)(long count);
} modes[] = {{"launch", launch}, {"copy", copy},		   {"set", set},
	     {"malloc", malloc_pair}, {"malloc_async", malloc_async}, {"graph", graph},
	     {"threads", threads}};

int main(int argc, char **argv)
{
	for (auto &mode : modes) {
		if (argc != 3 || strcmp(argv[1], mode.name) != 0)
			continue;
		check(cudaFree(0));
		mode.run(strcmp(mode.name, "graph") == 0 ? 10 : 1000); // warm up
		double start = now_ns();
		mode.run(atol(argv[2]));
		printf("%s %s %.0f\n", argv[1], argv[2], now_ns() - start);
		return 0;
	}
	fprintf(stderr, "usage: overhead launch|copy|set|malloc|malloc_async|graph|threads COUNT\n");
	return 64;
}
