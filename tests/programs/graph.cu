/* graph [LAUNCHES]: a captured graph with a fork and a join, and a graph built node by node. */
#include "check.h"

__global__ void k_trunk()
{
}
__global__ void k_branch()
{
}

static cudaGraphExec_t captured(char *to, char *from)
{
	cudaStream_t trunk, branch;
	cudaEvent_t forked, joined;
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CHECK(cudaStreamCreate(&trunk));
	CHECK(cudaStreamCreate(&branch));
	CHECK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
	CHECK(cudaStreamBeginCapture(trunk, cudaStreamCaptureModeThreadLocal));
	k_trunk<<<1, 32, 0, trunk>>>();
	CHECK(cudaEventRecord(forked, trunk));
	CHECK(cudaStreamWaitEvent(branch, forked, 0));
	k_branch<<<1, 32, 0, branch>>>();
	k_branch<<<1, 32, 0, branch>>>();
	k_trunk<<<1, 32, 0, trunk>>>();
	CHECK(cudaEventRecord(joined, branch));
	CHECK(cudaStreamWaitEvent(trunk, joined, 0));
	CHECK(cudaMemcpyAsync(to, from, 4096, cudaMemcpyDeviceToDevice, trunk));
	CHECK(cudaMemsetAsync(from, 0, 4096, trunk));
	CHECK(cudaStreamEndCapture(trunk, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	return exec;
}

static cudaGraphExec_t built()
{
	cudaKernelNodeParams params = {};
	cudaGraphNode_t nodes[3];
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	params.func = (void *)k_trunk;
	params.gridDim = dim3(1);
	params.blockDim = dim3(32);
	CHECK(cudaGraphCreate(&graph, 0));
	for (int i = 0; i < 3; i++)
		CHECK(cudaGraphAddKernelNode(&nodes[i], graph, i ? &nodes[i - 1] : nullptr,
					     i ? 1 : 0, &params));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	return exec;
}

int main(int argc, char **argv)
{
	int count = argument(argc, argv, 1, 10);
	cudaGraphExec_t first, second;
	cudaStream_t stream;
	char *memory;

	CHECK(cudaMalloc((void **)&memory, 8192));
	CHECK(cudaStreamCreate(&stream));
	first = captured(memory, memory + 4096);
	second = built();
	CHECK(cudaGraphUpload(first, stream));
	for (int i = 0; i < count; i++) {
		CHECK(cudaGraphLaunch(first, stream));
		CHECK(cudaGraphLaunch(second, stream));
	}
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaGraphExecDestroy(first));
	CHECK(cudaGraphExecDestroy(second));
	CHECK(cudaFree(memory));
	say("graph.launches", 2 * count);
	say("kernel.k_trunk", 5 * count);
	say("kernel.k_branch", 2 * count);
	say("copies", count);
	say("sets", count);
	say("captured.launches", 4);
	return 0;
}
