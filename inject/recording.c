#include "inject/recording.h"

#include <stdint.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/process_state.h"
#include "collector/sys.h"
#include "gpuprof/count.h"
#include "gpuprof/record.h"
#include "inject/api_table.h"
#include "inject/control.h"
#include "inject/kernel_counters.h"
#include "inject/graph_nodes.h"
#include "inject/options.h"
#include "inject/stall_sampler.h"
#include "inject/log.h"
#include "inject/client_callbacks.h"
#include "inject/client_kinds.h"
#include "inject/trace_list.h"

/*
 * Besides the bits of trace_list.  If both are enabled, CUPTI delivers a record for a whole graph
 * instead of those of its nodes; so --graphs is one bit.  Event records come only beside
 * synchronization records (docs/design/cupti-notes.md, 9); before 12.9 they come with those,
 * without a kind of their own.
 */
#define WHOLE_GRAPHS     0x80000000u
#define KIND_OF_EVENT    0x40000000u
#define GRAPHS_OF_CLIENT 0x20000000u /* whole graphs beside nodes, because a client wants them */
#define KIND_OF_GREEN    0x10000000u /* green contexts have their own records */
#define HOST_FUNCTIONS   0x08000000u /* host functions have records when they are called */
#define HOST_NODES       0x04000000u /* host functions of graph nodes have records */

/*
 * The applied state.  If a client inside the program wants records of our kinds, everything is on,
 * and the gate excludes calls.
 */
enum { ON = 1, DRIVER_READY = 2, CLIENT = 4 };

#define HOLD_SLEEP_NS 20000u
#define HOLD_MOST_NS  1000000000u

static struct {
	const struct gp_cupti *cupti;
	uint32_t trace;   /* enum gp_trace and the bits above; the fetching thread reads it, too */
	uint32_t wanted;  /* ON, DRIVER_READY, CLIENT: the last request */
	uint32_t applied; /* the applied state; owned by the switching thread */
	uint32_t switching;  /* a thread is switching, or holds the lock */
	uint32_t for_client; /* a client has wanted records of our kinds */
	uint32_t refused;    /* bit n: row n of kinds, which this library or device refused */
	bool has_logged_missing;
} recording;

/*
 * The definitions that other records refer to: always on.  inject/cupti_decode.c has a row for each
 * of these and those below.
 */
static const CUpti_ActivityKind definitions[] = {
	CUPTI_ACTIVITY_KIND_DEVICE,
	CUPTI_ACTIVITY_KIND_CONTEXT,
	CUPTI_ACTIVITY_KIND_STREAM,
};

/* Unified memory reports by counters, each of which must be enabled. */
static CUptiResult configure_unified(void)
{
	static const CUpti_ActivityUnifiedMemoryCounterScope scopes[] = {
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES,
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE,
	};
	CUpti_ActivityUnifiedMemoryCounterConfig
		config[CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD];
	CUptiResult result = CUPTI_ERROR_NOT_SUPPORTED;

	if (recording.cupti->cuptiActivityConfigureUnifiedMemoryCounter == NULL)
		return result;
	for (size_t scope = 0; scope < COUNT(scopes) && result != CUPTI_SUCCESS; scope++) {
		for (uint32_t i = 0; i < COUNT(config); i++)
			config[i] = (CUpti_ActivityUnifiedMemoryCounterConfig){
				.scope = scopes[scope],
				.kind = (CUpti_ActivityUnifiedMemoryCounterKind)(i + 1),
				.enable = 1,
			};
		result = recording.cupti->cuptiActivityConfigureUnifiedMemoryCounter(config,
										     COUNT(config));
	}
	return result;
}

/*
 * Exclude queries that return "not yet": a program that polls an event or a stream would flood the
 * trace with them.
 */
static CUptiResult exclude_polling(void)
{
	if (recording.cupti->cuptiActivityEnableAllSyncRecords != NULL)
		recording.cupti->cuptiActivityEnableAllSyncRecords(0);
	return CUPTI_SUCCESS;
}

/*
 * GPU activity is one switch: without records of copies, CUPTI loses those of kernels in graphs
 * (docs/design/cupti-notes.md, 2).  Lazy loading shows in overhead records.
 */
static const struct {
	CUpti_ActivityKind kind;
	uint32_t trace;   /* on with any of these bits */
	const char *what; /* NULL: essential; else it may be refused, and this names the loss */
	bool waits;       /* until the driver is initialized */
	CUptiResult (*prepare)(void); /* before it is enabled */
} kinds[] = {
	{CUPTI_ACTIVITY_KIND_MEMCPY, GP_TRACE_GPU, NULL, false, NULL},
	{CUPTI_ACTIVITY_KIND_MEMCPY2, GP_TRACE_GPU, NULL, false, NULL},
	{CUPTI_ACTIVITY_KIND_MEMSET, GP_TRACE_GPU, NULL, false, NULL},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, GP_TRACE_GPU, NULL, false, NULL},
	{CUPTI_ACTIVITY_KIND_GRAPH_TRACE, WHOLE_GRAPHS | GRAPHS_OF_CLIENT, "whole graphs", false,
	 NULL},
	{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, GP_TRACE_SYNC | GP_TRACE_EVENT, "synchronization",
	 false, exclude_polling},
	{CUPTI_ACTIVITY_KIND_CUDA_EVENT, KIND_OF_EVENT, "events", false, NULL},
	{CUPTI_ACTIVITY_KIND_JIT, GP_TRACE_MODULE, "compilation", false, NULL},
	{CUPTI_ACTIVITY_KIND_MEMORY_POOL, GP_TRACE_MEMORY, "memory pools", false, NULL},
	{CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, GP_TRACE_UNIFIED, "unified memory", true,
	 configure_unified},
	{GP_CUPTI_KIND_GREEN_CONTEXT, KIND_OF_GREEN, "green contexts", false, NULL},
	{(CUpti_ActivityKind)GP_CUPTI_KIND_HOST_LAUNCH, HOST_FUNCTIONS, "host functions", false,
	 NULL},
	{(CUpti_ActivityKind)GP_CUPTI_KIND_GRAPH_HOST_NODE, HOST_NODES, "host functions of graphs",
	 false, NULL},
	{CUPTI_ACTIVITY_KIND_OVERHEAD, GP_TRACE_OVERHEAD | GP_TRACE_MODULE, "overhead", false,
	 NULL},
};

static bool is_traced(uint32_t any_of)
{
	return (gp_load32(&recording.trace) & any_of) != 0;
}

static void add_trace(uint32_t bits)
{
	(void)gp_or32(&recording.trace, bits);
}

/* Windows of hardware counters may need them to be off. */
static void leave_out_kernels(void)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (kinds[i].kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
			recording.refused |= 1u << i;
}

bool gp_recording_has_kernels(void)
{
	return is_traced(GP_TRACE_GPU) && !gp_kernel_counters_patch_code();
}

bool gp_recording_has_operations(void)
{
	return is_traced(GP_TRACE_GPU);
}

/* Each node of each graph, rather than whole graphs. */
bool gp_recording_has_nodes(void)
{
	return is_traced(GP_TRACE_GPU) && !is_traced(WHOLE_GRAPHS);
}

void gp_recording_init(const struct gp_cupti *cupti, CUpti_SubscriberHandle subscriber)
{
	memset(&recording, 0, sizeof(recording));
	recording.cupti = cupti;
	gp_client_callbacks_init(cupti, subscriber);
	gp_client_kinds_init(gp_cupti_can(cupti->version, GP_CUPTI_NUMBERS_LAUNCHES));
	add_trace(gp_trace_list());
	if (!gp_recording_has_kernels())
		leave_out_kernels();
	if (strcmp(gp_option_text(GP_OPTION_ID_GRAPHS), "graph") == 0 && is_traced(GP_TRACE_GPU))
		add_trace(WHOLE_GRAPHS);
	if (gp_recording_has_nodes())
		gp_graph_nodes_init(cupti);
	if (gp_cupti_can(cupti->version, GP_CUPTI_KIND_OF_EVENTS) && is_traced(GP_TRACE_EVENT))
		add_trace(KIND_OF_EVENT);
	if (gp_cupti_can(cupti->version, GP_CUPTI_KIND_OF_GREEN_CONTEXTS))
		add_trace(KIND_OF_GREEN);
	if (gp_cupti_can(cupti->version, GP_CUPTI_KINDS_OF_HOST_FUNCTIONS))
		add_trace((gp_recording_has_operations() ? HOST_FUNCTIONS : 0) |
			  (gp_recording_has_nodes() ? HOST_NODES : 0));
	for (size_t i = 0; i < COUNT(definitions); i++)
		gp_client_kinds_set_ours(definitions[i], true);
	for (size_t i = 0; i < COUNT(kinds); i++)
		gp_client_kinds_set_ours(kinds[i].kind, is_traced(kinds[i].trace) &&
								(recording.refused >> i & 1) == 0);
}

/* ---- records ---- */

static bool is_on(size_t row, uint32_t state)
{
	return is_traced(kinds[row].trace) && (recording.refused & (1u << row)) == 0 &&
	       (state & (ON | CLIENT)) != 0 && (!kinds[row].waits || (state & DRIVER_READY) != 0);
}

static CUptiResult enable_kind(size_t row)
{
	CUptiResult result = kinds[row].prepare != NULL ? kinds[row].prepare() : CUPTI_SUCCESS;

	return result == CUPTI_SUCCESS ? recording.cupti->cuptiActivityEnable(kinds[row].kind)
				       : result;
}

/* Once for each kind: it is not tried again. */
static void note_refused(size_t row, CUptiResult result)
{
	const char *text = NULL;

	recording.cupti->cuptiGetResultString(result, &text);
	recording.refused |= 1u << row;
	gp_client_kinds_set_ours(kinds[row].kind, false);
	gp_log("%s: CUPTI does not provide these records here (%s); the rest is recorded",
	       kinds[row].what, text != NULL ? text : "unknown error");
}

/* Only the refusal of an essential kind is an error. */
static CUptiResult turn_on(size_t row)
{
	CUptiResult result = enable_kind(row);

	if (result != CUPTI_SUCCESS && kinds[row].what != NULL) {
		note_refused(row, result);
		return CUPTI_SUCCESS;
	}
	return result;
}

static CUptiResult set_kinds(uint32_t before, uint32_t after)
{
	CUptiResult result = CUPTI_SUCCESS;

	for (size_t i = 0; i < COUNT(kinds) && result == CUPTI_SUCCESS; i++) {
		bool was = is_on(i, before), is = is_on(i, after);

		if (was && !is)
			recording.cupti->cuptiActivityDisable(kinds[i].kind);
		if (!was && is)
			result = turn_on(i);
	}
	return result;
}

/* ---- callbacks ---- */

static CUptiResult set_callback(bool on, CUpti_CallbackDomain domain, uint32_t cbid)
{
	return gp_client_callbacks_enable(GP_SIDE_OURS, on, domain, cbid);
}

/*
 * The bits with which each class of calls is recorded; calls about memory pools and similar are in
 * CONTROL.
 */
static const uint32_t trace_of_class[GP_API_CLASSES] = {
	[GP_API_LAUNCH] = GP_TRACE_GPU,      [GP_API_GRAPH_LAUNCH] = GP_TRACE_GPU,
	[GP_API_COPY] = GP_TRACE_GPU,        [GP_API_MEMSET] = GP_TRACE_GPU,
	[GP_API_ALLOC] = GP_TRACE_MEMORY,    [GP_API_FREE] = GP_TRACE_MEMORY,
	[GP_API_SYNC] = GP_TRACE_WAITS,      [GP_API_CAPTURE_BEGIN] = GP_TRACE_GPU,
	[GP_API_CAPTURE_END] = GP_TRACE_GPU, [GP_API_CONTROL] = GP_TRACE_GPU,
	[GP_API_EVENT] = GP_TRACE_EVENT,     [GP_API_MODULE] = GP_TRACE_MODULE,
	[GP_API_HOST] = GP_TRACE_GPU,
};

static uint32_t trace_of(const struct gp_api_entry *entry)
{
	return entry->memory_kind != 0 ? GP_TRACE_MEMORY : trace_of_class[entry->class];
}

static CUpti_CallbackDomain domain_of(const struct gp_api_entry *entry)
{
	return GP_API_IS_DRIVER(entry->api) ? CUPTI_CB_DOMAIN_DRIVER_API
					    : CUPTI_CB_DOMAIN_RUNTIME_API;
}

/* Once, for the first missing call: usually all later ones are missing, too. */
static void note_not_reported(const struct gp_api_entry *entry, CUptiResult result)
{
	const char *text = NULL;

	if (recording.has_logged_missing)
		return;
	recording.has_logged_missing = true;
	recording.cupti->cuptiGetResultString(result, &text);
	gp_log("API calls are missing in the trace: CUPTI does not report %s, and perhaps others (%s); try another libcupti with --cupti or GPUPROF_CUPTI",
	       gp_api_cupti_name(entry), text != NULL ? text : "unknown error");
}

/* A cbid unknown to this library is an invalid parameter, which does not matter. */
static void set_call(bool on, const struct gp_api_entry *entry)
{
	CUptiResult result = set_callback(on, domain_of(entry), GP_API_CBID(entry->api));

	if (on && result != CUPTI_SUCCESS && result != CUPTI_ERROR_INVALID_PARAMETER)
		note_not_reported(entry, result);
}

static void set_curated_calls(bool on)
{
	uint32_t count;
	const struct gp_api_entry *entries = gp_api_table(&count);

	for (uint32_t i = 0; i < count; i++)
		set_call((on && is_traced(trace_of(&entries[i]))) || gp_control_needs(&entries[i]),
			 &entries[i]);
}

/* The calls that switch the recording on again. */
static void enable_triggers(void)
{
	uint32_t count;
	const struct gp_api_entry *entries = gp_api_table(&count);

	for (uint32_t i = 0; i < count; i++)
		if (gp_control_needs(&entries[i]))
			set_call(true, &entries[i]);
}

static CUptiResult set_every_call(bool on)
{
	CUptiResult result =
		gp_client_callbacks_enable_domain(GP_SIDE_OURS, on, CUPTI_CB_DOMAIN_RUNTIME_API);

	if (result == CUPTI_SUCCESS)
		result = gp_client_callbacks_enable_domain(GP_SIDE_OURS, on,
							   CUPTI_CB_DOMAIN_DRIVER_API);
	if (!on)
		enable_triggers();
	return result;
}

static CUptiResult set_calls(bool on)
{
	/*
	 * fires inside a call that is being captured: the only sign that the call will have no
	 * record
	 */
	if (is_traced(GP_TRACE_GPU | GP_TRACE_MEMORY))
		set_callback(on, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
	if (gp_recording_has_nodes())
		set_callback(on, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
	if (is_traced(GP_TRACE_API_ALL))
		return set_every_call(on);
	set_curated_calls(on);
	return CUPTI_SUCCESS;
}

/* ---- on and off ---- */

/*
 * Records must come only for calls whose callbacks ran, so that unwanted records can be recognized.
 */
static CUptiResult apply(uint32_t before, uint32_t after)
{
	bool on = (after & (ON | CLIENT)) != 0, turns = on != ((before & (ON | CLIENT)) != 0);
	CUptiResult result = CUPTI_SUCCESS;

	if (turns && on)
		result = set_calls(true);
	if (result == CUPTI_SUCCESS)
		result = set_kinds(before, after);
	return turns && !on ? set_calls(false) : result;
}

CUptiResult gp_recording_begin(void)
{
	CUptiResult result = CUPTI_SUCCESS;

	for (size_t i = 0; i < COUNT(definitions) && result == CUPTI_SUCCESS; i++)
		result = recording.cupti->cuptiActivityEnable(definitions[i]);
	if (result == CUPTI_SUCCESS)
		result = set_callback(true, CUPTI_CB_DOMAIN_RESOURCE,
				      CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	if (result == CUPTI_SUCCESS)
		set_callback(true, CUPTI_CB_DOMAIN_RESOURCE,
			     CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
	if (result == CUPTI_SUCCESS && gp_recording_has_operations())
		set_callback(true, CUPTI_CB_DOMAIN_RESOURCE,
			     CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING);
	if (result == CUPTI_SUCCESS && is_traced(GP_TRACE_UNIFIED))
		set_callback(true, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
	if (result == CUPTI_SUCCESS && gp_stall_sampler_is_on())
		set_callback(true, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
	if (result == CUPTI_SUCCESS)
		enable_triggers();
	return result;
}

/*
 * A thread that finds another one at work leaves its request; the working thread checks for
 * requests after it has finished.  Store and load are in opposite order on the two sides, so the
 * accesses are sequentially consistent.
 */
static CUptiResult apply_requests(void)
{
	CUptiResult result = CUPTI_SUCCESS;

	while (gp_replace32(&recording.switching, 0, 1)) {
		uint32_t wanted = gp_load32(&recording.wanted);

		if (wanted != recording.applied)
			result = apply(recording.applied, wanted);
		recording.applied = wanted;
		gp_swap32(&recording.switching, 0);
		if (gp_replace32(&recording.wanted, wanted, wanted))
			break;
	}
	return result;
}

static CUptiResult want(uint32_t clear, uint32_t set)
{
	uint32_t before = gp_load32(&recording.wanted);

	while (!gp_replace32(&recording.wanted, before, (before & ~clear) | set))
		before = gp_load32(&recording.wanted);
	return apply_requests();
}

CUptiResult gp_recording_switch(bool on)
{
	return on ? want(0, ON) : want(ON, 0);
}

void gp_recording_driver_is_ready(void)
{
	want(0, DRIVER_READY);
}

void gp_recording_want_for_client(bool wanted)
{
	if (wanted)
		gp_store32(&recording.for_client, 1);
	want(wanted ? 0 : CLIENT, wanted ? CLIENT : 0);
}

bool gp_recording_is_for_client(void)
{
	return gp_load32(&recording.for_client) && (gp_load32(&recording.wanted) & ON) == 0;
}

void gp_recording_take_graphs(void)
{
	size_t row = 0;

	if (!gp_recording_has_nodes() || is_traced(GRAPHS_OF_CLIENT))
		return;
	add_trace(GRAPHS_OF_CLIENT);
	gp_client_kinds_set_ours(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, true);
	while (kinds[row].kind != CUPTI_ACTIVITY_KIND_GRAPH_TRACE)
		row++;
	if (is_on(row, recording.applied))
		turn_on(row);
}

void gp_recording_watch_calls(bool on)
{
	uint32_t count;
	const struct gp_api_entry *entries = gp_api_table(&count);

	for (uint32_t i = 0; i < count; i++)
		if (gp_client_callbacks_is_enabled(GP_SIDE_NEXT, domain_of(&entries[i]),
						   GP_API_CBID(entries[i].api)) != on)
			gp_client_callbacks_enable(GP_SIDE_NEXT, on, domain_of(&entries[i]),
						   GP_API_CBID(entries[i].api));
}

bool gp_recording_hold(void)
{
	uint64_t give_up_ns = gp_sys_now_ns() + HOLD_MOST_NS;

	if (gp_load32(&gp_process_state.cupti) == 0)
		return false;
	while (!gp_replace32(&recording.switching, 0, 1)) {
		if (gp_sys_now_ns() > give_up_ns)
			return false;
		gp_sys_sleep(HOLD_SLEEP_NS);
	}
	return true;
}

void gp_recording_release(bool held)
{
	uint32_t applied = held ? recording.applied : 0;

	if (!held)
		return;
	gp_swap32(&recording.switching, 0);
	if (!gp_replace32(&recording.wanted, applied, applied))
		apply_requests();
}

void gp_recording_end(void)
{
	set_kinds(ON | DRIVER_READY | CLIENT, 0);
	for (size_t i = 0; i < COUNT(definitions); i++)
		recording.cupti->cuptiActivityDisable(definitions[i]);
}
