#include "inject/client_callbacks.h"

#include <stddef.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/process_state.h"
#include "inject/client_calls.h"
#include "inject/client_kinds.h"

#define DOMAINS 8u
#define CBIDS   2048u

/*
 * CUPTI's invalid cbid in every domain.  Proton enables and disables it; CUPTI 13.0 then also
 * disables calls of the domain that others have enabled (docs/design/cupti-notes.md, 10).
 */
#define NO_CALL 0u

static struct {
	const struct gp_cupti *cupti;
	CUpti_SubscriberHandle subscriber;
	uint64_t callback; /* CUpti_CallbackFunc of the client, NULL = no subscription */
	uint64_t user;
	uint64_t enabled[GP_SIDES][DOMAINS][CBIDS / 64];
} shared;

/*
 * The client's correlationData for the current call of this thread: for the runtime call, and for
 * the driver call inside it.
 */
static __thread struct {
	uint64_t value[2];
	uint32_t correlation_id[2]; /* of the call */
} client_data;

void gp_client_begin(void)
{
	if (gp_load32(&gp_process_state.cupti) != 1)
		return;
	gp_client_kinds_forget_calls();
	gp_replace32(&gp_process_state.cupti, 1, 2);
}

bool gp_client_is_over(void)
{
	return gp_load32(&gp_process_state.cupti) == 2 && !gp_client_has_subscriber() &&
	       !gp_client_kinds_wants_any();
}

void gp_client_end(void)
{
	gp_replace32(&gp_process_state.cupti, 2, 1);
}

void gp_client_callbacks_init(const struct gp_cupti *cupti, CUpti_SubscriberHandle subscriber)
{
	memset(shared.enabled, 0, sizeof(shared.enabled));
	shared.cupti = cupti;
	shared.subscriber = subscriber;
}

static bool is_known(CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	return (uint32_t)domain < DOMAINS && cbid < CBIDS;
}

bool gp_client_callbacks_is_enabled(enum gp_callback_side side, CUpti_CallbackDomain domain,
				    CUpti_CallbackId cbid)
{
	return is_known(domain, cbid) &&
	       (gp_load64(&shared.enabled[side][domain][cbid / 64]) >> cbid % 64 & 1) != 0;
}

static void note(enum gp_callback_side side, bool on, CUpti_CallbackDomain domain,
		 CUpti_CallbackId cbid)
{
	uint64_t *word = &shared.enabled[side][domain][cbid / 64];
	uint64_t bit = (uint64_t)1 << cbid % 64;

	gp_store64(word, on ? gp_load64(word) | bit : gp_load64(word) & ~bit);
}

static bool another_has(enum gp_callback_side side, CUpti_CallbackDomain domain,
			CUpti_CallbackId cbid)
{
	for (uint32_t other = 0; other < GP_SIDES; other++)
		if (other != side &&
		    gp_client_callbacks_is_enabled((enum gp_callback_side)other, domain, cbid))
			return true;
	return false;
}

CUptiResult gp_client_callbacks_enable(enum gp_callback_side side, bool on,
				       CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	CUptiResult result = CUPTI_SUCCESS;

	if (!is_known(domain, cbid))
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (cbid == NO_CALL)
		return CUPTI_SUCCESS;
	if (!another_has(side, domain, cbid))
		result = shared.cupti->cuptiEnableCallback(on, shared.subscriber, domain, cbid);
	if (result == CUPTI_SUCCESS)
		note(side, on, domain, cbid);
	return result;
}

static bool has_any(enum gp_callback_side side, CUpti_CallbackDomain domain)
{
	for (uint32_t i = 0; i < CBIDS / 64; i++)
		if (gp_load64(&shared.enabled[side][domain][i]) != 0)
			return true;
	return false;
}

static bool another_has_any(enum gp_callback_side side, CUpti_CallbackDomain domain)
{
	for (uint32_t other = 0; other < GP_SIDES; other++)
		if (other != side && has_any((enum gp_callback_side)other, domain))
			return true;
	return false;
}

/* Disable, one by one, the callbacks that no other side wants. */
static void disable_own(enum gp_callback_side side, CUpti_CallbackDomain domain)
{
	for (uint32_t cbid = 1; cbid < CBIDS; cbid++)
		if (gp_client_callbacks_is_enabled(side, domain, cbid))
			gp_client_callbacks_enable(side, false, domain, cbid);
}

CUptiResult gp_client_callbacks_enable_domain(enum gp_callback_side side, bool on,
					      CUpti_CallbackDomain domain)
{
	CUptiResult result;

	if ((uint32_t)domain >= DOMAINS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!on && another_has_any(side, domain)) {
		disable_own(side, domain);
		return CUPTI_SUCCESS;
	}
	result = shared.cupti->cuptiEnableDomain(on, shared.subscriber, domain);
	for (uint32_t i = 0; result == CUPTI_SUCCESS && i < CBIDS / 64; i++)
		gp_store64(&shared.enabled[side][domain][i], on ? UINT64_MAX : 0);
	return result;
}

/* ---- the client ---- */

bool gp_client_has_subscriber(void)
{
	return gp_load64(&shared.callback) != 0;
}

bool gp_client_subscribe(CUpti_CallbackFunc callback, void *user)
{
	if (gp_client_has_subscriber())
		return false;
	gp_store64(&shared.user, (uintptr_t)user);
	/* pairs with the acquire in gp_client_callback(): user is set before */
	gp_store64_release(&shared.callback, (uintptr_t)callback);
	gp_client_begin();
	return true;
}

void gp_client_unsubscribe(bool disable)
{
	for (uint32_t domain = 0; disable && domain < DOMAINS; domain++)
		if (has_any(GP_SIDE_CLIENT, (CUpti_CallbackDomain)domain))
			gp_client_callbacks_enable_domain(GP_SIDE_CLIENT, false,
							  (CUpti_CallbackDomain)domain);
	gp_swap64(&shared.callback, 0);
}

static bool is_api(CUpti_CallbackDomain domain)
{
	return domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API;
}

static void call_client(CUpti_CallbackFunc callback, CUpti_CallbackDomain domain,
			CUpti_CallbackId cbid, const void *data)
{
	void *user = (void *)(uintptr_t)gp_load64(&shared.user);
	const CUpti_CallbackData *call = data;
	bool driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
	uint64_t ours;

	if (!is_api(domain)) {
		callback(user, domain, cbid, data);
		return;
	}
	/* the client may have missed the beginning of the call that ends here */
	if (call->callbackSite == CUPTI_API_ENTER ||
	    client_data.correlation_id[driver] != call->correlationId)
		client_data.value[driver] = 0;
	client_data.correlation_id[driver] = call->correlationId;
	ours = *call->correlationData;
	*call->correlationData = client_data.value[driver];
	callback(user, domain, cbid, data);
	client_data.value[driver] = *call->correlationData;
	*call->correlationData = ours;
}

void gp_client_callback(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
	CUpti_CallbackFunc callback;

	if (!gp_client_callbacks_is_enabled(GP_SIDE_CLIENT, domain, cbid))
		return;
	callback = (CUpti_CallbackFunc)(uintptr_t)gp_client_calls_enter(&shared.callback);
	if (callback != NULL)
		call_client(callback, domain, cbid, data);
	gp_client_calls_leave();
}
