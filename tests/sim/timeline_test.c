/*
 * The virtual timeline: streams that overlap or wait, events, host functions, the depth of a
 * stream's queue.
 */
#include "tests/sim/harness.h"

#define MS UINT64_C(1000000)

static void flush_kernels(void)
{
	REQUIRE(!cudaDeviceSynchronize());
	REQUIRE(!cuptiActivityFlushAll(1));
}

static void create_streams(cudaStream_t *streams, int count, unsigned int flags)
{
	for (int i = 0; i < count; i++)
		REQUIRE(!cudaStreamCreateWithFlags(&streams[i], flags));
}

static void overlap(void)
{
	cudaStream_t streams[3];

	register_kernels();
	start_client();
	create_streams(streams, 3, cudaStreamNonBlocking);
	for (int i = 0; i < 3; i++)
		REQUIRE(!launch_ms(streams[i], 200));
	flush_kernels();
	REQUIRE(nth_kernel(1)->start < nth_kernel(0)->end);
	REQUIRE(nth_kernel(2)->start < nth_kernel(0)->end);
	REQUIRE(nth_kernel(0)->end - nth_kernel(0)->start == 200 * MS);
	REQUIRE(nth_kernel(0)->streamId != nth_kernel(1)->streamId);
}

static void keep_stream_order(void)
{
	register_kernels();
	start_client();
	for (int i = 0; i < 20; i++)
		REQUIRE(!launch(NULL));
	flush_kernels();
	for (size_t i = 1; i < 20; i++)
		REQUIRE(nth_kernel(i)->start >= nth_kernel(i - 1)->end);
}

/*
 * The legacy default stream and blocking streams wait for each other.  Non-blocking streams do not
 * take part.
 */
static void synchronise_with_legacy(void)
{
	cudaStream_t blocking, independent;

	register_kernels();
	start_client();
	create_streams(&blocking, 1, cudaStreamDefault);
	create_streams(&independent, 1, cudaStreamNonBlocking);
	REQUIRE(!launch_ms(blocking, 100));
	REQUIRE(!launch_ms(NULL, 100));
	REQUIRE(!launch_ms(blocking, 1));
	REQUIRE(!launch_ms(independent, 1));
	flush_kernels();
	REQUIRE(nth_kernel(1)->start >= nth_kernel(0)->end);
	REQUIRE(nth_kernel(2)->start >= nth_kernel(1)->end);
	REQUIRE(nth_kernel(3)->start < nth_kernel(1)->end);
}

static void wait_for_event(void)
{
	cudaStream_t streams[2];
	cudaEvent_t event;

	register_kernels();
	start_client();
	create_streams(streams, 2, cudaStreamNonBlocking);
	REQUIRE(!cudaEventCreate(&event));
	REQUIRE(!cudaEventQuery(event)); /* an event that was never recorded is complete */
	REQUIRE(!launch_ms(streams[0], 100));
	REQUIRE(!cudaEventRecord(event, streams[0]));
	REQUIRE(cudaEventQuery(event) == cudaErrorNotReady);
	REQUIRE(!cudaStreamWaitEvent(streams[1], event, 0));
	REQUIRE(!launch(streams[1]));
	REQUIRE(cudaStreamQuery(streams[1]) == cudaErrorNotReady);
	REQUIRE(!cudaEventSynchronize(event) && !cudaEventQuery(event));
	flush_kernels();
	REQUIRE(nth_kernel(1)->start >= nth_kernel(0)->end);
	REQUIRE(!cudaStreamQuery(streams[1]));
}

static void measure_elapsed(void)
{
	cudaEvent_t begin, end;
	float ms;

	register_kernels();
	REQUIRE(!cudaEventCreate(&begin) && !cudaEventCreate(&end));
	REQUIRE(cudaEventElapsedTime(&ms, begin, end) == cudaErrorInvalidResourceHandle);
	REQUIRE(!cudaEventRecord(begin, NULL) && !launch_ms(NULL, 50) &&
		!cudaEventRecord(end, NULL));
	REQUIRE(cudaEventElapsedTime(&ms, begin, end) == cudaErrorNotReady);
	REQUIRE(!cudaEventSynchronize(end) && !cudaEventElapsedTime(&ms, begin, end));
	REQUIRE(ms >= 50);
}

/* A wait of the host ends after the device's work, by the same clock. */
static void agree_with_the_clock(void)
{
	uint64_t before, after;

	register_kernels();
	start_client();
	REQUIRE(!cudaFree(NULL) && !cuptiGetTimestamp(&before));
	REQUIRE(!launch_ms(NULL, 5) && !cudaDeviceSynchronize() && !cuptiGetTimestamp(&after));
	flush_kernels();
	REQUIRE(nth_kernel(0)->start >= before && nth_kernel(0)->end <= after);
}

static void host_function(void *data)
{
	REQUIRE(cuptiGetTimestamp(data) == CUPTI_SUCCESS);
}

static void run_host_functions(void)
{
	uint64_t when = 0;

	register_kernels();
	start_client();
	REQUIRE(!launch_ms(NULL, 20));
	REQUIRE(!cudaLaunchHostFunc(NULL, host_function, &when));
	REQUIRE(!cudaStreamSynchronize(NULL));
	flush_kernels();
	REQUIRE(when >= nth_kernel(0)->end);
}

/* An event outlives its stream, even if the stream's memory is reused. */
static void outlive_stream(void)
{
	cudaStream_t stream;
	cudaEvent_t event;
	uint64_t when;

	REQUIRE(!cudaStreamCreate(&stream) && !cudaEventCreate(&event));
	REQUIRE(!cudaLaunchHostFunc(stream, host_function, &when));
	REQUIRE(!cudaEventRecord(event, stream) && !cudaStreamDestroy(stream));
	REQUIRE(cudaStreamQuery(stream) == cudaErrorInvalidResourceHandle);
	REQUIRE(!cudaStreamCreate(&stream) && !cudaEventSynchronize(event) &&
		!cudaEventQuery(event));
}

/* A stream takes 1024 operations; the next one waits for the first to end. */
static void block_when_full(void)
{
	uint64_t now;

	register_kernels();
	start_client();
	REQUIRE(!launch_ms(NULL, 50));
	for (int i = 0; i < 1024; i++)
		REQUIRE(!launch(NULL));
	REQUIRE(!cuptiGetTimestamp(&now));
	flush_kernels();
	REQUIRE(now >= nth_kernel(0)->end);
}

static void test_streams(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, overlap), 0);
	assert_int_equal(in_child(NULL, keep_stream_order), 0);
	assert_int_equal(in_child(NULL, synchronise_with_legacy), 0);
	assert_int_equal(in_child(NULL, block_when_full), 0);
}

static void test_events(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, wait_for_event), 0);
	assert_int_equal(in_child(NULL, measure_elapsed), 0);
	assert_int_equal(in_child(NULL, outlive_stream), 0);
}

static void test_clock(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, agree_with_the_clock), 0);
}

static void test_host_functions(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, run_host_functions), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_host_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
