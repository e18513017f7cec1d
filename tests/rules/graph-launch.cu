#include "tests/rules/rule.h"

const int STEPS = 100, JOINS = 4000;

/* A kernel behind a chain of nodes that only join others. */
static cudaGraph_t make_graph(void)
{
	long long cycles = 400 * CYCLES_PER_US;
	void *arguments[] = {&cycles};
	cudaKernelNodeParams kernel = {};
	cudaGraphNode_t node, before;
	cudaGraph_t graph;

	kernel.func = (void *)spin;
	kernel.gridDim = dim3(132);
	kernel.blockDim = dim3(256);
	kernel.kernelParams = arguments;
	CHECK(cudaGraphCreate(&graph, 0));
	for (int i = 0; i < JOINS; i++) {
		CHECK(cudaGraphAddEmptyNode(&node, graph, i ? &before : NULL, i ? 1 : 0));
		before = node;
	}
	CHECK(cudaGraphAddKernelNode(&node, graph, &before, 1, &kernel));
	return graph;
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	cudaGraph_t graph = make_graph();
	cudaGraphExec_t exec;
	double start;

	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	start = warm_up();
	for (int step = 0; step < STEPS; step++) {
		if (sin) {
			CHECK(cudaGraphExecDestroy(exec));
			CHECK(cudaGraphInstantiate(&exec, graph, 0)); /* sin */
		}
		CHECK(cudaGraphLaunch(exec, 0));
	}
	return end_loop(start);
}
