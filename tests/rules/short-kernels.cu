#include "tests/rules/rule.h"

const int STEPS = 100, KERNELS = 40;

/* What a framework does for a launch. */
static void prepare_launch(bool sin)
{
	if (sin)
		compute(40);
}

static void run_step(cudaStream_t stream, bool sin)
{
	for (int i = 0; i < KERNELS; i++) {
		prepare_launch(sin);
		spin<<<132, 256, 0, stream>>>(3 * CYCLES_PER_US); /* sin */
	}
	CHECK(cudaGetLastError());
}

static cudaGraphExec_t capture_step(cudaStream_t stream)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	run_step(stream, false);
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	return exec;
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	cudaStream_t stream;
	cudaGraphExec_t step;
	double start;

	CHECK(cudaStreamCreate(&stream));
	step = capture_step(stream);
	CHECK(cudaGraphUpload(step, stream));
	start = warm_up();
	for (int i = 0; i < STEPS; i++)
		if (sin)
			run_step(stream, true);
		else
			CHECK(cudaGraphLaunch(step, stream));
	return end_loop(start);
}
