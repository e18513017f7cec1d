#include "inject/recording.h"

#include <stdint.h>
#include <string.h>

#include "collector/atomic.h"
#include "gpuprof/record.h"
#include "inject/api_table.h"
#include "inject/options.h"

static struct {
	const struct gp_cupti *cupti;
	CUpti_SubscriberHandle subscriber;
	uint32_t wanted;    /* 1 = on: what was asked for last */
	uint32_t applied;   /* what is in force; of the thread that is switching */
	uint32_t switching; /* a thread is at it */
} recording;

/* The kinds of records; inject/cupti_decode.c has a row for each. */
static const CUpti_ActivityKind definitions[] = {
	CUPTI_ACTIVITY_KIND_DEVICE,
	CUPTI_ACTIVITY_KIND_CONTEXT,
	CUPTI_ACTIVITY_KIND_STREAM,
};

static const CUpti_ActivityKind operations[] = {
	CUPTI_ACTIVITY_KIND_MEMCPY,   CUPTI_ACTIVITY_KIND_MEMCPY2,
	CUPTI_ACTIVITY_KIND_MEMSET,   CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	CUPTI_ACTIVITY_KIND_OVERHEAD,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void gp_recording_init(const struct gp_cupti *cupti, CUpti_SubscriberHandle subscriber)
{
	recording.cupti = cupti;
	recording.subscriber = subscriber;
}

static CUptiResult enable_kinds(const CUpti_ActivityKind *kinds, size_t count)
{
	CUptiResult result = CUPTI_SUCCESS;

	for (size_t i = 0; i < count && result == CUPTI_SUCCESS; i++)
		result = recording.cupti->cuptiActivityEnable(kinds[i]);
	return result;
}

static void disable_kinds(const CUpti_ActivityKind *kinds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		recording.cupti->cuptiActivityDisable(kinds[i]);
}

static CUptiResult set_callback(bool on, CUpti_CallbackDomain domain, uint32_t cbid)
{
	return recording.cupti->cuptiEnableCallback(on, recording.subscriber, domain, cbid);
}

static void set_curated_calls(bool on)
{
	uint32_t count;
	const struct gp_api_entry *entries = gp_api_table(&count);

	/* a number that this library does not know is an error that means nothing */
	for (uint32_t i = 0; i < count; i++)
		set_callback(on,
			     GP_API_IS_DRIVER(entries[i].api) ? CUPTI_CB_DOMAIN_DRIVER_API
							      : CUPTI_CB_DOMAIN_RUNTIME_API,
			     GP_API_CBID(entries[i].api));
}

static CUptiResult set_calls(bool on)
{
	const struct gp_cupti *cupti = recording.cupti;
	CUptiResult result;

	/* fires inside a call that is being captured: the only sign that it will have no record */
	set_callback(on, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
	if (strcmp(gp_option_text(GP_OPTION_ID_TRACE), "api-all") != 0) {
		set_curated_calls(on);
		return CUPTI_SUCCESS;
	}
	result = cupti->cuptiEnableDomain(on, recording.subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
	if (result == CUPTI_SUCCESS)
		result = cupti->cuptiEnableDomain(on, recording.subscriber,
						  CUPTI_CB_DOMAIN_DRIVER_API);
	return result;
}

static CUptiResult apply(bool on)
{
	CUptiResult result = CUPTI_SUCCESS;

	if (on)
		result = enable_kinds(operations, COUNT(operations));
	else
		disable_kinds(operations, COUNT(operations));
	return result == CUPTI_SUCCESS ? set_calls(on) : result;
}

CUptiResult gp_recording_begin(void)
{
	CUptiResult result = enable_kinds(definitions, COUNT(definitions));

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
	disable_kinds(operations, COUNT(operations));
	disable_kinds(definitions, COUNT(definitions));
}
