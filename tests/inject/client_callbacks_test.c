/* client_callbacks: one subscriber for gpuprof and for a client. */

#include "tests/unit.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>

#include "collector/atomic.h"
#include "collector/process_state.h"
#include "collector/sys.h"
#include "inject/client_callbacks.h"
#include "inject/client_calls.h"
#include "inject/client_kinds.h"
#include "tests/lib/sleeping.h"

#define RUNTIME  CUPTI_CB_DOMAIN_RUNTIME_API
#define DRIVER   CUPTI_CB_DOMAIN_DRIVER_API
#define RESOURCE CUPTI_CB_DOMAIN_RESOURCE

static bool on[8][600]; /* the callbacks enabled in CUPTI */
static uint32_t calls;  /* calls of the client's function */
static uint64_t seen;   /* correlationData at the end of a call */

static CUptiResult CUPTIAPI enable_callback(uint32_t enable, CUpti_SubscriberHandle subscriber,
					    CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	assert_null(subscriber);
	if (cbid >= 600)
		return CUPTI_ERROR_INVALID_PARAMETER;
	on[domain][cbid] = enable != 0;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI enable_domain(uint32_t enable, CUpti_SubscriberHandle subscriber,
					  CUpti_CallbackDomain domain)
{
	assert_null(subscriber);
	memset(on[domain], enable != 0, sizeof(on[domain]));
	return CUPTI_SUCCESS;
}

static void CUPTIAPI client(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			    const void *data)
{
	const CUpti_CallbackData *call = data;

	(void)cbid;
	assert_ptr_equal(user, &calls);
	calls++;
	if (domain == RESOURCE)
		return;
	if (call->callbackSite == CUPTI_API_ENTER)
		*call->correlationData += call->correlationId + 1;
	else
		seen = *call->correlationData;
}

static int init(void **state)
{
	static const struct gp_cupti cupti = {.cuptiEnableCallback = enable_callback,
					      .cuptiEnableDomain = enable_domain};

	gp_process_state.cupti = 1;
	gp_client_callbacks_init(&cupti, NULL);
	return 0;
}

static void a_callback_is_on_while_one_side_wants_it(void **state)
{
	assert_int_equal(gp_client_callbacks_enable(GP_SIDE_OURS, true, RUNTIME, 20), 0);
	assert_int_equal(gp_client_callbacks_enable(GP_SIDE_CLIENT, true, RUNTIME, 20), 0);
	assert_int_equal(gp_client_callbacks_enable(GP_SIDE_OURS, false, RUNTIME, 20), 0);
	assert_true(on[RUNTIME][20]);
	assert_false(gp_client_callbacks_is_enabled(GP_SIDE_OURS, RUNTIME, 20));
	assert_int_equal(gp_client_callbacks_enable(GP_SIDE_CLIENT, false, RUNTIME, 20), 0);
	assert_false(on[RUNTIME][20]);
}

static void a_refused_callback_is_not_enabled(void **state)
{
	assert_int_equal(gp_client_callbacks_enable(GP_SIDE_CLIENT, true, DRIVER, 0), 0);
	assert_false(on[DRIVER][0]); /* the invalid cbid is not passed on to CUPTI */
	assert_int_not_equal(gp_client_callbacks_enable(GP_SIDE_CLIENT, true, RUNTIME, 601), 0);
	assert_int_not_equal(gp_client_callbacks_enable(GP_SIDE_CLIENT, true, RUNTIME, 5000), 0);
	assert_int_not_equal(
		gp_client_callbacks_enable(GP_SIDE_CLIENT, true, (CUpti_CallbackDomain)9, 1), 0);
	assert_false(gp_client_callbacks_is_enabled(GP_SIDE_CLIENT, RUNTIME, 601));
	assert_false(gp_client_callbacks_is_enabled(GP_SIDE_CLIENT, RUNTIME, 5000));
}

static void disabling_a_domain_keeps_other_sides(void **state)
{
	gp_client_callbacks_enable(GP_SIDE_OURS, true, RUNTIME, 20);
	gp_client_callbacks_enable(GP_SIDE_NEXT, true, RUNTIME, 21);
	gp_client_callbacks_enable_domain(GP_SIDE_CLIENT, true, RUNTIME);
	assert_true(on[RUNTIME][3] && on[RUNTIME][20] && on[RUNTIME][21]);
	gp_client_callbacks_enable_domain(GP_SIDE_CLIENT, false, RUNTIME);
	assert_false(on[RUNTIME][3]);
	assert_true(on[RUNTIME][20] && on[RUNTIME][21]);
	gp_client_callbacks_enable(GP_SIDE_NEXT, false, RUNTIME, 21);
	gp_client_callbacks_enable_domain(GP_SIDE_OURS, false, RUNTIME);
	assert_false(on[RUNTIME][20]);
}

static void there_is_one_client(void **state)
{
	assert_int_equal(gp_process_state.cupti, 1);
	assert_true(gp_client_subscribe(client, &calls));
	assert_false(gp_client_subscribe(client, NULL));
	assert_int_equal(gp_process_state.cupti, 2);
}

static void call_back(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
		      CUpti_ApiCallbackSite site, uint32_t id, uint64_t *ours)
{
	CUpti_CallbackData data = {
		.callbackSite = site, .correlationId = id, .correlationData = ours};

	gp_client_callback(domain, cbid, &data);
}

static void each_side_has_its_own_data(void **state)
{
	uint64_t outer = 5, inner = 6;

	gp_client_callbacks_enable(GP_SIDE_CLIENT, true, RUNTIME, 20);
	gp_client_callbacks_enable(GP_SIDE_CLIENT, true, DRIVER, 30);
	call_back(RUNTIME, 20, CUPTI_API_ENTER, 100, &outer);
	call_back(DRIVER, 30, CUPTI_API_ENTER, 200, &inner);
	/* a callback that the client has not enabled */
	call_back(DRIVER, 31, CUPTI_API_ENTER, 300, &inner);
	call_back(DRIVER, 30, CUPTI_API_EXIT, 200, &inner);
	assert_int_equal(seen, 201);
	call_back(RUNTIME, 20, CUPTI_API_EXIT, 100, &outer);
	assert_int_equal(seen, 101);
	assert_int_equal(outer, 5);
	assert_int_equal(inner, 6);
	assert_int_equal(calls, 4);
	call_back(RUNTIME, 20, CUPTI_API_EXIT, 101, &outer); /* enabled during the call */
	assert_int_equal(seen, 0);
	assert_int_equal(calls, 5);
}

static void resources_of_known_types_are_named(void **state)
{
	CUpti_ResourceData data = {.context = NULL};

	gp_client_callbacks_enable(GP_SIDE_CLIENT, true, RESOURCE,
				   CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	gp_client_callback(RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &data);
	gp_client_callback(RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED, &data);
	assert_int_equal(calls, 6);
}

static void an_unsubscribed_client_is_not_called(void **state)
{
	uint64_t ours = 1;

	gp_client_callbacks_enable(GP_SIDE_OURS, true, RUNTIME, 20);
	gp_client_unsubscribe(true);
	assert_true(on[RUNTIME][20]);
	assert_false(on[DRIVER][30]);
	assert_false(on[RESOURCE][CUPTI_CBID_RESOURCE_CONTEXT_CREATED]);
	call_back(RUNTIME, 20, CUPTI_API_ENTER, 1, &ours);
	assert_int_equal(calls, 6);
	assert_false(gp_client_has_subscriber());
	assert_true(gp_client_subscribe(client, &calls)); /* the second subscription */
	call_back(RUNTIME, 20, CUPTI_API_ENTER, 1, &ours);
	assert_int_equal(calls, 6); /* the client has enabled nothing */
}

/* ---- a callback that runs while the client unsubscribes ---- */

static long (*real_call)(long, long, long, long, long, long, long);
static uint32_t is_inside, may_return, sleeps;
static pthread_t caller;

static void CUPTIAPI lasting_client(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
				    const void *data)
{
	(void)user, (void)domain, (void)cbid, (void)data;
	gp_store32_release(&is_inside, 1);
	while (!gp_load32_acquire(&may_return))
		sched_yield();
}

static void *call_back_once(void *unused)
{
	gp_client_callback(RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, NULL);
	return unused;
}

/* While the unsubscribing thread waits, the callback returns. */
static long return_meanwhile(long number, long a, long b, long c, long d, long e, long f)
{
	if (is_sleep(number, a, b) && sleeps++ == 0) {
		gp_store32_release(&may_return, 1);
		pthread_join(caller, NULL);
	}
	return real_call(number, a, b, c, d, e, f);
}

static void unsubscribing_waits_for_the_clients_callback(void **state)
{
	gp_client_unsubscribe(true);
	assert_true(gp_client_subscribe(lasting_client, NULL));
	gp_client_callbacks_enable(GP_SIDE_CLIENT, true, RESOURCE,
				   CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	assert_int_equal(pthread_create(&caller, NULL, call_back_once, NULL), 0);
	while (!gp_load32_acquire(&is_inside))
		sched_yield();
	gp_client_unsubscribe(true);
	real_call = gp_sys.call;
	gp_sys.call = return_meanwhile;
	gp_client_calls_await();
	gp_sys.call = real_call;
	assert_int_equal(sleeps, 1);
}

static long count_sleeps(long number, long a, long b, long c, long d, long e, long f)
{
	sleeps += is_sleep(number, a, b);
	return real_call(number, a, b, c, d, e, f);
}

static void CUPTIAPI leaving_client(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
				    const void *data)
{
	(void)user, (void)domain, (void)cbid, (void)data;
	gp_client_unsubscribe(true);
	gp_client_calls_await();
}

static void a_callback_that_unsubscribes_does_not_wait_for_itself(void **state)
{
	assert_true(gp_client_subscribe(leaving_client, NULL));
	gp_client_callbacks_enable(GP_SIDE_CLIENT, true, RESOURCE,
				   CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	sleeps = 0;
	gp_sys.call = count_sleeps;
	call_back_once(NULL);
	gp_sys.call = real_call;
	assert_int_equal(sleeps, 0);
	assert_false(gp_client_has_subscriber());
}

/* ---- a client that leaves ---- */

static bool wants_kernel_of(uint32_t call)
{
	CUpti_ActivityKernel8 record = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
					.correlationId = call};

	return gp_client_kinds_wants((const CUpti_Activity *)&record, sizeof(record));
}

static void calls_run_as_before_after_the_client(void **state)
{
	gp_client_kinds_init(true);
	gp_client_kinds_set_ours(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, true);
	assert_true(gp_client_subscribe(client, &calls));
	assert_false(gp_client_is_over());
	gp_client_kinds_note_call(10);
	gp_client_kinds_enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1);
	gp_client_kinds_note_call(11);
	gp_client_unsubscribe(true);
	assert_false(gp_client_is_over());
	gp_client_kinds_disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 2);
	assert_true(gp_client_is_over());
	gp_client_end();
	assert_int_equal(gp_process_state.cupti, 1);
	assert_false(gp_client_is_over());
	assert_true(wants_kernel_of(11)); /* its record arrives late */
}

/* The calls in between were not seen. */
static void a_returning_client_gets_later_calls(void **state)
{
	gp_client_begin();
	assert_int_equal(gp_process_state.cupti, 2);
	gp_client_kinds_enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 3);
	gp_client_kinds_note_call(50);
	assert_false(wants_kernel_of(49));
	assert_true(wants_kernel_of(50));
	gp_client_kinds_disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 4);
	assert_true(gp_client_is_over());
}

static void a_forked_child_has_no_client(void **state)
{
	gp_process_state.cupti = 0;
	gp_client_begin();
	assert_false(gp_client_is_over());
	gp_client_end();
	assert_int_equal(gp_process_state.cupti, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_callback_is_on_while_one_side_wants_it),
		cmocka_unit_test(a_refused_callback_is_not_enabled),
		cmocka_unit_test(disabling_a_domain_keeps_other_sides),
		cmocka_unit_test(there_is_one_client),
		cmocka_unit_test(each_side_has_its_own_data),
		cmocka_unit_test(resources_of_known_types_are_named),
		cmocka_unit_test(an_unsubscribed_client_is_not_called),
		cmocka_unit_test(unsubscribing_waits_for_the_clients_callback),
		cmocka_unit_test(a_callback_that_unsubscribes_does_not_wait_for_itself),
		cmocka_unit_test(calls_run_as_before_after_the_client),
		cmocka_unit_test(a_returning_client_gets_later_calls),
		cmocka_unit_test(a_forked_child_has_no_client),
	};

	return cmocka_run_group_tests(tests, init, NULL);
}
