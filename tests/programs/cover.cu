/*
 * cover [SECTION...|-SECTION...]: every operation of CUDA programs on a device, each a known number
 * of times.
 *
 * Every section adds its operations to the totals, which are printed at the end as "name count"
 * lines (tests/lib/facts.py lists the lines that are compared with a trace).  Operations that this
 * device or machine does not support are printed as "skipped NAME: reason".  Without arguments all
 * sections run; with names only those; with -NAME all others.
 */
#include "cover_copies.h"
#include "cover_memory.h"

#include <cooperative_groups.h>
#include <cuda_profiler_api.h>
#include <pthread.h>
#include <thread>

/* ---- kernels --------------------------------------------------------------------------------- */

__global__ void k_plain()
{
}

__global__ void k_shared()
{
	extern __shared__ int shared[];

	shared[threadIdx.x] = threadIdx.x;
}

__global__ void k_cooperative()
{
	cooperative_groups::this_grid().sync();
}

__global__ void k_cluster()
{
}

__global__ void k_follow()
{
}

/* Launches with one attribute, like libraries that use clusters and dependent launches. */
static void launch_with(cudaLaunchAttribute attribute, void (*kernel)(), int count)
{
	cudaLaunchConfig_t config = {};

	config.gridDim = dim3(4);
	config.blockDim = dim3(64);
	config.stream = stream;
	config.attrs = &attribute;
	config.numAttrs = 1;
	for (int i = 0; i < count; i++)
		CHECK(cudaLaunchKernelEx(&config, kernel));
}

static void launch_clusters()
{
	cudaLaunchAttribute cluster = {}, serial = {};

	if (!attribute(cudaDevAttrClusterLaunch)) {
		skip("kernel.k_cluster", "the device has no clusters");
		return;
	}
	cluster.id = cudaLaunchAttributeClusterDimension;
	cluster.val.clusterDim.x = 2;
	cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
	launch_with(cluster, k_cluster, 2);
	launched("k_cluster", 2);
	totals["kernel.k_cluster.cluster"] = 2;
	serial.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	serial.val.programmaticStreamSerializationAllowed = 1;
	launch_with(serial, k_follow, 3);
	launched("k_follow", 3);
}

static void kernels()
{
	for (int i = 0; i < 5; i++)
		k_plain<<<dim3(3, 2, 1), dim3(32, 2, 1)>>>();
	launched("k_plain", 5);
	for (int i = 0; i < 4; i++)
		k_shared<<<2, 64, 1024, stream>>>();
	launched("k_shared", 4);
	for (int i = 0; i < 3; i++)
		CHECK(cudaLaunchCooperativeKernel((void *)k_cooperative, dim3(4), dim3(64), nullptr,
						  0, stream));
	launched("k_cooperative", 3);
	launch_clusters();
	totals["kernel.k_plain.blocks"] = 6;
	totals["kernel.k_plain.threads"] = 64;
	totals["kernel.k_shared.dynamic_shared"] = 1024;
	totals["kernel.k_cooperative.cooperative"] = 1;
	wait_for(stream);
}

/* ---- streams, events, waits, host functions -------------------------------------------------- */

static void streams()
{
	cudaStream_t all[4];
	int least, greatest, priority;
	unsigned int flags;

	CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	CHECK(cudaStreamCreate(&all[0]));
	CHECK(cudaStreamCreateWithFlags(&all[1], cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithPriority(&all[2], cudaStreamNonBlocking, greatest));
	CHECK(cudaStreamCreateWithPriority(&all[3], cudaStreamDefault, least));
	CHECK(cudaStreamGetPriority(all[2], &priority));
	CHECK(cudaStreamGetFlags(all[1], &flags));
	add("priority_is_kept", priority == greatest && flags == cudaStreamNonBlocking);
	for (auto &one : all)
		k_plain<<<dim3(3, 2, 1), dim3(32, 2, 1), 0, one>>>();
	launched("k_plain", 4);
	for (auto &one : all) {
		wait_for(one);
		CHECK(cudaStreamDestroy(one));
	}
	add("stream.created", 4);
}

static void record(cudaEvent_t event, cudaStream_t where)
{
	CHECK(cudaEventRecord(event, where));
	add("event.records", 1);
}

static void events()
{
	cudaStream_t second;
	cudaEvent_t begin, end, plain;
	float ms;

	CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
	add("stream.created", 1);
	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
	CHECK(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
	record(begin, stream);
	k_plain<<<dim3(3, 2, 1), dim3(32, 2, 1), 0, stream>>>();
	launched("k_plain", 1);
	record(plain, stream);
	for (int i = 0; i < 3; i++)
		CHECK(cudaStreamWaitEvent(second, plain, 0));
	add("sync.wait", 3);
	record(end, second);
	CHECK(cudaEventSynchronize(plain));
	CHECK(cudaEventSynchronize(end));
	CHECK(cudaEventQuery(begin)); /* recorded like a wait, because the event is complete */
	add("sync.event", 3);
	CHECK(cudaEventElapsedTime(&ms, begin, end));
	add("time_passes_between_events", ms > 0);
	for (auto event : {begin, end, plain})
		CHECK(cudaEventDestroy(event));
	CHECK(cudaStreamDestroy(second));
}

static void count_up(void *counter)
{
	++*(int *)counter;
}

static void count_in_stream(cudaStream_t, cudaError_t, void *counter)
{
	++*(int *)counter;
}

static void host_functions()
{
	int counter = 0;

	for (int i = 0; i < 3; i++)
		CHECK(cudaLaunchHostFunc(stream, count_up, &counter));
	CHECK(cudaStreamAddCallback(stream, count_in_stream, &counter, 0));
	wait_for(stream);
	add("host_functions_ran", counter);
	add("call.cudaLaunchHostFunc", 3);
}

static void waits()
{
	for (int i = 0; i < 2; i++) {
		CHECK(cudaDeviceSynchronize());
		add("sync.context", 1);
	}
	wait_for(stream);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

__global__ void k_node()
{
}

__global__ void k_child()
{
}

static void launch_graph(cudaGraph_t graph, int count)
{
	cudaGraphExec_t exec;

	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	for (int i = 0; i < count; i++)
		CHECK(cudaGraphLaunch(exec, stream));
	wait_for(stream);
	CHECK(cudaGraphExecDestroy(exec));
	add("graph.launches", count);
}

static void capture_graph(char *memory, int *counter)
{
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < 3; i++)
		k_node<<<2, 32, 0, stream>>>();
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpyAsync(memory, memory + MIB, 4096, cudaMemcpyDeviceToDevice, stream));
	CHECK(cudaMemsetAsync(memory, 0, 8192, stream));
	CHECK(cudaLaunchHostFunc(stream, count_up, counter));
	CHECK(cudaStreamEndCapture(stream, &graph));
	launch_graph(graph, 4);
	add("launches", 3);
	add("call.cudaLaunchHostFunc", 1);
	add("kernel.k_node", 3 * 4);
	copied("dtod", 4096, 4);
	set(8192, 4);
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, const cudaGraphNode_t *after, void (*kernel)())
{
	cudaKernelNodeParams params = {};
	cudaGraphNode_t node;

	params.func = (void *)kernel;
	params.gridDim = dim3(1);
	params.blockDim = dim3(32);
	CHECK(cudaGraphAddKernelNode(&node, graph, after, after ? 1 : 0, &params));
	return node;
}

static void build_graph(char *memory, int *counter)
{
	cudaMemsetParams zeros = {};
	cudaHostNodeParams call = {};
	cudaGraphNode_t node, next;
	cudaGraph_t graph, child;

	CHECK(cudaGraphCreate(&child, 0));
	node = add_kernel(child, nullptr, k_child);
	add_kernel(child, &node, k_child);
	CHECK(cudaGraphCreate(&graph, 0));
	node = add_kernel(graph, nullptr, k_node);
	CHECK(cudaGraphAddMemcpyNode1D(&next, graph, &node, 1, memory, memory + MIB, 4104,
				       cudaMemcpyDeviceToDevice));
	zeros.dst = memory;
	zeros.elementSize = 1;
	zeros.width = 16384;
	zeros.height = 1;
	CHECK(cudaGraphAddMemsetNode(&node, graph, &next, 1, &zeros));
	call.fn = count_up;
	call.userData = counter;
	CHECK(cudaGraphAddHostNode(&next, graph, &node, 1, &call));
	CHECK(cudaGraphAddEmptyNode(&node, graph, &next, 1));
	CHECK(cudaGraphAddChildGraphNode(&next, graph, &node, 1, child));
	CHECK(cudaGraphDestroy(child));
	launch_graph(graph, 3);
	add("kernel.k_node", 3);
	add("kernel.k_child", 2 * 3);
	copied("dtod", 4104, 3);
	set(16384, 3);
}

static void graphs()
{
	char *memory = device_memory(2 * MIB);
	int counter = 0;

	capture_graph(memory, &counter);
	build_graph(memory, &counter);
	add("host_functions_ran", counter);
	CHECK(cudaFree(memory));
}

/* ---- threads, devices, failures, marks of the program ---------------------------------------- */

__global__ void k_thread()
{
}

static void work_in_thread()
{
	cudaStream_t own;

	pthread_setname_np(pthread_self(), "cover-worker");
	CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
	for (int i = 0; i < 5; i++)
		k_thread<<<1, 32, 0, own>>>();
	CHECK(cudaGetLastError());
	CHECK(cudaStreamSynchronize(own));
	CHECK(cudaStreamDestroy(own));
}

static void threads()
{
	for (int i = 0; i < 2; i++)
		std::thread(work_in_thread).join();
	launched("k_thread", 10);
	add("sync.stream", 2);
	add("stream.created", 2);
}

__global__ void k_second()
{
}

static void devices()
{
	char *first, *second;
	int count, reachable = 0;

	CHECK(cudaGetDeviceCount(&count));
	if (count > 1)
		CHECK(cudaDeviceCanAccessPeer(&reachable, 0, 1));
	if (!reachable) {
		skip("copy.ptop",
		     count > 1 ? "the devices do not reach each other" : "there is one device");
		return;
	}
	CHECK(cudaDeviceEnablePeerAccess(1, 0));
	first = device_memory(MIB);
	CHECK(cudaSetDevice(1));
	second = device_memory(MIB);
	for (int i = 0; i < 2; i++)
		k_second<<<1, 32>>>();
	launched("k_second", 2);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaSetDevice(0));
	CHECK(cudaMemcpyPeer(second, 1, first, 0, 70000));
	CHECK(cudaMemcpyPeerAsync(second, 1, first, 0, 70004, stream));
	wait_for(stream);
	CHECK(cudaFree(second));
	CHECK(cudaDeviceDisablePeerAccess(1));
	add("sync.context", 1);
	add("copy.ptop", 2);
	add("copy.ptop.bytes", 140004);
	CHECK(cudaFree(first));
}

static void failures()
{
	void *none;

	add("malloc_fails", cudaMalloc(&none, (size_t)1 << 60) == cudaErrorMemoryAllocation);
	k_plain<<<1, 4096>>>();
	add("launch_fails", cudaGetLastError() != cudaSuccess);
	add("call.failed", 2);
}

static void marks()
{
	CHECK(cudaProfilerStart());
	k_plain<<<dim3(3, 2, 1), dim3(32, 2, 1)>>>();
	launched("k_plain", 1);
	CHECK(cudaProfilerStop());
	add("call.cudaProfilerStart", 1);
	add("call.cudaProfilerStop", 1);
}

static const struct {
	const char *name;
	void (*run)();
} sections[] = {
	{"kernels", kernels}, {"copies", copies},
	{"batches", batches}, {"sets", sets},
	{"streams", streams}, {"events", events},
	{"waits", waits},     {"host_functions", host_functions},
	{"modules", modules}, {"segments", segments},
	{"memory", memory},   {"process", other_process},
	{"graphs", graphs},   {"threads", threads},
	{"devices", devices}, {"failures", failures},
	{"marks", marks},
};

static bool is_wanted(const char *name, int argc, char **argv)
{
	bool all = argc == 1 || argv[1][0] == '-';

	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i] + all, name))
			return !all;
	return all;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--lend"))
		return lend();
	CHECK(cudaStreamCreate(&stream));
	add("stream.created", 1);
	for (auto &section : sections)
		if (is_wanted(section.name, argc, argv))
			section.run();
	CHECK(cudaDeviceSynchronize());
	add("sync.context", 1);
	for (auto &total : totals)
		say(total.first.c_str(), total.second);
	return 0;
}
