/* Graphs: capture across streams, order on the timeline, records of the nodes. */
#include "tests/sim/harness.h"

static cudaGraphExec_t instantiate(cudaGraph_t graph)
{
	cudaGraphExec_t exec;

	REQUIRE(!cudaGraphInstantiate(&exec, graph, 0));
	return exec;
}

static void flush_kernels(void)
{
	REQUIRE(!cudaDeviceSynchronize());
	REQUIRE(!cuptiActivityFlushAll(1));
}

/* Stream trunk: A, then C.  Stream branch, forked after A and joined at the end: B. */
static cudaGraph_t capture_fork(void)
{
	cudaStream_t trunk, branch;
	cudaEvent_t forked, joined;
	cudaGraph_t graph;

	REQUIRE(!cudaStreamCreate(&trunk) && !cudaStreamCreate(&branch));
	REQUIRE(!cudaEventCreate(&forked) && !cudaEventCreate(&joined));
	REQUIRE(!cudaStreamBeginCapture(trunk, cudaStreamCaptureModeThreadLocal));
	REQUIRE(!launch_ms(trunk, 1) && !cudaEventRecord(forked, trunk));
	REQUIRE(!cudaStreamWaitEvent(branch, forked, 0) && !launch_ms(branch, 2));
	REQUIRE(!launch_ms(trunk, 3) && !cudaEventRecord(joined, branch));
	REQUIRE(!cudaStreamWaitEvent(trunk, joined, 0) && !launch_ms(trunk, 1));
	REQUIRE(cudaStreamEndCapture(branch, &graph) == cudaErrorStreamCaptureUnmatched);
	REQUIRE(cudaStreamSynchronize(trunk) == cudaErrorStreamCaptureUnsupported);
	REQUIRE(!cudaStreamEndCapture(trunk, &graph));
	REQUIRE(!cudaStreamQuery(branch)); /* the capture has ended */
	return graph;
}

static void fork_and_join(void)
{
	cudaGraphExec_t exec;
	size_t nodes = 0;
	cudaGraph_t graph;

	register_kernels();
	start_client();
	graph = capture_fork();
	REQUIRE(!cudaGraphGetNodes(graph, NULL, &nodes) && nodes == 4);
	exec = instantiate(graph);
	flush_kernels();
	REQUIRE(client.record_count == 0); /* captured calls execute nothing */
	REQUIRE(!cudaGraphLaunch(exec, NULL));
	flush_kernels();
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 4);
	REQUIRE(nth_kernel(1)->start >= nth_kernel(0)->end);
	REQUIRE(nth_kernel(2)->start >= nth_kernel(0)->end);
	REQUIRE(nth_kernel(1)->start < nth_kernel(2)->end &&
		nth_kernel(2)->start < nth_kernel(1)->end);
	REQUIRE(nth_kernel(3)->start >= nth_kernel(1)->end &&
		nth_kernel(3)->start >= nth_kernel(2)->end);
}

static void identify_nodes(void)
{
	cudaGraphExec_t first, second;
	uint32_t id;
	cudaGraph_t graph;

	register_kernels();
	start_client();
	graph = capture_fork();
	first = instantiate(graph);
	second = instantiate(graph);
	REQUIRE(!cuptiGetGraphId(graph, &id) && id == 1);
	REQUIRE(!cuptiGetGraphExecId(second, &id) && id == 4);
	REQUIRE(!cudaGraphLaunch(first, NULL) && !cudaGraphLaunch(second, NULL));
	flush_kernels();
	for (size_t i = 0; i < 8; i++) {
		REQUIRE(nth_kernel(i)->graphId == (i < 4 ? 2 : 4));
		REQUIRE(nth_kernel(i)->graphNodeId ==
			((uint64_t)nth_kernel(i)->graphId << 32 | (i % 4)));
		REQUIRE(nth_kernel(i)->correlationId == nth_kernel(i < 4 ? 0 : 4)->correlationId);
	}
	REQUIRE(nth_kernel(4)->start >= nth_kernel(3)->end);
}

static void trace_whole_graphs(void)
{
	CUpti_ActivityGraphTrace2 *trace;
	cudaGraphExec_t exec;

	register_kernels();
	start_client();
	REQUIRE(!cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
	exec = instantiate(capture_fork());
	REQUIRE(!cudaGraphLaunch(exec, NULL));
	flush_kernels();
	trace = nth_record(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 0);
	REQUIRE(client.record_count == 1 && trace->graphId == 2 && trace->end > trace->start);
}

/* Each launch moves the bytes of copies and memsets. */
static void move_bytes(void)
{
	cudaStream_t stream;
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	char *p, byte;

	REQUIRE(!cudaMalloc((void **)&p, 200) && !cudaMemset(p, 5, 200) &&
		!cudaStreamCreate(&stream));
	REQUIRE(!cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	REQUIRE(!cudaMemcpyAsync(p + 100, p, 100, cudaMemcpyDeviceToDevice, stream));
	REQUIRE(!cudaMemsetAsync(p, 9, 100, stream));
	REQUIRE(!cudaStreamEndCapture(stream, &graph));
	exec = instantiate(graph);
	REQUIRE(!cudaMemcpy(&byte, p, 1, cudaMemcpyDeviceToHost) && byte == 5);
	REQUIRE(!cudaGraphLaunch(exec, stream) && !cudaStreamSynchronize(stream));
	REQUIRE(!cudaMemcpy(&byte, p + 150, 1, cudaMemcpyDeviceToHost) && byte == 5);
	REQUIRE(!cudaGraphLaunch(exec, stream) && !cudaStreamSynchronize(stream));
	REQUIRE(!cudaMemcpy(&byte, p + 150, 1, cudaMemcpyDeviceToHost) && byte == 9);
}

static void test_capture(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, fork_and_join), 0);
	assert_int_equal(in_child(NULL, move_bytes), 0);
}

static void test_records(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, identify_nodes), 0);
	assert_int_equal(in_child(NULL, trace_whole_graphs), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
