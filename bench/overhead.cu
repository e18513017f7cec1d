// overhead: measures the cost of an operation on the program's thread, with and without a profiler
// (bench/overhead).
//
//   overhead MODE COUNT
//
// Prints "MODE COUNT NS_IN_ALL READY_NS END_NS DEVICE_BYTES": the times when CUDA was ready and
// when the operations were done (CLOCK_MONOTONIC), and the used GPU memory.  MODE: see modes[].
//
// As a library (liboverhead.so) it does the same for bench/gpu: overhead_ns().
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
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

// Times only the program's thread: so few operations at a time that it never waits for the GPU,
// without the synchronizations between them.
static const long AT_A_TIME = 64;

// The median of these times: a few are ten times as long, because another process had the CPU.
template <class Operation>
static double repeat(long count, cudaStream_t stream, Operation operation)
{
	std::vector<double> times;

	for (long done = 0; done < count; done += AT_A_TIME) {
		double start = now_ns();

		for (long i = 0; i < AT_A_TIME; i++)
			operation();
		times.push_back(now_ns() - start);
		check(cudaStreamSynchronize(stream));
	}
	if (times.empty())
		return 0;
	auto middle = times.begin() + times.size() / 2;
	std::nth_element(times.begin(), middle, times.end());
	return *middle / AT_A_TIME * count;
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
	double ns = repeat(count, 0, [&] {
		check(cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice));
	});
	check(cudaFreeHost(host));
	check(cudaFree(device));
	return ns;
}

static double set(long count)
{
	char *device;

	check(cudaMalloc(&device, 4096));
	double ns = repeat(count, 0, [&] { check(cudaMemsetAsync(device, 0, 4096)); });
	check(cudaFree(device));
	return ns;
}

static double malloc_pair(long count)
{
	void *first;

	// keeps the driver's memory block, from which later allocations are served
	check(cudaMalloc(&first, 65536));
	double ns = repeat(count, 0, [] {
		void *memory;

		check(cudaMalloc(&memory, 65536));
		check(cudaFree(memory));
	});
	check(cudaFree(first));
	return ns;
}

// The pool keeps its memory.  Otherwise it would release the memory at each synchronization, and
// the first allocation after that would include the mapping of memory.
static double malloc_async(long count)
{
	cudaMemPool_t pool;
	uint64_t kept_bytes = UINT64_MAX;

	check(cudaDeviceGetDefaultMemPool(&pool, 0));
	check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept_bytes));
	return repeat(count, 0, [] {
		void *memory;

		check(cudaMallocAsync(&memory, 65536, 0));
		check(cudaFreeAsync(memory, 0));
	});
}

struct hundred_nodes {
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t executable;

	hundred_nodes();
	~hundred_nodes();
};

hundred_nodes::hundred_nodes()
{
	check(cudaStreamCreate(&stream));
	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 100; i++)
		overhead_kernel<<<1, 1, 0, stream>>>();
	check(cudaStreamEndCapture(stream, &graph));
	check(cudaGraphInstantiate(&executable, graph, 0));
}

hundred_nodes::~hundred_nodes()
{
	check(cudaGraphExecDestroy(executable));
	check(cudaGraphDestroy(graph));
	check(cudaStreamDestroy(stream));
}

static double graph(long count)
{
	hundred_nodes nodes;

	return repeat(count, nodes.stream,
		      [&] { check(cudaGraphLaunch(nodes.executable, nodes.stream)); });
}

// From the first launch to the end of the last one: the time of a program that replays a graph.
static double replay(long count)
{
	hundred_nodes nodes;
	double start = now_ns();

	for (long i = 0; i < count; i++)
		check(cudaGraphLaunch(nodes.executable, nodes.stream));
	check(cudaStreamSynchronize(nodes.stream));
	return now_ns() - start;
}

template <int THREADS>
static double threads(long count)
{
	std::vector<std::thread> all;
	double total[THREADS];

	for (int i = 0; i < THREADS; i++)
		all.emplace_back([&total, count, i] {
			cudaStream_t stream;

			check(cudaStreamCreate(&stream));
			total[i] = repeat(count / THREADS, stream,
					  [=] { overhead_kernel<<<1, 1, 0, stream>>>(); });
			check(cudaStreamDestroy(stream));
		});
	for (auto &thread : all)
		thread.join();
	return std::accumulate(total, total + THREADS, 0.0);
}

// Each thread launches once and ends: the cost of a thread's first launch and of its end.
static double new_threads(long count)
{
	return repeat(count, 0, [] { std::thread([] { overhead_kernel<<<1, 1>>>(); }).join(); });
}

// About 10 us on one multiprocessor; adds its duration, by the GPU's own clock, to *total_ns.
__global__ void busy_kernel(unsigned long long *total_ns)
{
	unsigned long long start, end;
	float value = threadIdx.x + 0.5f;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start)::"memory");
	for (int i = 0; i < 4000; i++)
		asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(value));
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end)::"memory");
	atomicAdd(total_ns, end - start + (value == 1.0f)); // never true; keeps the compiler from removing the loop
}

// The duration of the kernels by the GPU clock: is the GPU slower while it is recorded?
static double kernel_itself(long count)
{
	unsigned long long *device, total_ns = 0;

	check(cudaMalloc(&device, sizeof(*device)));
	check(cudaMemset(device, 0, sizeof(*device)));
	for (long i = 0; i < count; i++)
		busy_kernel<<<1, 1>>>(device);
	check(cudaMemcpy(&total_ns, device, sizeof(total_ns), cudaMemcpyDeviceToHost));
	check(cudaFree(device));
	return total_ns;
}

// From the start of the first to the end of the last of kernels without gaps.
static double kernels_in_a_row(long count)
{
	unsigned long long *device;
	cudaEvent_t first, last;
	float ms = 0;

	check(cudaMalloc(&device, sizeof(*device)));
	check(cudaEventCreate(&first));
	check(cudaEventCreate(&last));
	check(cudaEventRecord(first));
	for (long i = 0; i < count; i++)
		busy_kernel<<<1, 1>>>(device);
	check(cudaEventRecord(last));
	check(cudaEventSynchronize(last));
	check(cudaEventElapsedTime(&ms, first, last));
	check(cudaEventDestroy(first));
	check(cudaEventDestroy(last));
	check(cudaFree(device));
	return ms * 1e6;
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
	     {"threads", threads<8>},
	     {"threads16", threads<16>},
	     {"new_threads", new_threads},
	     {"replay", replay}, // a graph of 100 nodes, including the GPU time
	     {"kernel", kernel_itself},
	     {"kernels", kernels_in_a_row}};

/* The total duration of `count` operations in ns; negative: no such mode. */
extern "C" double overhead_ns(const char *mode, long count)
{
	for (auto &known : modes)
		if (strcmp(mode, known.name) == 0)
			return known.run(count);
	return -1;
}

static void print_usage()
{
	fprintf(stderr, "usage: overhead MODE COUNT, MODE one of");
	for (auto &mode : modes)
		fprintf(stderr, " %s", mode.name);
	fprintf(stderr, "\n");
}

int main(int argc, char **argv)
{
	size_t free_bytes, all_bytes;

	if (argc != 3) {
		print_usage();
		return 64;
	}
	check(cudaFree(0));
	double ready_ns = now_ns();
	double ns = overhead_ns(argv[1], 1000); // warm up
	if (ns >= 0)
		ns = overhead_ns(argv[1], atol(argv[2]));
	if (ns < 0) {
		print_usage();
		return 64;
	}
	check(cudaMemGetInfo(&free_bytes, &all_bytes));
	printf("%s %s %.0f %.0f %.0f %zu\n", argv[1], argv[2], ns, ready_ns, now_ns(),
	       all_bytes - free_bytes);
	return 0;
}
