/*
 * Record kinds other than operations: waits, events, whole graphs, code, unified memory, resources;
 * and switching kinds on and off.
 */
#include "tests/sim/harness.h"

#include <cuda.h>
#include <signal.h>
#include <sys/mman.h>
#include <cuda_profiler_api.h>

#define MIB ((size_t)1 << 20)

static void enable(CUpti_ActivityKind kind)
{
	REQUIRE(!cuptiActivityEnable(kind));
}

static void finish(void)
{
	REQUIRE(!cudaDeviceSynchronize());
	REQUIRE(!cuptiActivityFlushAll(1));
}

static char touch_kernel;

static void register_touch(void)
{
	__cudaRegisterFunction(__cudaRegisterFatBinary(""), &touch_kernel, NULL, "k_touch", -1,
			       NULL, NULL, NULL, NULL, NULL);
}

/* ---- waits and events ------------------------------------------------------------------------ */

static cudaEvent_t wait_in_every_way(void)
{
	cudaStream_t stream;
	cudaEvent_t event;

	REQUIRE(!cudaStreamCreate(&stream) && !cudaEventCreate(&event));
	REQUIRE(!cudaEventRecord(event, stream));
	REQUIRE(!cudaStreamWaitEvent(NULL, event, 0));
	REQUIRE(!cudaEventSynchronize(event));
	REQUIRE(!cudaStreamSynchronize(stream));
	return event;
}

static void record_waits(void)
{
	/* CUPTI's numbers, in the order of the calls */
	static const uint32_t order[] = {2, 1, 3, 4};
	CUpti_ActivitySynchronization *s;

	start_client();
	enable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
	wait_in_every_way();
	finish();
	for (size_t i = 0; i < 4; i++) {
		s = nth_record(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, i);
		REQUIRE(s && s->type == order[i] && s->end >= s->start && s->start);
		REQUIRE((s->type <= 2) == (s->cudaEventId != CUPTI_SYNCHRONIZATION_INVALID_VALUE));
		REQUIRE((s->type == 2 || s->type == 3) ==
			(s->streamId != CUPTI_SYNCHRONIZATION_INVALID_VALUE));
	}
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CUDA_EVENT) == 0);
}

/*
 * A query is recorded like a wait.  A query of unfinished work is recorded only if the client wants
 * that.
 */
static void record_queries(void)
{
	CUpti_ActivitySynchronization2 *s;
	cudaEvent_t event;

	register_kernels();
	start_client();
	enable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
	REQUIRE(!cudaEventCreate(&event) && !launch_ms(NULL, 10000));
	REQUIRE(!cudaEventQuery(event));
	REQUIRE(!cudaEventRecord(event, NULL));
	REQUIRE(cudaEventQuery(event) == cudaErrorNotReady);
	REQUIRE(cudaStreamQuery(NULL) == cudaErrorNotReady);
	REQUIRE(!cuptiActivityEnableAllSyncRecords(0));
	REQUIRE(cudaEventQuery(event) == cudaErrorNotReady);
	REQUIRE(!cuptiActivityFlushAll(1));
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) == 3);
	for (size_t i = 0; i < 3; i++) {
		s = nth_record(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, i);
		REQUIRE(s->type ==
			(i < 2 ? CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE
			       : CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE));
		REQUIRE(s->returnValue == (i ? (uint32_t)CUDA_ERROR_NOT_READY : 0));
	}
}

static void record_events(void)
{
	CUpti_ActivityCudaEvent *e;

	start_client();
	enable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
	enable(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
	wait_in_every_way();
	finish();
	e = nth_record(CUPTI_ACTIVITY_KIND_CUDA_EVENT, 0);
	REQUIRE(e && e->eventId == 1 && count_records(CUPTI_ACTIVITY_KIND_CUDA_EVENT) == 1);
}

static void record_events_with_syncs(void)
{
	start_client();
	enable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
	REQUIRE(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CUDA_EVENT) == CUPTI_ERROR_INVALID_KIND);
	wait_in_every_way();
	finish();
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CUDA_EVENT) == 1);
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) == 3); /* none of a context */
}

static void record_no_event_alone(void)
{
	start_client();
	enable(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
	wait_in_every_way();
	finish();
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CUDA_EVENT) == 0);
}

/* ---- graphs as a whole ----------------------------------------------------------------------- */

static cudaGraphExec_t two_kernels(cudaGraph_t *graph)
{
	cudaStream_t stream;
	cudaGraphExec_t exec;

	REQUIRE(!cudaStreamCreate(&stream));
	REQUIRE(!cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	REQUIRE(!launch(stream) && !launch(stream));
	REQUIRE(!cudaStreamEndCapture(stream, graph));
	REQUIRE(!cudaGraphInstantiate(&exec, *graph, 0));
	return exec;
}

/*
 * Graphs instantiated before the switch keep records of nodes.  Graphs instantiated after it never
 * have them.
 */
static void switch_to_whole_graphs(void)
{
	cudaGraphExec_t before, after;
	cudaGraph_t graph;

	register_kernels();
	start_client();
	before = two_kernels(&graph);
	enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
	REQUIRE(!cudaGraphInstantiate(&after, graph, 0));
	REQUIRE(!cudaGraphLaunch(before, NULL) && !cudaGraphLaunch(after, NULL));
	REQUIRE(!cudaGraphLaunch(after, NULL));
	REQUIRE(!cuptiActivityDisable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
	REQUIRE(!cudaGraphLaunch(after, NULL));
	finish();
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 2);
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) == 2);
}

/* ---- code ------------------------------------------------------------------------------------ */

static const char ptx[] = ".version 7.0\n.target sm_50\n.visible .entry one(){ret;}\n";

static void load_ptx(void)
{
	CUfunction function;
	CUmodule module;

	REQUIRE(!cuModuleLoadData(&module, ptx));
	REQUIRE(!cuModuleGetFunction(&function, module, "one"));
	REQUIRE(!cuModuleUnload(module));
}

static void check_jit(size_t n, uint32_t operation)
{
	CUpti_ActivityJit *j = nth_record(CUPTI_ACTIVITY_KIND_JIT, n);

	REQUIRE(j && j->jitOperationType == operation && j->jitOperationCorrelationId == 1);
	REQUIRE(j->jitEntryType == CUPTI_ACTIVITY_JIT_ENTRY_PTX_TO_CUBIN && j->end > j->start);
	REQUIRE((operation == CUPTI_ACTIVITY_JIT_OPERATION_COMPILE) == (j->cachePath == NULL));
}

static void compile(void)
{
	start_client();
	REQUIRE(!cudaFree(NULL));
	enable(CUPTI_ACTIVITY_KIND_JIT);
	enable(CUPTI_ACTIVITY_KIND_OVERHEAD);
	REQUIRE(!cuptiEnableDomain(1, client.subscriber, CUPTI_CB_DOMAIN_RESOURCE));
	load_ptx();
	REQUIRE(client.call_count == 2);
	REQUIRE(client.calls[0].cbid == CUPTI_CBID_RESOURCE_MODULE_LOADED);
	REQUIRE(client.calls[1].cbid == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
	load_ptx();
	finish();
	check_jit(0, CUPTI_ACTIVITY_JIT_OPERATION_COMPILE);
	check_jit(1, CUPTI_ACTIVITY_JIT_OPERATION_CACHE_STORE);
	check_jit(2, CUPTI_ACTIVITY_JIT_OPERATION_CACHE_LOAD);
	REQUIRE(!nth_record(CUPTI_ACTIVITY_KIND_JIT, 3));
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_OVERHEAD) >= 2); /* two functions were loaded */
}

/* ---- unified memory -------------------------------------------------------------------------- */

static void configure(void)
{
	CUpti_ActivityUnifiedMemoryCounterConfig config[4];

	for (uint32_t i = 0; i < 4; i++)
		config[i] = (CUpti_ActivityUnifiedMemoryCounterConfig){
			.scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES,
			.kind = (CUpti_ActivityUnifiedMemoryCounterKind)(i + 1),
			.enable = 1};
	REQUIRE(cuptiActivityConfigureUnifiedMemoryCounter(NULL, 1) ==
		CUPTI_ERROR_INVALID_PARAMETER);
	REQUIRE(cuptiActivityConfigureUnifiedMemoryCounter(config, 4) ==
		CUPTI_ERROR_NOT_INITIALIZED);
	REQUIRE(!cudaFree(NULL));
	REQUIRE(!cuptiActivityConfigureUnifiedMemoryCounter(config, 4));
	config[0].kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_UNKNOWN;
	REQUIRE(cuptiActivityConfigureUnifiedMemoryCounter(config, 4) ==
		CUPTI_ERROR_INVALID_PARAMETER);
	enable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

static uint64_t moved(CUpti_ActivityUnifiedMemoryCounterKind kind, size_t *count)
{
	CUpti_ActivityUnifiedMemoryCounter2 *u;
	uint64_t sum = 0;

	*count = 0;
	for (size_t i = 0; (u = nth_record(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, i)); i++)
		if (u->counterKind == kind) {
			REQUIRE((u->end > u->start) !=
				(kind ==
				 CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT));
			REQUIRE(u->start && u->address && u->processId);
			sum += u->value;
			++*count;
		}
	return sum;
}

static void migrate(void)
{
	struct cudaMemLocation there = {.type = cudaMemLocationTypeDevice},
			       here = {.type = cudaMemLocationTypeHost};
	size_t count;
	char *p;

	start_client();
	configure();
	REQUIRE(!cudaMallocManaged((void **)&p, 5 * MIB, cudaMemAttachGlobal));
	REQUIRE(!cudaMemPrefetchAsync(p, 5 * MIB, there, 0, NULL));
	REQUIRE(!cudaMemPrefetchAsync(p, 5 * MIB, there, 0, NULL)); /* already resident there */
	REQUIRE(!cudaMemPrefetchAsync(p, 2 * MIB, here, 0, NULL));
	REQUIRE(cudaMemPrefetchAsync(p, 6 * MIB, here, 0, NULL) == cudaErrorInvalidValue);
	finish();
	REQUIRE(moved(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD, &count) ==
		5 * MIB);
	REQUIRE(count == 3);
	REQUIRE(moved(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH, &count) ==
		2 * MIB);
	REQUIRE(!moved(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, &count));
	REQUIRE(!cudaFree(p));
}

/* k_touch writes on the device; then the CPU reads the first page of each block. */
static void fault_on_both_sides(void)
{
	dim3 one = {1, 1, 1};
	size_t count, bytes = 5 * MIB;
	char *p, copy;
	void *arguments[] = {&p, &bytes};

	register_kernels();
	register_touch();
	start_client();
	configure();
	REQUIRE(!cudaMallocManaged((void **)&p, bytes, cudaMemAttachGlobal));
	memset(p, 1, bytes);
	for (int i = 0; i < 2; i++)
		REQUIRE(!cudaLaunchKernel(&touch_kernel, one, one, arguments, 0, NULL));
	REQUIRE(!cudaMemcpy(&copy, p, 1, cudaMemcpyDeviceToHost) && copy == 3);
	REQUIRE(!cudaLaunchKernel(&touch_kernel, one, one, arguments, 0, NULL));
	REQUIRE(!cudaDeviceSynchronize());
	REQUIRE(p[0] == 4 && p[1] == 4 && p[2 * MIB] == 4);
	finish();
	REQUIRE(moved(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, &count) == 3);
	REQUIRE(moved(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD, &count) ==
		bytes);
	REQUIRE(moved(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH, &count) ==
		4 * MIB);
	REQUIRE(moved(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT, &count) &&
		count == 2);
	REQUIRE(!cudaFree(p));
}

static void fault_elsewhere(void)
{
	volatile char *nothing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	signal(SIGSEGV, SIG_DFL); /* instead of cmocka's handler */
	fault_on_both_sides();
	*nothing = 1;
}

static void configure_nothing(void)
{
	struct cudaMemLocation there = {.type = cudaMemLocationTypeDevice};
	void *p;

	start_client();
	enable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
	REQUIRE(!cudaMallocManaged(&p, MIB, cudaMemAttachGlobal));
	REQUIRE(!cudaMemPrefetchAsync(p, MIB, there, 0, NULL));
	finish();
	REQUIRE(client.record_count == 0);
}

/* ---- switching ------------------------------------------------------------------------------- */

/* Work launched while the kind is off has no record; earlier work has one. */
static void switch_kinds(void)
{
	register_kernels();
	start_client();
	REQUIRE(!launch_ms(NULL, 5));
	REQUIRE(!cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	REQUIRE(!launch(NULL) && !launch(NULL));
	REQUIRE(!cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	REQUIRE(!launch(NULL));
	finish();
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 2);
	REQUIRE(!strcmp(nth_kernel(0)->name, "k_spin") && !strcmp(nth_kernel(1)->name, "k_empty"));
}

static void close_in_callback(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
	const CUpti_CallbackData *call = data;

	if (cbid != CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000)
		return;
	REQUIRE(call->callbackSite == CUPTI_API_ENTER);
	REQUIRE(!cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	REQUIRE(!cuptiEnableCallback(0, client.subscriber, domain, cbid));
	REQUIRE(!cuptiEnableCallback(0, client.subscriber, domain,
				     CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000));
}

static void switch_inside_callback(void)
{
	register_kernels();
	start_client();
	client.also = close_in_callback;
	REQUIRE(!cuptiEnableDomain(1, client.subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
	REQUIRE(!launch(NULL) && !cudaProfilerStop());
	client.call_count = 0;
	REQUIRE(!launch(NULL));
	REQUIRE(client.call_count == 0);
	finish();
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 1);
}

static _Atomic bool stop;

static void *toggle(void *unused)
{
	while (!stop) {
		cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
		cuptiEnableCallback(0, client.subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
				    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
		cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
		cuptiEnableCallback(1, client.subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
				    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
	}
	return unused;
}

/*
 * Switching from another thread: at most one record for each launch, and one for each of the last
 * launches.
 */
static void switch_from_another_thread(void)
{
	pthread_t thread;

	register_kernels();
	start_client();
	pthread_create(&thread, NULL, toggle, NULL);
	for (int i = 0; i < 500; i++)
		REQUIRE(!launch(NULL));
	stop = true;
	pthread_join(thread, NULL);
	for (int i = 0; i < 500; i++)
		REQUIRE(!launch(NULL));
	finish();
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) >= 500);
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) <= 1000);
}

/* ---- resources ------------------------------------------------------------------------------- */

static CUpti_CallbackId seen[64];
static size_t seen_count;
static uint64_t created_node, cloned_node, original_node;

static void note(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
	const CUpti_ResourceData *r = data;
	const CUpti_GraphData *g = r->resourceDescriptor;
	uint32_t stream_id = 0;

	REQUIRE(domain == CUPTI_CB_DOMAIN_RESOURCE);
	seen[seen_count++] = cbid;
	if (cbid == CUPTI_CBID_RESOURCE_STREAM_CREATED)
		REQUIRE(!cuptiGetStreamIdEx(r->context, r->resourceHandle.stream, 0, &stream_id) &&
			stream_id);
	if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED)
		REQUIRE(!cuptiGetGraphNodeId(g->node, &created_node));
	if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) {
		REQUIRE(!cuptiGetGraphNodeId(g->node, &cloned_node));
		REQUIRE(!cuptiGetGraphNodeId(g->originalNode, &original_node));
	}
}

static void tell_resources(void)
{
	static const CUpti_CallbackId order[] = {
		CUPTI_CBID_RESOURCE_STREAM_CREATED,
		CUPTI_CBID_RESOURCE_GRAPH_CREATED,
		CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
		CUPTI_CBID_RESOURCE_STREAM_CREATED, /* internal stream of the driver, for graphs */
		CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING,
		CUPTI_CBID_RESOURCE_GRAPH_CLONED,
		CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
		CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED,
		CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING,
		CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING,
		CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING,
	};
	cudaStream_t stream;
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	register_kernels();
	start_client();
	REQUIRE(!launch(NULL));
	client.also = note;
	REQUIRE(!cuptiEnableDomain(1, client.subscriber, CUPTI_CB_DOMAIN_RESOURCE));
	REQUIRE(!cudaStreamCreate(&stream));
	REQUIRE(!cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	REQUIRE(!launch(stream) && !cudaStreamEndCapture(stream, &graph));
	REQUIRE(!cudaGraphInstantiate(&exec, graph, 0) && !cudaGraphLaunch(exec, stream));
	REQUIRE(!cudaGraphExecDestroy(exec) && !cudaGraphDestroy(graph));
	REQUIRE(!cudaStreamDestroy(stream));
	REQUIRE(seen_count == sizeof(order) / sizeof(order[0]) &&
		!memcmp(seen, order, sizeof(order)));
	finish();
	REQUIRE(created_node == original_node && nth_kernel(1)->graphNodeId == cloned_node);
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void test_waits(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, record_waits), 0);
	assert_int_equal(in_child("GPUSIM_CUPTI_VERSION=130000", record_waits), 0);
	assert_int_equal(in_child(NULL, record_events), 0);
	assert_int_equal(in_child("GPUSIM_CUPTI_VERSION=28", record_events), 0);
	assert_int_equal(in_child("GPUSIM_CUPTI_VERSION=26", record_events_with_syncs), 0);
	assert_int_equal(in_child("GPUSIM_CUPTI_VERSION=18", record_events_with_syncs), 0);
	assert_int_equal(in_child(NULL, record_no_event_alone), 0);
	assert_int_equal(in_child(NULL, record_queries), 0);
}

static void test_whole_graphs(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, switch_to_whole_graphs), 0);
	assert_int_equal(in_child("GPUSIM_CUPTI_VERSION=18", switch_to_whole_graphs), 0);
}

static void test_code(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, compile), 0);
	assert_int_equal(in_child("GPUSIM_CUPTI_VERSION=18", compile), 0);
}

static void test_unified_memory(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, migrate), 0);
	assert_int_equal(in_child("GPUSIM_CUPTI_VERSION=24", migrate), 0);
	assert_int_equal(in_child(NULL, configure_nothing), 0);
	assert_int_equal(in_child(NULL, fault_on_both_sides), 0);
	assert_int_equal(WTERMSIG(in_child(NULL, fault_elsewhere)), SIGSEGV);
}

static void test_switching(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, switch_kinds), 0);
	assert_int_equal(in_child(NULL, switch_inside_callback), 0);
	assert_int_equal(in_child(NULL, switch_from_another_thread), 0);
}

static void test_resources(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, tell_resources), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits),     cmocka_unit_test(test_whole_graphs),
		cmocka_unit_test(test_code),      cmocka_unit_test(test_unified_memory),
		cmocka_unit_test(test_switching), cmocka_unit_test(test_resources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
