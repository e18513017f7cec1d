#include "inject/recording.h"

#include <stdint.h>
#include <string.h>

#include "collector/atomic.h"
#include "gpuprof/record.h"
#include "inject/api_table.h"
#include "inject/options.h"
#include "inject/say.h"
#include "inject/trace_list.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Beside the bits of trace_list.  CUPTI gives a record for a whole graph in place of those of its nodes, where both are
 * on; so --graphs is one bit.
 */
#define WHOLE_GRAPHS 0x80000000u

static struct {
	const struct gp_cupti *cupti;
	CUpti_SubscriberHandle subscriber;
	uint32_t trace;     /* enum gp_trace, and WHOLE_GRAPHS */
	uint32_t wanted;    /* 1 = on: what was asked for last */
	uint32_t applied;   /* what is in force; of the thread that is switching */
	uint32_t switching; /* a thread is at it */
	uint32_t refused;   /* bit n: row n of kinds, which this library or device does not have */
} recording;

/* What defines what the others refer to: always on.  inject/cupti_decode.c has a row for each of these and those below. */
static const CUpti_ActivityKind definitions[] = {
	CUPTI_ACTIVITY_KIND_DEVICE,
	CUPTI_ACTIVITY_KIND_CONTEXT,
	CUPTI_ACTIVITY_KIND_STREAM,
};

/*
 * What the device does is one switch: without records of copies, CUPTI loses those of kernels in graphs
 * (docs/cupti-notes.md, 2).  Lazy loading is told by overhead records.  What is not vital may be refused.
 */
static const struct {
	CUpti_ActivityKind kind;
	bool vital;
	uint32_t trace; /* on with any of these */
	const char *what;
} kinds[] = {
	{CUPTI_ACTIVITY_KIND_MEMCPY, true, GP_TRACE_GPU, "copies"},
	{CUPTI_ACTIVITY_KIND_MEMCPY2, true, GP_TRACE_GPU, "copies between devices"},
	{CUPTI_ACTIVITY_KIND_MEMSET, true, GP_TRACE_GPU, "memory sets"},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, true, GP_TRACE_GPU, "kernels"},
	{CUPTI_ACTIVITY_KIND_GRAPH_TRACE, false, WHOLE_GRAPHS,
	 "graphs as a whole, but node by node"},
	{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, false, GP_TRACE_SYNC, "synchronisation"},
	{CUPTI_ACTIVITY_KIND_CUDA_EVENT, false, GP_TRACE_EVENT, "events"},
	{CUPTI_ACTIVITY_KIND_JIT, false, GP_TRACE_MODULE, "compilation"},
	{CUPTI_ACTIVITY_KIND_MEMORY_POOL, false, GP_TRACE_MEMORY, "memory pools"},
	{CUPTI_ACTIVITY_KIND_OVERHEAD, true, GP_TRACE_OVERHEAD | GP_TRACE_MODULE, "overhead"},
};

void gp_recording_init(const struct gp_cupti *cupti, CUpti_SubscriberHandle subscriber)
{
	recording.cupti = cupti;
	recording.subscriber = subscriber;
	recording.trace = gp_trace_list();
	if (strcmp(gp_option_text(GP_OPTION_ID_GRAPHS), "graph") == 0 &&
	    (recording.trace & GP_TRACE_GPU) != 0)
		recording.trace |= WHOLE_GRAPHS;
}

/* ---- records ---- */

static bool is_asked_for(size_t row)
{
	return (kinds[row].trace & recording.trace) != 0 && (recording.refused & (1u << row)) == 0;
}

/* Once for each kind: it is not tried again. */
static void note_refused(size_t row, CUptiResult result)
{
	const char *text = NULL;

	recording.cupti->cuptiGetResultString(result, &text);
	recording.refused |= 1u << row;
	gp_say("CUPTI does not record %s here (%s); the rest is recorded", kinds[row].what,
	       text != NULL ? text : "unknown error");
}

static CUptiResult enable_kinds(void)
{
	for (size_t i = 0; i < COUNT(kinds); i++) {
		CUptiResult result = CUPTI_SUCCESS;

		if (is_asked_for(i))
			result = recording.cupti->cuptiActivityEnable(kinds[i].kind);
		if (result != CUPTI_SUCCESS && kinds[i].vital)
			return result;
		if (result != CUPTI_SUCCESS)
			note_refused(i, result);
	}
	return CUPTI_SUCCESS;
}

static void disable_kinds(void)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (is_asked_for(i))
			recording.cupti->cuptiActivityDisable(kinds[i].kind);
}

/* ---- callbacks ---- */

static CUptiResult set_callback(bool on, CUpti_CallbackDomain domain, uint32_t cbid)
{
	return recording.cupti->cuptiEnableCallback(on, recording.subscriber, domain, cbid);
}

/* With which words each class of calls is recorded; calls about memory pools and the like are among CONTROL. */
static const uint32_t trace_of_class[GP_API_CLASSES] = {
	[GP_API_LAUNCH] = GP_TRACE_GPU,      [GP_API_GRAPH_LAUNCH] = GP_TRACE_GPU,
	[GP_API_COPY] = GP_TRACE_GPU,        [GP_API_SET] = GP_TRACE_GPU,
	[GP_API_ALLOC] = GP_TRACE_MEMORY,    [GP_API_FREE] = GP_TRACE_MEMORY,
	[GP_API_SYNC] = GP_TRACE_SYNC,       [GP_API_CAPTURE_BEGIN] = GP_TRACE_GPU,
	[GP_API_CAPTURE_END] = GP_TRACE_GPU, [GP_API_CONTROL] = GP_TRACE_GPU,
	[GP_API_EVENT] = GP_TRACE_EVENT,     [GP_API_MODULE] = GP_TRACE_MODULE,
	[GP_API_HOST] = GP_TRACE_GPU,
};

static uint32_t trace_of(const struct gp_api_entry *entry)
{
	return entry->memory_kind != 0 ? GP_TRACE_MEMORY : trace_of_class[entry->class];
}

static void set_curated_calls(bool on)
{
	uint32_t count;
	const struct gp_api_entry *entries = gp_api_table(&count);

	/* a number that this library does not know is an error that means nothing */
	for (uint32_t i = 0; i < count; i++)
		if ((trace_of(&entries[i]) & recording.trace) != 0)
			set_callback(on,
				     GP_API_IS_DRIVER(entries[i].api) ? CUPTI_CB_DOMAIN_DRIVER_API
								      : CUPTI_CB_DOMAIN_RUNTIME_API,
				     GP_API_CBID(entries[i].api));
}

static CUptiResult set_every_call(bool on)
{
	const struct gp_cupti *cupti = recording.cupti;
	CUptiResult result =
		cupti->cuptiEnableDomain(on, recording.subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);

	if (result == CUPTI_SUCCESS)
		result = cupti->cuptiEnableDomain(on, recording.subscriber,
						  CUPTI_CB_DOMAIN_DRIVER_API);
	return result;
}

static CUptiResult set_calls(bool on)
{
	/* fires inside a call that is being captured: the only sign that it will have no record */
	if (recording.trace & (GP_TRACE_GPU | GP_TRACE_MEMORY))
		set_callback(on, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
	if (recording.trace & GP_TRACE_API_ALL)
		return set_every_call(on);
	set_curated_calls(on);
	return CUPTI_SUCCESS;
}

/* ---- on and off ---- */

static CUptiResult apply(bool on)
{
	CUptiResult result = CUPTI_SUCCESS;

	if (on)
		result = enable_kinds();
	else
		disable_kinds();
	return result == CUPTI_SUCCESS ? set_calls(on) : result;
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
	return result;
}

/*
 * A thread that finds another at work leaves its wish; whoever is at work looks for one after it has finished.  The two
 * look crosswise, so all four accesses are sequentially consistent.
 */
CUptiResult gp_recording_switch(bool on)
{
	CUptiResult result = CUPTI_SUCCESS;

	gp_swap32(&recording.wanted, on);
	while (gp_replace32(&recording.switching, 0, 1)) {
		uint32_t wanted = gp_load32(&recording.wanted);

		if (wanted != recording.applied)
			result = apply(wanted);
		recording.applied = wanted;
		gp_swap32(&recording.switching, 0);
		if (gp_replace32(&recording.wanted, wanted, wanted))
			break;
	}
	return result;
}

void gp_recording_end(void)
{
	disable_kinds();
	for (size_t i = 0; i < COUNT(definitions); i++)
		recording.cupti->cuptiActivityDisable(definitions[i]);
}
