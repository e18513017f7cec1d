/* Calls CUDA from functions with descriptive names. */
#include "places.h"

static void *kernel, *stream, *graph;

FUNCTION static void launch(int times)
{
	while (times-- > 0)
		CHECK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
	END();
}

FUNCTION static void forward(void)
{
	launch(6);
	END();
}

FUNCTION static void backward(void)
{
	launch(3);
	END();
}

FUNCTION static void record_graph(void)
{
	void *captured;

	CHECK(cuStreamBeginCapture_v2(stream, 2));
	launch(1);
	CHECK(cuStreamEndCapture(stream, &captured));
	CHECK(cuGraphInstantiateWithFlags(&graph, captured, 0));
	END();
}

FUNCTION static void replay(int times)
{
	while (times-- > 0)
		CHECK(cuGraphLaunch(graph, stream));
	END();
}

FUNCTION static void leak(size_t bytes)
{
	device_pointer memory;

	CHECK(cuMemAlloc_v2(&memory, bytes));
	END();
}

FUNCTION static void borrow(size_t bytes)
{
	device_pointer memory;

	CHECK(cuMemAlloc_v2(&memory, bytes));
	CHECK(cuMemsetD8_v2(memory, 0, bytes));
	CHECK(cuMemFree_v2(memory));
	END();
}

FUNCTION static void descend(int levels)
{
	if (levels == 0)
		launch(2);
	else
		descend(levels - 1);
	END();
}

/* Also called by programs that load this one as a library. */
int run_places(void);
int run_places(void)
{
	void *context, *module;

	CHECK(cuInit(0));
	CHECK(cuCtxCreate_v2(&context, 0, 0));
	CHECK(cuModuleLoadData(&module, step_ptx));
	CHECK(cuModuleGetFunction(&kernel, module, "step_kernel"));
	CHECK(cuStreamCreate(&stream, 0));
	leak(4096);
	borrow(1 << 20);
	forward();
	backward();
	record_graph();
	replay(5);
	descend(100);
	CHECK(cuCtxSynchronize());
	return 0;
}

int main(void)
{
	int status = run_places();

	END();
	return status;
}
