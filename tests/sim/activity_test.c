/*
 * Activity buffers of the simulated libcupti: the time of delivery, the delivering thread, and
 * faults.
 */
#include "tests/sim/harness.h"

#include <signal.h>
#include <sys/time.h>

#define LONG_MS 300

static void launch_many(int count, cudaStream_t stream)
{
	for (int i = 0; i < count; i++)
		REQUIRE(!launch(stream));
}

static void deliver_when_asked(void)
{
	register_kernels();
	start_client();
	launch_many(10, NULL);
	REQUIRE(!cudaDeviceSynchronize());
	REQUIRE(client.completed == 0);
	REQUIRE(!cuptiActivityFlushAll(0));
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 10);
	REQUIRE(!pthread_equal(client.completer, pthread_self()));
	for (size_t i = 0; i < 10; i++)
		REQUIRE(nth_kernel(i)->start > 0 && nth_kernel(i)->end > nth_kernel(i)->start);
}

/* While a kernel runs, no record of later work is delivered, on any stream. */
static void hold_back_behind_running(void)
{
	cudaStream_t other;

	register_kernels();
	start_client();
	REQUIRE(!cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	launch_many(5, NULL);
	REQUIRE(!cudaDeviceSynchronize());
	REQUIRE(!launch_ms(NULL, LONG_MS));
	launch_many(5, other);
	REQUIRE(!cudaStreamSynchronize(other));
	REQUIRE(!cuptiActivityFlushAll(0));
	REQUIRE(cudaStreamQuery(NULL) == cudaErrorNotReady);
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 5);
	REQUIRE(!cudaDeviceSynchronize());
	REQUIRE(!cuptiActivityFlushAll(0));
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 11);
	/* it ran concurrently with the long kernel */
	REQUIRE(nth_kernel(6)->start < nth_kernel(5)->end);
}

/* With eager loading, the first launch of a function does not wait. */
static void load_early(void)
{
	cudaStream_t other;
	CUmoduleLoadingMode mode;

	register_kernels();
	start_client();
	REQUIRE(!cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	REQUIRE(!cuModuleGetLoadingMode(&mode) && mode == CU_MODULE_EAGER_LOADING);
	REQUIRE(!launch_ms(NULL, LONG_MS));
	launch_many(3, other);
	REQUIRE(!cudaStreamSynchronize(other));
	REQUIRE(!cuptiActivityFlushAll(0));
	REQUIRE(cudaStreamQuery(NULL) == cudaErrorNotReady);
	REQUIRE(client.record_count == 0);
}

/*
 * With lazy loading, the first launch of a kernel starts after the running kernel of any stream.  A
 * flush waits for that, too; the launch call does not.
 */
static void wait_for_loading(void)
{
	cudaStream_t other;

	register_kernels();
	start_client();
	REQUIRE(!cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	REQUIRE(!launch_ms(NULL, LONG_MS));
	launch_many(3, other);
	REQUIRE(cudaStreamQuery(NULL) == cudaErrorNotReady);
	REQUIRE(!cuptiActivityFlushAll(0));
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 4);
	REQUIRE(nth_kernel(1)->start >= nth_kernel(0)->end);
}

static void force_out_the_loaded(void)
{
	register_kernels();
	start_client();
	REQUIRE(!launch_ms(NULL, LONG_MS));
	launch_many(3, NULL);
	REQUIRE(!cuptiActivityFlushAll(1));
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 4);
	for (size_t i = 0; i < 4; i++)
		REQUIRE(nth_kernel(i)->start > 0 && nth_kernel(i)->end > nth_kernel(i)->start);
}

static void force_out_the_running(void)
{
	register_kernels();
	launch_many(1, NULL);
	REQUIRE(!cudaDeviceSynchronize());
	start_client();
	REQUIRE(!launch_ms(NULL, LONG_MS));
	launch_many(3, NULL);
	REQUIRE(!cuptiActivityFlushAll(1));
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 4);
	for (size_t i = 0; i < 4; i++)
		REQUIRE(nth_kernel(i)->start == 0 && nth_kernel(i)->end == 0);
	REQUIRE(!cudaDeviceSynchronize());
	REQUIRE(!cuptiActivityFlushAll(1));
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 4);
}

/*
 * Full buffers are delivered without a flush.  Waiting for the last one means waiting for the
 * worker thread.
 */
static void deliver_full(void)
{
	const int count = 3 * BUFFER_BYTES / 200;
	size_t completed;

	register_kernels();
	start_client();
	launch_many(count, NULL);
	REQUIRE(!cudaDeviceSynchronize());
	do {
		pthread_mutex_lock(&client.lock);
		completed = client.completed;
		pthread_mutex_unlock(&client.lock);
	} while (completed < 2);
	REQUIRE(!cuptiActivityFlushAll(1));
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == (size_t)count);
}

/*
 * All launches fill far less than a buffer: the number of requests shows whether threads share
 * buffers.
 */
#define LAUNCHES_EACH 10

static void *launch_some(void *unused)
{
	launch_many(LAUNCHES_EACH, NULL);
	return unused;
}

static void run_threads(int count)
{
	pthread_t threads[16];

	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, launch_some, NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	REQUIRE(!cudaDeviceSynchronize());
	REQUIRE(!cuptiActivityFlushAll(1));
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ==
		(size_t)count * LAUNCHES_EACH);
}

static void keep_buffers_per_thread(void)
{
	register_kernels();
	start_client();
	run_threads(16);
	REQUIRE(client.requested >= 16);
}

static void share_buffers(void)
{
	uint8_t off = 0;
	size_t bytes = sizeof(off);

	register_kernels();
	REQUIRE(!cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &bytes,
					   &off));
	start_client();
	run_threads(16);
	REQUIRE(client.requested < 16);
}

static void drop_without_buffer(void)
{
	size_t dropped;

	register_kernels();
	start_client();
	client.refuse = true;
	launch_many(7, NULL);
	REQUIRE(!cudaDeviceSynchronize());
	REQUIRE(!cuptiActivityFlushAll(1));
	REQUIRE(!cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	REQUIRE(dropped == 7 && client.record_count == 0);
	REQUIRE(!cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) && dropped == 0);
}

static void drop_every_tenth(void)
{
	size_t dropped;

	register_kernels();
	start_client();
	launch_many(100, NULL);
	REQUIRE(!cudaDeviceSynchronize());
	REQUIRE(!cuptiActivityFlushAll(1));
	REQUIRE(!cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	REQUIRE(dropped == 10 && count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 90);
}

static void zero_every_tenth(void)
{
	size_t zero = 0;

	register_kernels();
	start_client();
	launch_many(100, NULL);
	REQUIRE(!cudaDeviceSynchronize());
	REQUIRE(!cuptiActivityFlushAll(1));
	for (size_t i = 0; i < 100; i++)
		zero += nth_kernel(i)->start == 0 && nth_kernel(i)->end == 0;
	REQUIRE(zero == 10);
}

static void deliver_late(void)
{
	register_kernels();
	start_client();
	launch_many(3 * BUFFER_BYTES / 200, NULL);
	REQUIRE(!cudaDeviceSynchronize());
	REQUIRE(!cuptiActivityFlushAll(0));
	REQUIRE(client.completed == 0);
	REQUIRE(!cuptiActivityFlushAll(1));
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 3 * BUFFER_BYTES / 200);
}

static void deliver_each_period(void)
{
	size_t delivered;

	register_kernels();
	start_client();
	REQUIRE(!cuptiActivityFlushPeriod(1));
	launch_many(10, NULL);
	do {
		pthread_mutex_lock(&client.lock);
		delivered = client.record_count;
		pthread_mutex_unlock(&client.lock);
	} while (delivered < 10);
}

/* A timer ends the process, unless the flush returns. */
static void hang_in_flush(void)
{
	struct itimerval soon = {.it_value = {.tv_usec = 100000}};

	register_kernels();
	start_client();
	launch_many(1, NULL);
	REQUIRE(!cudaDeviceSynchronize());
	REQUIRE(!cuptiActivityFlushAll(0));
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 1);
	setitimer(ITIMER_REAL, &soon, NULL);
	cuptiActivityFlushAll(1);
}

static void record_api_calls(void)
{
	CUpti_ActivityAPI *api;

	register_kernels();
	start_client();
	REQUIRE(!cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
	REQUIRE(!cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
	REQUIRE(!launch(NULL));
	REQUIRE(!cudaDeviceSynchronize());
	REQUIRE(!cuptiActivityFlushAll(1));
	api = nth_record(CUPTI_ACTIVITY_KIND_RUNTIME, 0);
	REQUIRE(api->cbid == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
	REQUIRE(api->threadId == (uint32_t)getpid() && api->processId == (uint32_t)getpid());
	REQUIRE(api->correlationId == nth_kernel(0)->correlationId && api->end >= api->start);
}

static void test_delivery(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, deliver_when_asked), 0);
	assert_int_equal(in_child("GPUSIM_CUPTI_VERSION=18", deliver_when_asked), 0);
	assert_int_equal(in_child(NULL, hold_back_behind_running), 0);
	assert_int_equal(in_child(NULL, force_out_the_running), 0);
	assert_int_equal(in_child(NULL, wait_for_loading), 0);
	assert_int_equal(in_child(NULL, force_out_the_loaded), 0);
	assert_int_equal(in_child("CUDA_MODULE_LOADING=EAGER", load_early), 0);
	assert_int_equal(in_child(NULL, deliver_full), 0);
	assert_int_equal(in_child(NULL, deliver_each_period), 0);
}

static void test_lanes(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, keep_buffers_per_thread), 0);
	assert_int_equal(in_child(NULL, share_buffers), 0);
}

static void test_faults(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, drop_without_buffer), 0);
	assert_int_equal(in_child("GPUSIM_FAULT=drop-records", drop_every_tenth), 0);
	assert_int_equal(in_child("GPUSIM_FAULT=zero-timestamps", zero_every_tenth), 0);
	assert_int_equal(in_child("GPUSIM_FAULT=late-buffers", deliver_late), 0);
	assert_int_equal(WTERMSIG(in_child("GPUSIM_FAULT=flush-hangs", hang_in_flush)), SIGALRM);
}

static void test_api_records(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, record_api_calls), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delivery),
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_api_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
