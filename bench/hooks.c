/*
 * hooks: the hot path, hook by hook, for bench/hooks, which counts the instructions.
 *
 *	hooks FOLDER      prints "EACH NAME" for each scene, in the order in which measure() runs
 *	                  them; writes the trace to FOLDER
 *
 * measure() runs each scene twice, on its own thread, which has its own ring and callback counters.
 * The second run counts.  All its operations take the same path: none is sampled, and none fills
 * half the ring.
 *
 * Functions whose names begin with scene_ or measure, and those of NVTX's headers, do not count as
 * gpuprof's own.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cupti.h>
#include <nvtx3/nvToolsExt.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/counters.h"
#include "collector/drain.h"
#include "collector/process_state.h"
#include "inject/api_table.h"
#include "inject/call_stacks.h"
#include "inject/callbacks.h"
#include "inject/contexts.h"
#include "inject/cupti_buffers.h"
#include "inject/cupti_decode.h"
#include "inject/cupti_versions.h"
#include "inject/recording_gate.h"
#include "inject/in_flight.h"
#include "inject/launch_call.h"
#include "inject/launch_sampler.h"
#include "inject/options.h"
#include "inject/ranges.h"

#define OPERATIONS 24u /* two runs are less than the sampling interval of callbacks.c */
#define DEPTH      40u
#define CONTEXT    1u
#define RING_SLOTS 8192u
#define WRITTEN    2000u

int gp_nvtx_initialize(NvtxGetExportTableFunc_t get_export_table);

struct scene {
	const char *name;
	void (*run)(uint32_t operation);
	void (*before)(void);
	void (*after)(void);
	uint32_t operations;
	uint32_t each; /* number of units in all operations */
	uint32_t depth;
};

__attribute__((noinline)) static void measure(const struct scene *scene)
{
	for (uint32_t i = 0; i < scene->operations; i++)
		scene->run(i);
}

/* ---- calls ---- */

static struct call {
	CUpti_CallbackData data;
	uint64_t kept; /* kept from entry to exit */
} calls[OPERATIONS];

static uint32_t last_id;
static uint64_t address = 0x7f0000000000;
static const int success;

static cudaLaunchKernel_v7000_params launch_parameters;
static cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeCooperative,
					.val = {.cooperative = 1}};
static cudaLaunchConfig_t configuration = {.attrs = &attribute, .numAttrs = 1};
static cudaLaunchKernelExC_v11060_params configured_parameters = {.config = &configuration};
static cuLaunchKernel_params driver_parameters;
static cudaMalloc_v3020_params malloc_parameters = {(void **)&address, 4096};
static cudaMallocAsync_v11020_params pooled_parameters = {(void **)&address, 4096, NULL};
static cudaFree_v3020_params free_parameters = {(void *)0x7f0000000000};
static cudaMemcpyAsync_v3020_params copy_parameters = {.count = 4096};
static cudaStreamSynchronize_v3020_params sync_parameters;

static void scene_call(uint32_t i, CUpti_ApiCallbackSite site, CUpti_CallbackDomain domain,
		       CUpti_CallbackId cbid, const void *parameters)
{
	struct call *call = &calls[i];

	call->data.callbackSite = site;
	call->data.functionName = "cudaSomething";
	call->data.functionParams = parameters;
	call->data.functionReturnValue = (void *)&success;
	call->data.contextUid = CONTEXT;
	call->data.correlationData = &call->kept;
	if (site == CUPTI_API_ENTER)
		call->data.correlationId = ++last_id;
	gp_callback(NULL, domain, cbid, &call->data);
}

#define ENTER(i, DOMAIN, cbid, parameters)                                                         \
	scene_call(i, CUPTI_API_ENTER, CUPTI_CB_DOMAIN_##DOMAIN##_API, cbid, parameters)
#define EXIT(i, DOMAIN, cbid, parameters)                                                          \
	scene_call(i, CUPTI_API_EXIT, CUPTI_CB_DOMAIN_##DOMAIN##_API, cbid, parameters)

#define LAUNCH CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000
#define NESTED CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel

static void scene_enter_launch(uint32_t i)
{
	ENTER(i, RUNTIME, LAUNCH, &launch_parameters);
}

static void scene_exit_launch(uint32_t i)
{
	EXIT(i, RUNTIME, LAUNCH, &launch_parameters);
}

static void enter_all(void)
{
	for (uint32_t i = 0; i < OPERATIONS; i++)
		scene_enter_launch(i);
}

/*
 * Enter a runtime call with the latest correlation id: driver calls with that id are nested in it.
 */
static void enter_one(void)
{
	scene_enter_launch(0);
	for (uint32_t i = 0; i < OPERATIONS; i++)
		calls[i].data.correlationId = last_id;
}

/* Both callbacks of the driver's launch inside the runtime's launch. */
static void scene_nested(uint32_t i)
{
	calls[i].data.callbackSite = CUPTI_API_ENTER;
	gp_callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API, NESTED, &calls[i].data);
	calls[i].data.callbackSite = CUPTI_API_EXIT;
	gp_callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API, NESTED, &calls[i].data);
}

#define PAIR(name, DOMAIN, cbid, parameters)                                                       \
	static void name(uint32_t i)                                                               \
	{                                                                                          \
		ENTER(i, DOMAIN, cbid, parameters);                                                \
		EXIT(i, DOMAIN, cbid, parameters);                                                 \
	}

PAIR(scene_launch, RUNTIME, LAUNCH, &launch_parameters)
PAIR(scene_configured, RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
     &configured_parameters)
PAIR(scene_driver_launch, DRIVER, NESTED, &driver_parameters)
PAIR(scene_copy, RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, &copy_parameters)
PAIR(scene_synchronize, RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020,
     &sync_parameters)
PAIR(scene_allocate, RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, &malloc_parameters)
PAIR(scene_allocate_async, RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaMallocAsync_v11020,
     &pooled_parameters)
PAIR(scene_release, RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020, &free_parameters)

/* ---- the choice of launches that get a stack ---- */

__attribute__((noinline)) static bool choose_launch(struct gp_launch_sampler *sampler)
{
	const struct gp_api_entry *entry = gp_api_table_find(false, LAUNCH);

	return gp_launch_sampler_takes(sampler, gp_launch_call_kind(entry, &launch_parameters),
				       false);
}

static void scene_choose(uint32_t i)
{
	static struct gp_launch_sampler sampler;

	if (i == 0)
		sampler.left = 2 * OPERATIONS;
	choose_launch(&sampler);
}

/* ---- the gate ---- */

static void close_gate(void)
{
	gp_watch_set(GP_WATCH_CLOSED);
}

static void open_gate(void)
{
	gp_watch_clear(GP_WATCH_CLOSED);
}

/* ---- ranges ---- */

static nvtxDomainHandle_t domain;
static nvtxEventAttributes_t event = {.version = NVTX_VERSION,
				      .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
				      .colorType = NVTX_COLOR_ARGB,
				      .color = 0xff00ff00,
				      .payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64,
				      .messageType = NVTX_MESSAGE_TYPE_REGISTERED};

static void scene_push_and_pop(uint32_t i)
{
	(void)i;
	nvtxRangePushA("a step of training");
	nvtxRangePop();
}

static void scene_push_and_pop_registered(uint32_t i)
{
	(void)i;
	nvtxDomainRangePushEx(domain, &event);
	nvtxDomainRangePop(domain);
}

/* ---- records ---- */

static struct gp_record_call call_record = {
	.kind = GP_RECORD_CALL, .slots = 1, .api = LAUNCH, .context_id = CONTEXT};
static struct gp_record_kernel kernel_record = {.kind = GP_RECORD_KERNEL,
						.slots = sizeof(kernel_record) / GP_SLOT_BYTES};

static void scene_emit_call(uint32_t i)
{
	(void)i;
	gp_emit((const struct gp_record *)&call_record);
}

static void scene_emit_kernel(uint32_t i)
{
	(void)i;
	gp_emit((const struct gp_record *)&kernel_record);
}

/* ---- CUPTI's buffers and records ---- */

static union {
	CUpti_Activity activity;
	gp_kernel_view kernel;
	gp_copy_view copy;
	gp_set_view set;
	uint64_t words[64]; /* at least as long as a record of any version */
} record;

static struct gp_decoder decoder = {.version = CUPTI_API_VERSION};
static const char kernel_name[] =
	"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_";

static void scene_decode(uint32_t i, CUpti_ActivityKind kind)
{
	record.activity.kind = kind;
	record.kernel.correlationId = i;
	gp_decode(&decoder, &record.activity);
}

static void prepare_kernel(void)
{
	memset(&record, 0, sizeof(record));
	record.kernel.name = kernel_name;
	record.kernel.gridX = record.kernel.blockX = 128;
}

static void prepare_other(void)
{
	memset(&record, 0, sizeof(record));
}

static void scene_decode_kernel(uint32_t i)
{
	scene_decode(i, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

static void scene_decode_copy(uint32_t i)
{
	scene_decode(i, CUPTI_ACTIVITY_KIND_MEMCPY);
}

static void scene_decode_set(uint32_t i)
{
	scene_decode(i, CUPTI_ACTIVITY_KIND_MEMSET);
}

static void wake_nobody(void)
{
}

static void prepare_buffers(void)
{
	if (gp_buffers_init(UINT64_C(1) << 30, true, wake_nobody) != 0)
		exit(1);
}

static void scene_buffer(uint32_t i)
{
	size_t bytes;
	uint8_t *buffer = gp_buffers_take(&bytes);

	(void)i;
	gp_buffers_give(buffer, bytes);
	gp_buffers_next(&bytes);
	gp_buffers_release();
}

/* ---- the writer ---- */

static struct gp_drain drain;
static struct gp_ring_header *ring;

/* Times with jitter, increasing ids. */
static uint32_t jitter(uint32_t limit)
{
	static uint32_t state = 1;

	state = state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)state * limit >> 32);
}

static void fill_with_calls(void)
{
	for (uint32_t i = 0; i < WRITTEN; i++) {
		call_record.start_ticks += 8000 + jitter(4000);
		call_record.duration_low_ticks = 7000 + jitter(2000);
		call_record.correlation_id += 9;
		gp_ring_put_quick(ring, (const struct gp_record *)&call_record);
	}
}

static void fill_with_kernels(void)
{
	for (uint32_t i = 0; i < WRITTEN; i++) {
		kernel_record.start_ns = kernel_record.end_ns + 1000 + jitter(600);
		kernel_record.end_ns = kernel_record.start_ns + 2000 + jitter(300);
		kernel_record.correlation_id += 9;
		kernel_record.name_id = 1 + i * 31 % 120;
		kernel_record.shape_id = 1 + i * 17 % 60;
		gp_ring_put_quick(ring, (const struct gp_record *)&kernel_record);
	}
}

static void scene_write(uint32_t i)
{
	(void)i;
	while (gp_drain_ring(&drain, ring) > 0)
		;
	ring->cached_tail = ring->tail;
}

/* ---- running ---- */

#define TIMES .operations = OPERATIONS, .each = OPERATIONS

static const struct scene scenes[] = {
	{"launch: entry", scene_enter_launch, TIMES},
	{"launch: exit", scene_exit_launch, .before = enter_all, TIMES},
	{"launch", scene_launch, TIMES},
	{"launch with attributes", scene_configured, TIMES},
	{"launch by the driver's API", scene_driver_launch, TIMES},
	{"driver's launch within the runtime's", scene_nested, .before = enter_one, TIMES},
	{"launch while the gate is closed", scene_launch, close_gate, open_gate, TIMES},
	{"launch, of which --stacks=sample takes no stack: added", scene_choose, TIMES},
	{"asynchronous copy", scene_copy, TIMES},
	{"synchronization", scene_synchronize, TIMES},
	{"malloc", scene_allocate, TIMES},
	{"asynchronous malloc", scene_allocate_async, TIMES},
	{"free", scene_release, TIMES},
	{"push and pop", scene_push_and_pop, TIMES},
	{"push and pop: registered, with a payload", scene_push_and_pop_registered, TIMES},
	{"emit a record of 1 slot", scene_emit_call, TIMES},
	{"emit a record of 2 slots", scene_emit_kernel, TIMES},
	{"decode a kernel", scene_decode_kernel, .before = prepare_kernel, TIMES},
	{"decode a copy", scene_decode_copy, .before = prepare_other, TIMES},
	{"decode a memset", scene_decode_set, .before = prepare_other, TIMES},
	{"a buffer to CUPTI and back", scene_buffer, .before = prepare_buffers, TIMES},
	{"write a call", scene_write, .before = fill_with_calls, .operations = 1, .each = WRITTEN},
	{"write a kernel", scene_write, .before = fill_with_kernels, .operations = 1,
	 .each = WRITTEN},
};

static const struct scene scenes_with_stacks[] = {
	{"launch, unchanged stack of 40 frames", scene_launch, .depth = DEPTH, TIMES},
	{"malloc, unchanged stack of 40 frames", scene_allocate, .depth = DEPTH, TIMES},
	{"synchronization, unchanged stack of 40 frames", scene_synchronize, .depth = DEPTH, TIMES},
};

/*
 * A variable in memory and a single call in the code, so that in both runs all frames and their
 * saved values are equal.
 */
static volatile int rounds;

static void run_twice(const struct scene *scene)
{
	for (rounds = 0; rounds < 2; rounds++) {
		if (scene->before != NULL)
			scene->before();
		measure(scene);
	}
	if (scene->after != NULL)
		scene->after();
}

/* The statement after the call prevents a tail call. */
__attribute__((noinline)) static void run_below(uint32_t depth, const struct scene *scene)
{
	if (depth > 0)
		run_below(depth - 1, scene);
	else
		run_twice(scene);
	__asm__ volatile("" : : : "memory");
}

static uint64_t records_in_shared_ring(void)
{
	static const struct gp_arena none;
	uint64_t totals[GP_COUNTERS];

	gp_counters_total(&none, totals);
	return totals[GP_COUNTER_SHARED_RING];
}

/* The writer creates rings in advance, but may be late. */
static void wait_for_own_ring(void)
{
	uint64_t before;

	do {
		sched_yield();
		before = records_in_shared_ring();
		gp_emit((const struct gp_record *)&call_record);
	} while (records_in_shared_ring() != before);
}

static void *run(void *scene)
{
	wait_for_own_ring();
	run_below(((const struct scene *)scene)->depth, scene);
	return NULL;
}

static void run_all(const struct scene *first, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, (void *)(uintptr_t)&first[i]) != 0)
			exit(1);
		pthread_join(thread, NULL);
		printf("%u %s\n", first[i].each, first[i].name);
	}
}

static void start(const char *folder)
{
	static char trace[4096], drained[4096];
	struct gp_collector_config config = {.trace_path = trace};

	snprintf(trace, sizeof(trace), "%s/trace", folder);
	snprintf(drained, sizeof(drained), "%s/drained", folder);
	ring = aligned_alloc(4096, gp_ring_bytes(RING_SLOTS));
	memset(ring, 0, gp_ring_bytes(RING_SLOTS));
	gp_ring_init(ring, RING_SLOTS);
	gp_api_table_init();
	gp_in_flight_begin();
	gp_contexts_add(NULL, CONTEXT, 0);
	gp_ranges_enable(true);
	InitializeInjectionNvtx2_fnptr = gp_nvtx_initialize;
	domain = nvtxDomainCreateA("domain");
	event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
	if (gp_drain_open(&drain, drained, 0, 0) != 0 || gp_collector_start(&config) != 0)
		exit(1);
	gp_store32(&gp_process_state.cupti, 1);
}

static void use_stacks(const char *list)
{
	setenv("GPUPROF_STACKS", list, 1);
	gp_options_read(environ);
	gp_call_stacks_init();
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 64;
	start(argv[1]);
	use_stacks("none");
	run_all(scenes, sizeof(scenes) / sizeof(scenes[0]));
	use_stacks("all");
	run_all(scenes_with_stacks, sizeof(scenes_with_stacks) / sizeof(scenes_with_stacks[0]));
	gp_collector_stop(UINT64_C(5000000000));
	return 0;
}
