/*
 * conditional [LAUNCHES [TURNS]]: a graph with a kernel, a loop of TURNS iterations (a conditional
 * node) and another kernel; and a graph with only a loop.  The simulated device lacks such graphs,
 * because it would have to execute the kernels that set the condition.
 */
#include "tests/programs/check.h"

__global__ void k_start(cudaGraphConditionalHandle again, int *left, int turns)
{
	*left = turns;
	cudaGraphSetConditional(again, turns > 0);
}

__global__ void k_turn(int *left)
{
	--*left;
}

__global__ void k_ask(cudaGraphConditionalHandle again, int *left)
{
	cudaGraphSetConditional(again, *left > 0);
}

__global__ void k_after(int *left, int turns)
{
	*left = turns;
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, const cudaGraphNode_t *after, void *function,
				  void **arguments)
{
	cudaKernelNodeParams params = {};
	cudaGraphNode_t node;

	params.func = function;
	params.gridDim = params.blockDim = dim3(1);
	params.kernelParams = arguments;
	CHECK(cudaGraphAddKernelNode(&node, graph, after, after ? 1 : 0, &params));
	return node;
}

/* Adds the node.  Its body runs an iteration and sets the condition. */
static cudaGraphNode_t add_loop(cudaGraph_t graph, const cudaGraphNode_t *after,
				cudaGraphConditionalHandle again, int *left)
{
	void *turn_arguments[] = {&left}, *ask_arguments[] = {&again, &left};
	cudaGraphNodeParams params = {};
	cudaGraphNode_t loop, turn;
	cudaGraph_t body;

	params.type = cudaGraphNodeTypeConditional;
	params.conditional.handle = again;
	params.conditional.type = cudaGraphCondTypeWhile;
	params.conditional.size = 1;
	CHECK(cudaGraphAddNode(&loop, graph, after, NULL, after ? 1 : 0, &params));
	body = params.conditional.phGraph_out[0];
	turn = add_kernel(body, NULL, (void *)k_turn, turn_arguments);
	add_kernel(body, &turn, (void *)k_ask, ask_arguments);
	return loop;
}

static cudaGraphExec_t instance_of(cudaGraph_t graph)
{
	cudaGraphExec_t exec;

	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	return exec;
}

static cudaGraphExec_t between_kernels(int *left, int turns)
{
	cudaGraphConditionalHandle again;
	void *start_arguments[] = {&again, &left, &turns}, *after_arguments[] = {&left, &turns};
	cudaGraphNode_t first, loop;
	cudaGraph_t graph;

	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphConditionalHandleCreate(&again, graph, 0, 0));
	first = add_kernel(graph, NULL, (void *)k_start, start_arguments);
	loop = add_loop(graph, &first, again, left);
	add_kernel(graph, &loop, (void *)k_after, after_arguments);
	return instance_of(graph);
}

/* A graph with only a loop of at least one iteration. */
static cudaGraphExec_t alone(int *left)
{
	cudaGraphConditionalHandle again;
	cudaGraph_t graph;

	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
	add_loop(graph, NULL, again, left);
	return instance_of(graph);
}

int main(int argc, char **argv)
{
	int launches = argument(argc, argv, 1, 10), turns = argument(argc, argv, 2, 5), *left;
	cudaGraphExec_t looping, loop;

	CHECK(cudaMalloc((void **)&left, sizeof(*left)));
	looping = between_kernels(left, turns);
	loop = alone(left);
	for (int i = 0; i < launches; i++)
		CHECK(cudaGraphLaunch(looping, 0));
	CHECK(cudaGraphLaunch(loop, 0));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaGraphExecDestroy(looping));
	CHECK(cudaGraphExecDestroy(loop));
	CHECK(cudaFree(left));
	say("graph.launches", launches + 1);
	say("kernel.k_start", launches);
	say("kernel.k_turn", (launches + 1) * turns);
	say("kernel.k_ask", (launches + 1) * turns);
	say("kernel.k_after", launches);
	return 0;
}
