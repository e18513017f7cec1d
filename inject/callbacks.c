#include "inject/callbacks.h"

#include <string.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/process_state.h"
#include "inject/api_table.h"
#include "inject/call_stacks.h"
#include "inject/contexts.h"
#include "inject/control.h"
#include "inject/counter_windows.h"
#include "inject/graph_nodes.h"
#include "inject/in_flight.h"
#include "inject/launch_call.h"
#include "inject/launch_sampler.h"
#include "inject/memory_call.h"
#include "inject/client_buffers.h"
#include "inject/client_callbacks.h"
#include "inject/client_kinds.h"
#include "stacks/stack.h"

/*
 * One callback pair out of this many is timed, for the estimate of gpuprof's overhead in the
 * summary.
 */
#define SAMPLE_EVERY        64u
#define SAMPLES_PER_S_LEAST 50000u /* 20 us: a hundred times the cost of a pair */

#define STATUS_NOT_READY 600 /* in both APIs */

/* Per thread: 88 bytes of static TLS. */
static __thread struct {
	uint32_t runtime_correlation_id; /* of the current runtime call of this thread */
	uint8_t in_runtime;
	uint8_t excluded;  /* a profiler thread: its calls are not recorded */
	uint16_t captured; /* GP_CALL_CAPTURED once the call has become a graph node; else 0 */
	uint32_t driver_correlation_id; /* of the last driver call outside of runtime calls */
	uint32_t pairs;                 /* of callbacks, for sampling */
	uint32_t stack_id;              /* of the call, if it was taken at the beginning */
	struct gp_counter_launch counted;
	uint64_t entry_ticks;         /* time inside the entry callback if it was sampled; else 0 */
	struct gp_launches *launches; /* inject/in_flight.h */
	struct gp_launch_sampler sampler;
} local;

static struct gp_callback_events notify;

/*
 * A call that began before belongs to an earlier recording of the process, and so does its stack; 0
 * as the beginning of a call marks one that is excluded.
 */
static uint64_t first_ticks;

/* Bit set: the name of this API call is in the trace. */
static uint64_t named[2][GP_API_CBID_LIMIT / 64];

void gp_callbacks_init(const struct gp_callback_events *events)
{
	memset(named, 0, sizeof(named));
	first_ticks = gp_clock_ticks();
	notify = *events;
}

/* For rare or option-dependent work, to keep it out of the hot path. */
#define COLD __attribute__((noinline, cold))

static inline bool is_named(bool driver, uint32_t cbid)
{
	return cbid >= GP_API_CBID_LIMIT || (gp_load64(&named[driver][cbid / 64]) >> cbid % 64 & 1);
}

/*
 * CUPTI's name is a constant of the library, and may be missing for a call unknown to it; the class
 * comes from our table.
 */
COLD static void define_api(bool driver, uint32_t cbid, const char *name)
{
	const struct gp_api_entry *entry = gp_api_table_find(driver, cbid);
	uint16_t api = (uint16_t)(cbid | (driver ? GP_API_DRIVER : 0));

	if (name != NULL &&
	    gp_emit_string(GP_STRING_API, api, entry != NULL ? entry->class : GP_API_OTHER, name,
			   (uint32_t)strlen(name)))
		gp_or64(&named[driver][cbid / 64], (uint64_t)1 << (cbid % 64));
}

/* Two calls of the runtime return a string instead of a code. */
static int return_code(uint16_t api, const CUpti_CallbackData *data)
{
	if (data->functionReturnValue == NULL ||
	    api == CUPTI_RUNTIME_TRACE_CBID_cudaGetErrorString_v3020 ||
	    api == CUPTI_RUNTIME_TRACE_CBID_cudaGetErrorName_v6050)
		return 0;
	return *(const int *)data->functionReturnValue;
}

/* "Not ready" is not a failure, and these two calls only report the failure of another call. */
COLD static bool is_failure(uint16_t api, int code)
{
	return code != STATUS_NOT_READY && api != CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020 &&
	       api != CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020;
}

static bool has_failed(uint16_t api, int code)
{
	return code != 0 && is_failure(api, code);
}

static struct gp_record_call make_call(const CUpti_CallbackData *data, uint16_t api,
				       uint64_t end_ticks)
{
	uint64_t duration_ticks = end_ticks - *data->correlationData;
	int code = return_code(api, data);

	return (struct gp_record_call){
		.kind = GP_RECORD_CALL,
		.slots = sizeof(struct gp_record_call) / GP_SLOT_BYTES,
		.api = api,
		.correlation_id = data->correlationId,
		.start_ticks = *data->correlationData,
		.duration_low_ticks = (uint32_t)duration_ticks,
		.duration_high_ticks = (uint16_t)(duration_ticks >> 32),
		.status = (uint16_t)(GP_CALL_CODE((uint32_t)code) | local.captured),
		.stack_id = local.stack_id,
		.context_id = data->contextUid,
	};
}

static void emit_memory_call(const struct gp_api_entry *entry, const CUpti_CallbackData *data,
			     const struct gp_record_call *call)
{
	struct gp_record_memory memory = {.call = *call};

	memory.call.kind = GP_RECORD_MEMORY;
	memory.call.slots = sizeof(memory) / GP_SLOT_BYTES;
	gp_memory_call_read(entry, data->functionParams, &memory);
	if (memory.device_id == GP_DEVICE_UNKNOWN)
		memory.device_id = gp_contexts_device(data->contextUid);
	gp_emit((const struct gp_record *)&memory);
}

/*
 * For an allocation: records the requested size.  False: not an allocation, or the size is unknown.
 */
COLD static bool emit_failed_allocation(const struct gp_api_entry *entry,
					const CUpti_CallbackData *data, struct gp_record_call call)
{
	struct gp_record_memory memory = {.call = call};

	if (entry == NULL || GP_CALL_CODE(call.status) == CUDA_SUCCESS ||
	    !gp_memory_call_read_failed(entry, data->functionParams, &memory))
		return false;
	memory.call.kind = GP_RECORD_MEMORY;
	memory.call.slots = sizeof(memory) / GP_SLOT_BYTES;
	if (memory.device_id == GP_DEVICE_UNKNOWN)
		memory.device_id = gp_contexts_device(data->contextUid);
	gp_emit((const struct gp_record *)&memory);
	return true;
}

static void emit_launch(const struct gp_api_entry *entry, const CUpti_CallbackData *data,
			struct gp_record_call *call)
{
	call->status |= gp_launch_call_flags(entry, data->functionParams);
	gp_emit((const struct gp_record *)call);
}

/*
 * A free in a static destructor, after the driver's end, returns "unloading": the memory is freed
 * nevertheless.
 */
static bool took_effect(const struct gp_api_entry *entry, uint16_t status)
{
	uint16_t code = GP_CALL_CODE(status);

	return code == CUDA_SUCCESS ||
	       (code == CUDA_ERROR_DEINITIALIZED && entry->class == GP_API_FREE);
}

/*
 * A fault or a time limit ended a kernel, and with it its whole context: usually the program ends
 * next.
 */
COLD static void note_failure(int code)
{
	if (code == CUDA_ERROR_ILLEGAL_ADDRESS || code == CUDA_ERROR_LAUNCH_TIMEOUT ||
	    code == CUDA_ERROR_ASSERT ||
	    (code >= CUDA_ERROR_HARDWARE_STACK_ERROR && code <= CUDA_ERROR_LAUNCH_FAILED))
		notify.kernel_failed();
}

static inline void note_launch(uint64_t stream, uint16_t api, const CUpti_CallbackData *data)
{
	gp_in_flight_note(&local.launches, (struct gp_launch){
						   .name = (uint64_t)(uintptr_t)data->symbolName,
						   .stream = stream,
						   .correlation_id = data->correlationId,
						   .context = (uint16_t)data->contextUid,
						   .api = api,
					   });
}

/* All previous work of the stream has ended. */
static inline void note_wait(uint16_t api, const CUpti_CallbackData *data)
{
	gp_in_flight_note_wait(&local.launches,
			       (struct gp_launch){
				       .stream = *(const uint64_t *)data->functionParams,
				       .correlation_id = data->correlationId,
				       .context = (uint16_t)data->contextUid,
				       .api = api,
			       });
}

static uint32_t capture_sample(uint64_t began_ticks)
{
	uint32_t id = gp_stack_capture();

	gp_launch_sampler_took(&local.sampler, began_ticks, gp_clock_ticks());
	return id;
}

static inline bool is_sample(const struct gp_api_entry *entry, const CUpti_CallbackData *data)
{
	return gp_launch_sampler_takes(&local.sampler,
				       gp_launch_call_kind(entry, data->functionParams),
				       local.captured != 0);
}

/*
 * At the end of a call: its stack, or 0 if it gets none.  Also for a call whose stack could not be
 * taken at its beginning.  A failed call gets a stack unless --stacks=none: failures are few, and
 * users want to know the place.
 */
static inline uint32_t stack_at_exit(const struct gp_api_entry *entry, uint8_t when,
				     const CUpti_CallbackData *data, bool failed,
				     uint64_t end_ticks)
{
	if (failed || (when & (GP_STACK_AT_ENTER | GP_STACK_AT_EXIT) && !(when & GP_STACK_SAMPLED)))
		return gp_stack_capture();
	if (when & GP_STACK_AT_EXIT && is_sample(entry, data))
		return capture_sample(end_ticks);
	return 0;
}

static void leave_call(bool driver, uint32_t cbid, const CUpti_CallbackData *data,
		       uint64_t end_ticks)
{
	const struct gp_api_entry *entry = gp_api_table_find(driver, cbid);
	uint16_t api = (uint16_t)(cbid | (driver ? GP_API_DRIVER : 0));
	struct gp_record_call call = make_call(data, api, end_ticks);

	if (call.stack_id == 0)
		call.stack_id =
			stack_at_exit(entry, gp_call_stacks_of(driver, cbid), data,
				      has_failed(api, GP_CALL_CODE(call.status)), end_ticks);
	if (!is_named(driver, cbid))
		define_api(driver, cbid, data->functionName);
	if (__builtin_expect(call.status != 0, 0)) {
		note_failure(GP_CALL_CODE(call.status));
		if (emit_failed_allocation(entry, data, call))
			return;
	} else if (entry != NULL && entry->stream_at != 0) {
		note_launch(gp_launch_call_stream(entry, data->functionParams), api, data);
	} else if (entry != NULL && entry->class == GP_API_LAUNCH) {
		note_launch(gp_launch_call_configured_stream(entry, data->functionParams), api,
			    data);
	} else if (entry != NULL && entry->shape == GP_SHAPE_WAITED) {
		note_wait(api, data);
	}
	if (entry == NULL || entry->shape < GP_SHAPE_MEMORY || !took_effect(entry, call.status))
		gp_emit((const struct gp_record *)&call);
	else if (entry->shape < GP_SHAPE_LAUNCHES)
		emit_memory_call(entry, data, &call);
	else
		emit_launch(entry, data, &call);
}

/*
 * Both ids are compared, because a call that is left by longjmp() never reaches its exit callback.
 */
static bool is_nested(bool driver, const CUpti_CallbackData *data)
{
	return driver && local.in_runtime && local.runtime_correlation_id == data->correlationId;
}

static inline void note_entry(bool driver, const CUpti_CallbackData *data)
{
	uint64_t now_ticks = gp_clock_ticks();

	*data->correlationData = now_ticks;
	if (!driver) {
		local.in_runtime = 1;
		local.runtime_correlation_id = data->correlationId;
	} else {
		local.driver_correlation_id = data->correlationId;
	}
	if (!driver || !local.in_runtime)
		local.captured = 0;
	local.entry_ticks = 0;
	local.stack_id = 0;
	if (local.pairs++ % SAMPLE_EVERY == 0)
		local.entry_ticks = gp_clock_ticks() - now_ticks;
}

COLD static void enter_window(bool driver, uint32_t cbid, const CUpti_CallbackData *data)
{
	if (gp_counter_windows_enter(&local.counted, gp_api_table_find(driver, cbid), data,
				     *data->correlationData))
		note_entry(driver, data);
}

COLD static void enter_watched_call(bool driver, uint32_t cbid, const CUpti_CallbackData *data)
{
	note_entry(driver, data);
	if (gp_load32(&gp_watch) & GP_WATCH_COUNTERS)
		enter_window(driver, cbid, data);
	if (!gp_control_enter(gp_api_table_find(driver, cbid), data))
		*data->correlationData = 0;
}

/* For a call that may block; the call's time begins after it. */
static void take_stack(const CUpti_CallbackData *data, bool is_sampled)
{
	uint64_t began_ticks = *data->correlationData;

	local.stack_id = is_sampled ? capture_sample(began_ticks) : gp_stack_capture();
	if (local.stack_id == 0)
		return;
	*data->correlationData = gp_clock_ticks();
	if (local.entry_ticks != 0)
		local.entry_ticks += *data->correlationData - began_ticks;
}

/* Makes the current call and its name visible to observers of the live process. */
static void show_call(bool driver, uint32_t cbid, const CUpti_CallbackData *data)
{
	if (!is_named(driver, cbid))
		define_api(driver, cbid, data->functionName);
	gp_call_begins((uint16_t)(cbid | (driver ? GP_API_DRIVER : 0)), *data->correlationData);
}

static void enter_slow_call(bool driver, uint32_t cbid, const CUpti_CallbackData *data,
			    uint8_t when)
{
	bool is_sampled = when & GP_STACK_SAMPLED;

	if (when & GP_STACK_AT_ENTER &&
	    (!is_sampled || is_sample(gp_api_table_find(driver, cbid), data)))
		take_stack(data, is_sampled);
	if (when & GP_CALL_WAITS)
		show_call(driver, cbid, data);
}

static void on_enter(bool driver, uint32_t cbid, const CUpti_CallbackData *data)
{
	uint8_t when;

	if (gp_load32(&gp_watch) == 0)
		note_entry(driver, data);
	else
		enter_watched_call(driver, cbid, data);
	when = *data->correlationData != 0 ? gp_call_stacks_of(driver, cbid) : 0;
	if (when & (GP_STACK_AT_ENTER | GP_CALL_WAITS))
		enter_slow_call(driver, cbid, data, when);
}

/*
 * The sample, or 0 if it is so long that the thread was descheduled or waited for the writer: such
 * a sample says nothing about the cost of a callback.
 */
static uint64_t plausible(uint64_t sample_ticks)
{
	return sample_ticks < gp_clock_ticks_per_second() / SAMPLES_PER_S_LEAST ? sample_ticks : 0;
}

/* False for calls that are excluded.  Also handles calls that control the recording. */
COLD static bool leave_watched_call(bool driver, uint32_t cbid, const CUpti_CallbackData *data,
				    uint64_t end_ticks)
{
	const struct gp_api_entry *entry = gp_api_table_find(driver, cbid);
	uint16_t api = (uint16_t)(cbid | (driver ? GP_API_DRIVER : 0));
	uint64_t duration_ticks = end_ticks - *data->correlationData;

	gp_control_exit(entry);
	return gp_control_keeps(entry != NULL ? entry->class : GP_API_OTHER,
				has_failed(api, return_code(api, data)), duration_ticks);
}

/* The last work of a callback: a window of hardware counters may open, which takes a while. */
COLD static void leave_window(bool driver, uint32_t cbid, const CUpti_CallbackData *data)
{
	uint16_t api = (uint16_t)(cbid | (driver ? GP_API_DRIVER : 0));

	gp_counter_windows_exit(&local.counted, gp_api_table_find(driver, cbid), data,
				return_code(api, data) == 0 && local.captured == 0);
}

/* A call that is excluded, or whose entry was missed, such as cuInit itself. */
COLD static void leave_other_call(bool driver, uint32_t cbid)
{
	if (!driver)
		local.in_runtime = 0;
	if (gp_load32(&gp_watch) != 0)
		gp_control_exit(gp_api_table_find(driver, cbid));
}

/* The same with windows of hardware counters. */
COLD static void leave_other_call_and_window(bool driver, uint32_t cbid,
					     const CUpti_CallbackData *data)
{
	leave_other_call(driver, cbid);
	leave_window(driver, cbid, data);
}

static void on_exit_of(bool driver, uint32_t cbid, const CUpti_CallbackData *data)
{
	uint64_t now_ticks = gp_clock_ticks();

	if (!driver)
		local.in_runtime = 0;
	if (gp_load32(&gp_watch) == 0 || leave_watched_call(driver, cbid, data, now_ticks))
		leave_call(driver, cbid, data, now_ticks);
	else
		gp_call_is_excluded();
	gp_count_hook(local.entry_ticks != 0
			      ? plausible(local.entry_ticks + gp_clock_ticks() - now_ticks)
			      : 0);
	local.entry_ticks = 0;
	if (gp_load32(&gp_watch) & GP_WATCH_COUNTERS)
		leave_window(driver, cbid, data);
}

void gp_callbacks_exclude_thread(bool leave_out)
{
	local.excluded = leave_out;
}

static inline __attribute__((always_inline)) void on_call(bool driver, uint32_t cbid,
							  const CUpti_CallbackData *data)
{
	if (local.excluded)
		return;
	if (is_nested(driver, data)) {
		if (data->callbackSite == CUPTI_API_ENTER)
			gp_count_nested();
	} else if (data->callbackSite == CUPTI_API_ENTER) {
		on_enter(driver, cbid, data);
	} else if (*data->correlationData > first_ticks) {
		on_exit_of(driver, cbid, data);
	} else if (gp_load32(&gp_watch) & GP_WATCH_COUNTERS) {
		leave_other_call_and_window(driver, cbid, data);
	} else {
		leave_other_call(driver, cbid);
	}
}

/* Created in the call that is being captured, or cloned in the call that instantiates the graph. */
static void on_graph_node(uint32_t cbid, const CUpti_ResourceData *data)
{
	if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED)
		local.captured = GP_CALL_CAPTURED;
	gp_graph_nodes_add(data->resourceDescriptor, local.in_runtime
							     ? local.runtime_correlation_id
							     : local.driver_correlation_id);
}

static void on_module_loaded(const CUpti_ModuleResourceData *module)
{
	notify.module_loaded(module->pCubin, module->cubinSize);
}

static void on_resource(uint32_t cbid, const CUpti_ResourceData *data)
{
	if (cbid == CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING ||
	    cbid == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
		gp_in_flight_end_era();
	if (cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
		notify.context_created(data->context);
	else if (cbid == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
		notify.context_destroyed(data->context);
	else if (cbid == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED)
		notify.driver_ready();
	else if (cbid == CUPTI_CBID_RESOURCE_MODULE_LOADED)
		on_module_loaded(data->resourceDescriptor);
	else if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED ||
		 cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)
		on_graph_node(cbid, data);
}

static inline void own_callback(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
				const void *data)
{
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API)
		on_call(domain == CUPTI_CB_DOMAIN_DRIVER_API, cbid, data);
	else if (domain == CUPTI_CB_DOMAIN_RESOURCE)
		on_resource(cbid, data);
}

/* ---- a client of CUPTI inside the program ---- */

static bool is_end_of_call(CUpti_CallbackDomain domain, const void *data)
{
	return (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) &&
	       ((const CUpti_CallbackData *)data)->callbackSite == CUPTI_API_EXIT;
}

/* A call begins, possibly the first one after an action of the client. */
static void note_call(CUpti_CallbackDomain domain, const void *data)
{
	if ((domain != CUPTI_CB_DOMAIN_RUNTIME_API && domain != CUPTI_CB_DOMAIN_DRIVER_API) ||
	    is_end_of_call(domain, data))
		return;
	gp_client_kinds_note_call(((const CUpti_CallbackData *)data)->correlationId);
	gp_client_buffers_next_call();
}

/* The client's callback runs outside our time measurement of the call. */
COLD static void shared_callback(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
				 const void *data)
{
	bool ends = is_end_of_call(domain, data);

	if (local.excluded || !gp_load32(&gp_process_state.cupti)) /* a forked child */
		return;
	note_call(domain, data);
	if (!ends)
		gp_client_callback(domain, cbid, data);
	if (gp_client_callbacks_is_enabled(GP_SIDE_OURS, domain, cbid))
		own_callback(domain, cbid, data);
	if (ends)
		gp_client_callback(domain, cbid, data);
}

void CUPTIAPI gp_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			  const void *data)
{
	(void)user;
	if (gp_load32(&gp_process_state.cupti) == 1)
		own_callback(domain, cbid, data);
	else
		shared_callback(domain, cbid, data);
}
