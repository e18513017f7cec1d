/*
 * Callbacks of the simulated libcupti: nesting, correlation ids, names, and the limit of one
 * subscriber.
 */
#include "tests/sim/harness.h"

static bool is(const struct call *c, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, bool exit)
{
	return c->domain == domain && c->cbid == cbid && c->exit == exit;
}

static void enable(CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	REQUIRE(!cuptiEnableCallback(1, client.subscriber, domain, cbid));
}

static void nest(void)
{
	const struct call *c = client.calls;
	void *p;

	start_client();
	enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020);
	enable(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2);
	REQUIRE(!cudaMalloc(&p, 100));
	REQUIRE(cudaMalloc(&p, (size_t)1 << 60) == cudaErrorMemoryAllocation);
	REQUIRE(client.call_count == 8);
	for (int i = 0; i < 8; i += 4) {
		REQUIRE(is(&c[i], CUPTI_CB_DOMAIN_RUNTIME_API, 20, false));
		REQUIRE(is(&c[i + 1], CUPTI_CB_DOMAIN_DRIVER_API, 243, false));
		REQUIRE(is(&c[i + 2], CUPTI_CB_DOMAIN_DRIVER_API, 243, true));
		REQUIRE(is(&c[i + 3], CUPTI_CB_DOMAIN_RUNTIME_API, 20, true));
		for (int j = 1; j < 4; j++)
			REQUIRE(c[i].correlation == c[i + j].correlation);
		REQUIRE(c[i + 2].data == c[i].correlation + 1000);
		REQUIRE(c[i + 3].result == (i ? 2 : 0) && c[i + 2].result == c[i + 3].result);
	}
	REQUIRE(c[4].correlation == c[0].correlation + 1);
}

static void name_kernels(void)
{
	register_kernels();
	start_client();
	enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
	REQUIRE(!launch(NULL));
	REQUIRE(client.call_count == 2);
	REQUIRE(!strcmp(client.calls[0].symbol, "k_empty") &&
		!strcmp(client.calls[1].symbol, "k_empty"));
	REQUIRE(!cudaDeviceSynchronize());
	cuptiActivityFlushAll(1);
	REQUIRE(nth_kernel(0)->correlationId == client.calls[0].correlation);
	REQUIRE(!strcmp(nth_kernel(0)->name, "k_empty"));
}

/*
 * The runtime rejects a launch of an object that is not a kernel.  The driver rejects a launch that
 * is too large.
 */
static void fail_early_and_late(void)
{
	dim3 one = {1, 1, 1}, large = {4096, 1, 1};
	char not_a_kernel;

	register_kernels();
	start_client();
	enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
	enable(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	REQUIRE(cudaLaunchKernel(&not_a_kernel, one, one, NULL, 0, NULL) ==
		cudaErrorInvalidResourceHandle);
	REQUIRE(client.call_count == 2);
	REQUIRE(cudaLaunchKernel(&empty_kernel, one, large, NULL, 0, NULL) ==
		cudaErrorInvalidValue);
	REQUIRE(client.call_count == 6 && client.calls[4].result == 1);
	REQUIRE(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
	cuptiActivityFlushAll(1);
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 0);
}

static void hold_one_subscriber(void)
{
	CUpti_SubscriberHandle other;

	start_client();
	REQUIRE(cuptiSubscribe(&other, (CUpti_CallbackFunc)on_callback, NULL) ==
		CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020);
	REQUIRE(!cuptiUnsubscribe(client.subscriber));
	REQUIRE(!cudaFree(NULL));
	REQUIRE(client.call_count == 0);
	REQUIRE(!cuptiSubscribe(&other, (CUpti_CallbackFunc)on_callback, NULL));
}

static void find_it_taken(void)
{
	CUpti_SubscriberHandle other;

	REQUIRE(cuptiSubscribe(&other, (CUpti_CallbackFunc)on_callback, NULL) ==
		CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
}

static void know_names(void)
{
	const char *name;

	start_client();
	REQUIRE(!cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, 211, &name));
	REQUIRE(!strcmp(name, "cudaLaunchKernel_v7000"));
	REQUIRE(!cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, 307, &name));
	REQUIRE(!strcmp(name, "cuLaunchKernel"));
	REQUIRE(cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, 0, &name));
	REQUIRE(cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, 5000, &name));
}

static void know_fewer_names(void)
{
	const char *name;

	start_client();
	REQUIRE(cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API,
				     CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2, &name));
	REQUIRE(cuptiEnableCallback(1, client.subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
				    CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2));
	REQUIRE(!cuptiEnableDomain(1, client.subscriber, CUPTI_CB_DOMAIN_DRIVER_API));
	REQUIRE(!cudaFree(NULL));
	client.call_count = 0;
	REQUIRE(!cudaDeviceSynchronize());
	REQUIRE(client.call_count == 0);
}

/*
 * With API records every call has an id, including the calls of the runtime's initialization.
 * Observed on a real device.
 */
static void count_from_the_start(void)
{
	start_client();
	REQUIRE(!cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
	enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020);
	REQUIRE(!cudaFree(NULL));
	REQUIRE(client.calls[0].correlation == 118);
}

/* With callbacks alone, only calls with an enabled callback have an id. */
static void count_traced_calls(void)
{
	cudaStream_t stream;

	start_client();
	enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020);
	REQUIRE(!cudaFree(NULL));
	REQUIRE(!cudaStreamCreate(&stream));
	REQUIRE(!cudaFree(NULL));
	REQUIRE(client.calls[2].correlation == client.calls[0].correlation + 1);
}

/*
 * With synchronization records every call gets an id; with other kinds not.  Observed on a real
 * device.
 */
static void count_every_call(void)
{
	static const struct {
		CUpti_ActivityKind kind;
		uint32_t step;
	} kinds[] = {
		{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 2},
		{CUPTI_ACTIVITY_KIND_MEMORY_POOL, 1},
		{CUPTI_ACTIVITY_KIND_JIT, 1},
		{CUPTI_ACTIVITY_KIND_OVERHEAD, 1},
	};
	uint32_t before;
	int device;

	start_client();
	enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		client.call_count = 0;
		REQUIRE(!cuptiActivityEnable(kinds[i].kind));
		REQUIRE(!cudaFree(NULL) && !cudaGetDevice(&device) && !cudaFree(NULL));
		before = client.calls[0].correlation;
		REQUIRE(client.calls[2].correlation == before + kinds[i].step);
		REQUIRE(!cuptiActivityDisable(kinds[i].kind));
		REQUIRE(!cudaGetDevice(&device) && !cudaFree(NULL));
		REQUIRE(client.calls[4].correlation == before + kinds[i].step + 1);
	}
}

/*
 * For a kernel handle instead of a host function, the runtime queries the kernel's name from the
 * driver.  That call gets an id.
 */
static void query_names(void)
{
	static const char not_a_kernel;
	cudaKernel_t kernel;

	register_kernels();
	start_client();
	REQUIRE(!cuptiActivityEnable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION));
	enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
	REQUIRE(!launch(NULL) && !launch(NULL));
	REQUIRE(client.calls[2].correlation == client.calls[0].correlation + 1);
	REQUIRE(!cudaGetKernel(&kernel, &empty_kernel)); /* gets an id, too */
	REQUIRE(!cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL));
	REQUIRE(client.calls[4].correlation == client.calls[2].correlation + 3);
	REQUIRE(cudaLaunchKernel(&not_a_kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL));
	REQUIRE(client.calls[6].correlation == client.calls[4].correlation + 2);
	REQUIRE(!client.calls[6].symbol[0]);
}

static void tell_resources(void)
{
	cudaStream_t stream;
	cudaGraph_t graph;
	size_t created = 0;

	register_kernels();
	start_client();
	REQUIRE(!cuptiEnableDomain(1, client.subscriber, CUPTI_CB_DOMAIN_RESOURCE));
	REQUIRE(!cudaStreamCreate(&stream));
	for (size_t i = 0; i < client.call_count; i++)
		created += client.calls[i].cbid == CUPTI_CBID_RESOURCE_STREAM_CREATED;
	REQUIRE(created == 8); /* seven of the driver, and ours */
	REQUIRE(!cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	REQUIRE(!launch(stream));
	REQUIRE(client.calls[client.call_count - 1].cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
	REQUIRE(!cudaStreamEndCapture(stream, &graph));
	REQUIRE(!cudaDeviceReset());
	REQUIRE(client.calls[client.call_count - 1].cbid ==
		CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
}

static void stick(void)
{
	register_kernels();
	start_client();
	enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
	enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020);
	enable(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	REQUIRE(!launch(NULL) && !launch(NULL) && !cudaFree(NULL));
	REQUIRE(client.call_count == 6); /* no nested launches */
	for (size_t i = 1; i < client.call_count; i++)
		REQUIRE(client.calls[i].correlation == client.calls[0].correlation);
}

static void test_nesting(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, nest), 0);
	assert_int_equal(in_child(NULL, name_kernels), 0);
	assert_int_equal(in_child(NULL, fail_early_and_late), 0);
	assert_int_equal(in_child(NULL, count_from_the_start), 0);
	assert_int_equal(in_child(NULL, count_traced_calls), 0);
	assert_int_equal(in_child(NULL, count_every_call), 0);
	assert_int_equal(in_child(NULL, query_names), 0);
}

static void test_subscriber(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, hold_one_subscriber), 0);
	assert_int_equal(in_child("GPUSIM_FAULT=subscriber-taken", find_it_taken), 0);
}

static void test_names(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, know_names), 0);
	assert_int_equal(in_child("GPUSIM_CUPTI_VERSION=28", know_fewer_names), 0);
}

static void test_resources(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, tell_resources), 0);
}

static void test_stuck_correlation(void **state)
{
	(void)state;
	assert_int_equal(in_child("GPUSIM_CUPTI_VERSION=18 GPUSIM_FAULT=stuck-correlation", stick),
			 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_subscriber),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_resources),
		cmocka_unit_test(test_stuck_correlation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
