#include "inject/cupti_client.h"
#include "inject/cupti_api.h" /* must precede other headers that include CUPTI's */

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/atomic.h"
#include "collector/process_state.h"
#include "inject/cupti_library.h"
#include "inject/dlsym.h"
#include "inject/recording.h"
#include "inject/session.h"
#include "inject/client_buffers.h"
#include "inject/client_callbacks.h"
#include "inject/client_calls.h"
#include "inject/client_kinds.h"
#include "inject/client_symbols.h"
#include "inject/client_records.h"
#include "inject/client_clock.h"

static void (*start_session)(void);
static bool has_left; /* the client has unsubscribed; guarded by the hold */

void gp_cupti_client_init(void (*start)(void))
{
	start_session = start;
}

/* ---- CUPTI itself ---- */

/*
 * Resolves a name as the loader would for the caller: in the libraries that the caller's own file
 * needs.
 */
static void *resolve_for(const void *caller, const char *name)
{
	struct link_map *map = NULL;
	Dl_info information;

	if (dladdr1(caller, &information, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL)
		return NULL;
	return gp_client_symbols_look_up(map->l_name, name);
}

/* Not cached: two libraries of a program may have a libcupti each, and one may be unloaded. */
static void *find_bound(const char *name, const void *own, const void *caller)
{
	void *function = gp_dlsym(RTLD_NEXT, name);

	if (function == NULL)
		function = resolve_for(caller, name);
	(void)dlerror(); /* the program itself made no lookup */
	return function != own ? function : NULL;
}

/* A caller without a binding got our function by dlsym(). */
static void *find(const char *name, const void *own, const void *caller)
{
	void *function = find_bound(name, own, caller);

	return function != NULL ? function : gp_client_symbols_original(own);
}

/* The function of this name that the caller would have called without us, or NULL. */
#define REAL(name)                                                                                 \
	((__typeof__(&(name)))find(#name, (void *)(uintptr_t) & (name),                            \
				   __builtin_return_address(0)))

/* Return the result of CUPTI's own function of this name. */
#define PASS(name, ...)                                                                            \
	do {                                                                                       \
		__typeof__(&(name)) real_##name = REAL(name);                                      \
		return real_##name != NULL ? real_##name(__VA_ARGS__)                              \
					   : CUPTI_ERROR_NOT_INITIALIZED;                          \
	} while (0)

/* ---- whether there is a session to share ---- */

/*
 * Two copies of libcupti in a process do not know each other: our copy does not see the calls to
 * the client's copy.  Such a client is not served.
 */
static bool is_of_our_copy(const struct gp_cupti *cupti, const void *caller)
{
	/* not interposed */
	const void *function = find_bound("cuptiGetVersion", NULL, caller);

	return function != NULL ? function == *(void *const *)&cupti->cuptiGetVersion
				: !gp_client_symbols_use_other_copy(cupti);
}

/* A forked child: CUPTI delivers nothing here and must not be called. */
static bool is_child(void)
{
	return gp_load32(&gp_process_state.cupti) == 0;
}

/* A child does not call the loader, whose locks may be held for ever. */
static const struct gp_cupti *shared_with(const void *caller)
{
	const struct gp_cupti *cupti = start_session != NULL ? gp_session_shared() : NULL;

	return cupti != NULL && (is_child() || is_of_our_copy(cupti, caller)) ? cupti : NULL;
}

/* For functions that may be a client's first call, perhaps before cuInit. */
static const struct gp_cupti *shared_from_now_with(const void *caller)
{
	const struct gp_cupti *cupti;
	int saved_errno = errno;

	if (start_session != NULL && gp_session_shared() == NULL)
		start_session();
	cupti = shared_with(caller);
	errno = saved_errno;
	return cupti;
}

/* The session shared with the caller of the function; NULL: none. */
#define SHARED()          shared_with(__builtin_return_address(0))
#define SHARED_FROM_NOW() shared_from_now_with(__builtin_return_address(0))

/*
 * Lock the shared state for a change.  False: another thread holds it for too long, and nothing is
 * changed.  In a child no thread holds it.
 */
static bool hold(bool *held)
{
	*held = gp_recording_hold();
	return *held || is_child();
}

/* ---- subscription and callbacks ---- */

static CUptiResult subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
			     void *userdata)
{
	bool held, first;

	if (handle == NULL || callback == NULL)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!hold(&held))
		return CUPTI_ERROR_NOT_READY;
	first = gp_client_subscribe(callback, userdata);
	has_left = false;
	gp_recording_release(held);
	if (!first)
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	*handle = gp_session_subscriber();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
			   void *userdata)
{
	if (SHARED_FROM_NOW() == NULL)
		PASS(cuptiSubscribe, handle, callback, userdata);
	return subscribe(handle, callback, userdata);
}

/*
 * From 13.2 on, a byte behind the 13.0 structure asks for one of several subscriptions.  Such a
 * client then uses functions that take a subscription each, which ours does not support.
 */
static bool is_one_of_several(const CUpti_SubscriberParams *params)
{
	return params != NULL && params->structSize > CUpti_SubscriberParams_STRUCT_SIZE &&
	       ((const uint8_t *)params)[CUpti_SubscriberParams_STRUCT_SIZE] != 0;
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
			      void *userdata, CUpti_SubscriberParams *params)
{
	CUptiResult result;

	if (is_one_of_several(params) || SHARED_FROM_NOW() == NULL)
		PASS(cuptiSubscribe_v2, handle, callback, userdata, params);
	if (params != NULL && params->structSize < CUpti_SubscriberParams_STRUCT_SIZE)
		return CUPTI_ERROR_INVALID_PARAMETER;
	result = subscribe(handle, callback, userdata);
	if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && params != NULL &&
	    params->oldSubscriberName != NULL && params->oldSubscriberSize != 0)
		params->oldSubscriberName[0] = '\0';
	return result;
}

/* A handle other than the one we gave out is passed on to CUPTI. */
static bool is_ours(CUpti_SubscriberHandle handle)
{
	return is_child() || handle == gp_session_subscriber();
}

static bool is_clients(CUpti_SubscriberHandle handle)
{
	return handle == gp_session_subscriber() && gp_client_has_subscriber();
}

/*
 * While held: if the client has gone, calls run as before it came.  Until then, each callback is
 * assigned to its side.
 */
static void end_if_gone(void)
{
	if (!gp_client_is_over())
		return;
	gp_recording_watch_calls(false);
	gp_client_end();
}

static CUptiResult unsubscribe(void)
{
	bool held;

	if (!hold(&held))
		return CUPTI_ERROR_NOT_READY;
	gp_client_unsubscribe(!is_child());
	has_left = true;
	if (!is_child())
		end_if_gone();
	gp_recording_release(held);
	if (!is_child())
		gp_client_calls_await();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
	if (SHARED() == NULL || !is_ours(handle))
		PASS(cuptiUnsubscribe, handle);
	return is_clients(handle) ? unsubscribe() : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult enable_callback(bool on, CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	CUptiResult result;
	bool held;

	if (is_child())
		return CUPTI_SUCCESS;
	if (!hold(&held))
		return CUPTI_ERROR_NOT_READY;
	result = gp_client_callbacks_enable(GP_SIDE_CLIENT, on, domain, cbid);
	gp_recording_release(held);
	return result;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
				CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	if (SHARED() == NULL || !is_ours(handle))
		PASS(cuptiEnableCallback, enable, handle, domain, cbid);
	return is_clients(handle) ? enable_callback(enable != 0, domain, cbid)
				  : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult enable_domain(bool on, CUpti_CallbackDomain domain)
{
	CUptiResult result;
	bool held;

	if (is_child())
		return CUPTI_SUCCESS;
	if (!hold(&held))
		return CUPTI_ERROR_NOT_READY;
	result = gp_client_callbacks_enable_domain(GP_SIDE_CLIENT, on, domain);
	gp_recording_release(held);
	return result;
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle,
			      CUpti_CallbackDomain domain)
{
	if (SHARED() == NULL || !is_ours(handle))
		PASS(cuptiEnableDomain, enable, handle, domain);
	return is_clients(handle) ? enable_domain(enable != 0, domain)
				  : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle)
{
	CUptiResult result = CUPTI_SUCCESS;

	if (SHARED() == NULL || !is_ours(handle))
		PASS(cuptiEnableAllDomains, enable, handle);
	if (!is_clients(handle))
		return CUPTI_ERROR_INVALID_PARAMETER;
	/* later domains came with later versions */
	for (int domain = CUPTI_CB_DOMAIN_DRIVER_API; domain < CUPTI_CB_DOMAIN_SIZE; domain++)
		if (enable_domain(enable != 0, (CUpti_CallbackDomain)domain) != CUPTI_SUCCESS &&
		    domain <= CUPTI_CB_DOMAIN_NVTX)
			result = CUPTI_ERROR_UNKNOWN;
	return result;
}

CUptiResult cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle handle,
				  CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	if (SHARED() == NULL || !is_ours(handle))
		PASS(cuptiGetCallbackState, enable, handle, domain, cbid);
	if (enable == NULL || !is_clients(handle))
		return CUPTI_ERROR_INVALID_PARAMETER;
	*enable = gp_client_callbacks_is_enabled(GP_SIDE_CLIENT, domain, cbid);
	return CUPTI_SUCCESS;
}

/* ---- kinds of records ---- */

static bool take_graphs(void)
{
	bool held;

	if (!hold(&held))
		return false;
	gp_recording_take_graphs();
	gp_recording_release(held);
	return true;
}

/* inject/recording.c enables a kind of ours, unless it is already on. */
static bool note_enabled(CUpti_ActivityKind kind)
{
	bool held;

	if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE && !take_graphs())
		return false;
	if (gp_client_kinds_is_ours(kind))
		gp_recording_want_for_client(true);
	if (!hold(&held)) {
		gp_recording_want_for_client(gp_client_kinds_wants_ours());
		return false;
	}
	gp_client_begin();
	gp_recording_watch_calls(true);
	gp_client_clock_read();
	gp_client_kinds_enable(kind, gp_session_now_ns());
	gp_client_buffers_expect();
	gp_recording_release(held);
	return true;
}

static bool note_disabled(CUpti_ActivityKind kind)
{
	bool held, wants_ours;

	if (!hold(&held))
		return false;
	gp_client_kinds_disable(kind, gp_session_now_ns());
	wants_ours = gp_client_kinds_wants_ours();
	if (has_left)
		end_if_gone();
	gp_recording_release(held);
	if (!wants_ours)
		gp_recording_want_for_client(false);
	return true;
}

static CUptiResult enable(const struct gp_cupti *cupti, CUpti_ActivityKind kind)
{
	CUptiResult result = CUPTI_SUCCESS;

	if (is_child())
		return CUPTI_SUCCESS;
	if (!note_enabled(kind))
		return CUPTI_ERROR_NOT_READY;
	if (!gp_client_kinds_is_ours(kind))
		result = cupti->cuptiActivityEnable(kind);
	if (result != CUPTI_SUCCESS)
		note_disabled(kind);
	return result;
}

static CUptiResult disable(const struct gp_cupti *cupti, CUpti_ActivityKind kind)
{
	if (is_child())
		return CUPTI_SUCCESS;
	if (!note_disabled(kind))
		return CUPTI_ERROR_NOT_READY;
	return gp_client_kinds_is_ours(kind) ? CUPTI_SUCCESS : cupti->cuptiActivityDisable(kind);
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	const struct gp_cupti *cupti = SHARED_FROM_NOW();

	if (cupti == NULL)
		PASS(cuptiActivityEnable, kind);
	return enable(cupti, kind);
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	const struct gp_cupti *cupti = SHARED();

	if (cupti == NULL)
		PASS(cuptiActivityDisable, kind);
	return disable(cupti, kind);
}

/* For one context: we record all contexts, and the client gets all of them. */
CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind)
{
	const struct gp_cupti *cupti = SHARED_FROM_NOW();

	if (cupti == NULL)
		PASS(cuptiActivityEnableContext, context, kind);
	return context != NULL ? enable(cupti, kind) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind)
{
	const struct gp_cupti *cupti = SHARED();

	if (cupti == NULL)
		PASS(cuptiActivityDisableContext, context, kind);
	return context != NULL ? disable(cupti, kind) : CUPTI_ERROR_INVALID_PARAMETER;
}

/* CUPTI reports the existing objects again, also to us. */
CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind)
{
	const struct gp_cupti *cupti = SHARED_FROM_NOW();
	__typeof__(&cuptiActivityEnableAndDump) real;
	CUptiResult result = CUPTI_ERROR_NOT_INITIALIZED;

	if (cupti != NULL && is_child())
		return CUPTI_SUCCESS;
	real = REAL(cuptiActivityEnableAndDump);
	if (cupti != NULL && !note_enabled(kind))
		return CUPTI_ERROR_NOT_READY;
	if (real != NULL)
		result = real(kind);
	if (cupti != NULL && result != CUPTI_SUCCESS)
		note_disabled(kind);
	return result;
}

/* ---- buffers ---- */

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
					   CUpti_BuffersCallbackCompleteFunc complete)
{
	if (SHARED_FROM_NOW() == NULL)
		PASS(cuptiActivityRegisterCallbacks, request, complete);
	if (request == NULL || complete == NULL)
		return CUPTI_ERROR_INVALID_PARAMETER;
	gp_client_buffers_register(request, complete);
	return CUPTI_SUCCESS;
}

/*
 * Never forced: a record delivered before its end is delivered only once, and our copy would be
 * incomplete.
 */
static CUptiResult flush(const struct gp_cupti *cupti)
{
	if (is_child())
		return CUPTI_SUCCESS;
	/* twice: CUPTI's worker may still be busy when the first call returns */
	for (int i = 0; i < 2 && gp_client_records_is_served(); i++)
		cupti->cuptiActivityFlushAll(0);
	gp_client_records_request();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	const struct gp_cupti *cupti = SHARED();

	if (cupti == NULL)
		PASS(cuptiActivityFlushAll, flag);
	return flush(cupti);
}

CUptiResult cuptiActivityFlush(CUcontext context, uint32_t streamId, uint32_t flag)
{
	const struct gp_cupti *cupti = SHARED();

	if (cupti == NULL)
		PASS(cuptiActivityFlush, context, streamId, flag);
	return flush(cupti);
}

/* The fetching thread flushes often enough. */
CUptiResult cuptiActivityFlushPeriod(uint32_t time)
{
	if (SHARED_FROM_NOW() == NULL)
		PASS(cuptiActivityFlushPeriod, time);
	gp_client_records_set_periodic(time != 0);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t streamId, size_t *dropped)
{
	if (SHARED() == NULL)
		PASS(cuptiActivityGetNumDroppedRecords, context, streamId, dropped);
	if (dropped == NULL)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*dropped = gp_client_buffers_take_dropped();
	return CUPTI_SUCCESS;
}

static bool is_of_buffers(const struct gp_cupti *cupti, CUpti_ActivityAttribute attribute)
{
	return attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER ||
	       (attribute == GP_CUPTI_PER_THREAD_BUFFER &&
		gp_cupti_can(cupti->version, GP_CUPTI_BUFFERS_PER_THREAD));
}

/* Attributes of buffers would apply to ours. */
CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value)
{
	const struct gp_cupti *cupti = SHARED_FROM_NOW();

	if (cupti == NULL || (!is_child() && !is_of_buffers(cupti, attr)))
		PASS(cuptiActivitySetAttribute, attr, valueSize, value);
	return valueSize != NULL && value != NULL ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

/* ---- the rest ---- */

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc funcTimestamp)
{
	if (SHARED_FROM_NOW() == NULL)
		PASS(cuptiActivityRegisterTimestampCallback, funcTimestamp);
	if (funcTimestamp == NULL)
		return CUPTI_ERROR_INVALID_PARAMETER;
	return is_child() || gp_client_clock_set(funcTimestamp) ? CUPTI_SUCCESS
								: CUPTI_ERROR_NOT_READY;
}

/* The client gets its buffers back, and its functions are called no more. */
static void forget_client(void)
{
	gp_client_buffers_close();
	gp_client_records_request();
	gp_client_buffers_register(NULL, NULL);
	gp_client_records_set_periodic(false);
	gp_client_clock_set(NULL);
}

/* The client's end of CUPTI must not end ours. */
CUptiResult cuptiFinalize(void)
{
	const struct gp_cupti *cupti = SHARED();
	CUptiResult result;

	if (cupti == NULL)
		PASS(cuptiFinalize);
	for (uint32_t kind = 1; kind < GP_CLIENT_KINDS; kind++)
		if (gp_client_kinds_is_enabled((CUpti_ActivityKind)kind))
			disable(cupti, (CUpti_ActivityKind)kind);
	result = unsubscribe();
	if (!is_child())
		forget_client();
	return result;
}
