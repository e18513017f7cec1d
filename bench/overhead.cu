// What an operation costs the program's thread, for comparison with and without a profiler (bench/overhead).
//
//   overhead MODE COUNT      prints "MODE COUNT NS_IN_ALL"; MODE: launch, copy, set, malloc, malloc_async, graph, threads,
//                            replay (a graph of 100 nodes, with what the GPU takes)
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <numeric>
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

// The program's thread alone is timed: few enough operations at a time that it never waits for the GPU, and the
// synchronisations between them are left out.
static const long AT_A_TIME = 64;

template <class Operation>
static double repeat(long count, cudaStream_t stream, Operation operation)
{
	double total = 0;

	for (long done = 0; done < count; done += AT_A_TIME) {
		double start = now_ns();

		for (long i = 0; i < AT_A_TIME; i++)
			operation();
		total += now_ns() - start;
		check(cudaStreamSynchronize(stream));
	}
	return total;
}

static double launch(long count)
{
	return repeat(count, 0, [] { overhead_kernel<<<1, 1>>>(); });
}

static double copy(long count)
{
	char *device, *host;

	check(cudaMalloc(&device, 4096));
	check(cudaMallocHost(&host, 4096));
	return repeat(count, 0,
		      [&] { check(cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice)); });
}

static double set(long count)
{
	char *device;

	check(cudaMalloc(&device, 4096));
	return repeat(count, 0, [&] { check(cudaMemsetAsync(device, 0, 4096)); });
}

static double malloc_pair(long count)
{
	void *first;

	// keeps the driver's own block: later ones are cut from it
	check(cudaMalloc(&first, 65536));
	return repeat(count, 0, [] {
		void *memory;

		check(cudaMalloc(&memory, 65536));
		check(cudaFree(memory));
	});
}

static double malloc_async(long count)
{
	return repeat(count, 0, [] {
		void *memory;

		check(cudaMallocAsync(&memory, 65536, 0));
		check(cudaFreeAsync(memory, 0));
	});
}

static cudaGraphExec_t hundred_nodes(cudaStream_t stream)
{
	cudaGraph_t graph;
	cudaGraphExec_t executable;

	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 100; i++)
		overhead_kernel<<<1, 1, 0, stream>>>();
	check(cudaStreamEndCapture(stream, &graph));
	check(cudaGraphInstantiate(&executable, graph, 0));
	return executable;
}

static double graph(long count)
{
	cudaStream_t stream;

	check(cudaStreamCreate(&stream));
	cudaGraphExec_t executable = hundred_nodes(stream);
	return repeat(count, stream, [&] { check(cudaGraphLaunch(executable, stream)); });
}

// From the first launch to the end of the last: what a program that replays a graph waits for.
static double replay(long count)
{
	cudaStream_t stream;

	check(cudaStreamCreate(&stream));
	cudaGraphExec_t executable = hundred_nodes(stream);
	double start = now_ns();
	for (long i = 0; i < count; i++)
		check(cudaGraphLaunch(executable, stream));
	check(cudaStreamSynchronize(stream));
	return now_ns() - start;
}

static double threads(long count)
{
	std::vector<std::thread> all;
	double total[8];

	for (int i = 0; i < 8; i++)
		all.emplace_back([&total, count, i] {
			cudaStream_t stream;

			check(cudaStreamCreate(&stream));
			total[i] = repeat(count / 8, stream,
					  [=] { overhead_kernel<<<1, 1, 0, stream>>>(); });
		});
	for (auto &thread : all)
		thread.join();
	return std::accumulate(total, total + 8, 0.0);
}

static const struct {
	const char *name;
	double (*run)(long count);
} modes[] = {{"launch", launch},
	     {"copy", copy},
	     {"set", set},
	     {"malloc", malloc_pair},
	     {"malloc_async", malloc_async},
	     {"graph", graph},
	     {"threads", threads},
	     {"replay", replay}};

int main(int argc, char **argv)
{
	for (auto &mode : modes) {
		if (argc != 3 || strcmp(argv[1], mode.name) != 0)
			continue;
		check(cudaFree(0));
		mode.run(1000); // warm up
		printf("%s %s %.0f\n", argv[1], argv[2], mode.run(atol(argv[2])));
		return 0;
	}
	fprintf(stderr,
		"usage: overhead launch|copy|set|malloc|malloc_async|graph|threads|replay COUNT\n");
	return 64;
}
