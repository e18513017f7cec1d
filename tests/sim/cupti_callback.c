/* libcupti: the subscriber and its callbacks. */
#include "tests/sim/cupti_sim.h"

#include <string.h>

struct CUpti_Subscriber_st {
	CUpti_CallbackFunc callback;
	void *userdata;
};

static struct CUpti_Subscriber_st subscriber;
static _Atomic bool taken;
static _Atomic uint8_t resource_wanted[CUPTI_CBID_RESOURCE_SIZE];

static const char *const runtime_names[] = {
#include "sim_rt_names.inc"
};

static const char *const driver_names[] = {
#include "sim_drv_names.inc"
};

static void tell_api(struct sim_call *call, bool exit)
{
	CUcontext ctx = sim_current();
	CUpti_CallbackData data = {.callbackSite = exit ? CUPTI_API_EXIT : CUPTI_API_ENTER,
				   .functionName = call->name,
				   .functionParams = call->params,
				   .functionReturnValue = exit ? &call->result : NULL,
				   .symbolName = call->symbol,
				   .context = ctx,
				   .contextUid = ctx ? ctx->uid : 0,
				   .correlationData = &call->data,
				   .correlationId = call->correlation};

	if (taken)
		subscriber.callback(subscriber.userdata, (CUpti_CallbackDomain)call->domain,
				    call->cbid, &data);
}

static void record_resource(const struct sim_resource *r)
{
	if (r->event == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED)
		sim_record_devices();
	else if (r->event == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
		sim_record_context(r->ctx);
	else if (r->event == CUPTI_CBID_RESOURCE_STREAM_CREATED)
		sim_record_stream(r->stream);
	else if (r->event == CUPTI_CBID_RESOURCE_MODULE_LOADED)
		sim_pc_module(r->descriptor);
}

static void tell_resource(const struct sim_resource *r)
{
	CUpti_ResourceData data = {.context = r->ctx, .resourceDescriptor = r->descriptor};

	record_resource(r);
	data.resourceHandle.stream = r->stream;
	if (taken && resource_wanted[r->event])
		subscriber.callback(subscriber.userdata, CUPTI_CB_DOMAIN_RESOURCE, r->event, &data);
}

static void attach(void)
{
	sim_tools.api = tell_api;
	sim_tools.api_record = sim_record_api;
	sim_tools.operation = sim_record_operation;
	sim_tools.memory = sim_record_memory;
	sim_tools.sync = sim_record_sync;
	sim_tools.host_function = sim_record_host_function;
	sim_tools.event_record = sim_record_event;
	sim_tools.pool = sim_record_pool;
	sim_tools.overhead = sim_record_overhead;
	sim_tools.jit = sim_record_jit;
	sim_tools.unified = sim_record_unified;
	sim_tools.resource = tell_resource;
}

void sim_cupti_attach(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, attach);
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *userdata)
{
	bool was_free = false;

	if (!out)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (sim_config()->faults & SIM_FAULT_OLD_DRIVER)
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (sim_config()->faults & SIM_FAULT_MAY_NOT_SUBSCRIBE)
		return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
	if (sim_config()->faults & SIM_FAULT_SUBSCRIBER_TAKEN ||
	    !__atomic_compare_exchange_n((bool *)&taken, &was_free, true, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	subscriber.callback = callback;
	subscriber.userdata = userdata;
	sim_cupti_attach();
	*out = &subscriber;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback,
			      void *userdata, CUpti_SubscriberParams *params)
{
	CUptiResult r = cuptiSubscribe(out, callback, userdata);

	if (r == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && params &&
	    params->oldSubscriberName && params->oldSubscriberSize)
		strncpy(params->oldSubscriberName, "another profiler", params->oldSubscriberSize);
	return r;
}

/* The table of enabled ids of a domain; NULL: a domain without callbacks. */
static _Atomic uint8_t *table(CUpti_CallbackDomain domain, uint32_t *limit)
{
	*limit = sim_callback_limit(domain);
	switch (domain) {
	case CUPTI_CB_DOMAIN_DRIVER_API:
	case CUPTI_CB_DOMAIN_RUNTIME_API:
		return sim_tools.callback[domain];
	case CUPTI_CB_DOMAIN_RESOURCE:
		return resource_wanted;
	default:
		return NULL;
	}
}

static bool known_domain(CUpti_CallbackDomain domain)
{
	return domain > CUPTI_CB_DOMAIN_INVALID && domain < CUPTI_CB_DOMAIN_SIZE;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle s,
				CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	_Atomic uint8_t *wanted;
	uint32_t limit;

	if (s != &subscriber || !taken || !known_domain(domain))
		return CUPTI_ERROR_INVALID_PARAMETER;
	wanted = table(domain, &limit);
	if (!wanted)
		return CUPTI_SUCCESS;
	if (!cbid || cbid >= limit)
		return CUPTI_ERROR_INVALID_PARAMETER;
	wanted[cbid] = enable != 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle s,
			      CUpti_CallbackDomain domain)
{
	_Atomic uint8_t *wanted;
	uint32_t limit;

	if (s != &subscriber || !taken || !known_domain(domain))
		return CUPTI_ERROR_INVALID_PARAMETER;
	wanted = table(domain, &limit);
	for (uint32_t id = 1; wanted && id < limit; id++)
		wanted[id] = enable != 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle s)
{
	CUptiResult r = CUPTI_SUCCESS;

	for (int d = CUPTI_CB_DOMAIN_DRIVER_API; d <= CUPTI_CB_DOMAIN_RESOURCE && !r; d++)
		r = cuptiEnableDomain(enable, s, (CUpti_CallbackDomain)d);
	return r;
}

CUptiResult cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle s,
				  CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	_Atomic uint8_t *wanted;
	uint32_t limit;

	if (s != &subscriber || !taken || !known_domain(domain))
		return CUPTI_ERROR_INVALID_PARAMETER;
	wanted = table(domain, &limit);
	*enable = wanted && cbid < limit ? wanted[cbid] : 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle s)
{
	if (s != &subscriber || !taken)
		return CUPTI_ERROR_INVALID_PARAMETER;
	cuptiEnableAllDomains(0, s);
	taken = false;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
	const char *const *names = domain == CUPTI_CB_DOMAIN_RUNTIME_API  ? runtime_names
				   : domain == CUPTI_CB_DOMAIN_DRIVER_API ? driver_names
									  : NULL;

	if (!name || !names || !cbid || cbid >= sim_callback_limit(domain) || !names[cbid])
		return CUPTI_ERROR_INVALID_PARAMETER;
	*name = names[cbid];
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSupportedDomains(size_t *domainCount, CUpti_DomainTable *domainTable)
{
	static CUpti_CallbackDomain domains[] = {
		CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RESOURCE};

	*domainCount = sizeof(domains) / sizeof(domains[0]);
	*domainTable = domains;
	return CUPTI_SUCCESS;
}
