/* client_kinds: the records of a client, selected by the times at which it enabled their kinds. */

#include "inject/client_kinds.h"
#include "tests/unit.h"

#define KERNEL   CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
#define OVERHEAD CUPTI_ACTIVITY_KIND_OVERHEAD
#define RUNTIME  CUPTI_ACTIVITY_KIND_RUNTIME

static bool wants_kernel(uint32_t call, uint64_t start_ns)
{
	CUpti_ActivityKernel8 record = {
		.kind = KERNEL, .correlationId = call, .start = start_ns, .end = start_ns + 1};

	return gp_client_kinds_wants((const CUpti_Activity *)&record, sizeof(record));
}

static bool wants_overhead(uint64_t start_ns)
{
	CUpti_ActivityOverhead record = {.kind = OVERHEAD, .start = start_ns, .end = start_ns + 1};

	return gp_client_kinds_wants((const CUpti_Activity *)&record, sizeof(record));
}

static bool wants_call(void)
{
	CUpti_ActivityAPI record = {.kind = RUNTIME, .start = 1, .end = 2};

	return gp_client_kinds_wants((const CUpti_Activity *)&record, sizeof(record));
}

static int init(void **state)
{
	gp_client_kinds_init(true);
	gp_client_kinds_set_ours(KERNEL, true);
	gp_client_kinds_set_ours(OVERHEAD, true);
	return 0;
}

static void without_enabled_kinds_no_record_is_the_clients(void **state)
{
	assert_false(wants_kernel(1, 100));
	assert_false(wants_overhead(100));
	assert_false(wants_call());
	assert_false(gp_client_kinds_is_client_only(RUNTIME));
	assert_false(gp_client_kinds_wants_any());
}

/* No call was seen before: the first call determines the boundary. */
static void operations_belong_to_their_calls(void **state)
{
	gp_client_kinds_enable(KERNEL, 1000);
	assert_true(gp_client_kinds_wants_ours());
	assert_false(wants_kernel(100, 2000)); /* no call has begun since */
	gp_client_kinds_note_call(100);
	gp_client_kinds_note_call(105);
	assert_false(wants_kernel(99, 5000)); /* the call was before, the execution after */
	assert_true(wants_kernel(100, 5000));
	gp_client_kinds_note_call(109);
	gp_client_kinds_note_call(107);
	gp_client_kinds_disable(KERNEL, 3000);
	assert_true(wants_kernel(109, 9000));
	assert_false(wants_kernel(110, 2500));
	assert_false(gp_client_kinds_wants_any());
}

/* Two threads begin calls concurrently: the first one seen may have the higher id. */
static void the_first_seen_call_may_have_a_higher_id(void **state)
{
	gp_client_kinds_enable(KERNEL, 3500);
	gp_client_kinds_note_call(111);
	gp_client_kinds_note_call(110);
	gp_client_kinds_note_call(112);
	assert_true(wants_kernel(110, 1));
	gp_client_kinds_disable(KERNEL, 3600);
	gp_client_kinds_note_call(114);
	gp_client_kinds_note_call(113);
	assert_true(wants_kernel(112, 1));
	assert_false(wants_kernel(113, 1));
}

static void each_time_has_its_own(void **state)
{
	gp_client_kinds_note_call(199);
	gp_client_kinds_enable(KERNEL, 4000);
	gp_client_kinds_note_call(299);
	gp_client_kinds_disable(KERNEL, 5000);
	assert_true(wants_kernel(105, 1)); /* from the earlier window */
	assert_false(wants_kernel(150, 1));
	assert_true(wants_kernel(250, 1));
	assert_false(wants_kernel(300, 1));
}

static void an_empty_closed_period_excludes_nothing(void **state)
{
	gp_client_kinds_enable(KERNEL, 6000);
	gp_client_kinds_disable(KERNEL, 6001);
	assert_false(wants_kernel(399, 6000));
	assert_false(wants_kernel(400, 6000));
}

static void numbers_of_calls_wrap_around(void **state)
{
	gp_client_kinds_note_call(UINT32_MAX / 2);
	gp_client_kinds_note_call(UINT32_MAX - 2);
	gp_client_kinds_enable(KERNEL, 7000);
	gp_client_kinds_note_call(4);
	gp_client_kinds_disable(KERNEL, 7500);
	assert_true(wants_kernel(UINT32_MAX, 1));
	assert_true(wants_kernel(4, 1));
	assert_false(wants_kernel(5, 1));
}

static void host_records_belong_to_their_time(void **state)
{
	gp_client_kinds_enable(OVERHEAD, 1000);
	assert_false(wants_overhead(999));
	assert_true(wants_overhead(1000));
	gp_client_kinds_disable(OVERHEAD, 2000);
	assert_true(wants_overhead(2000));
	assert_false(wants_overhead(2001));
	gp_client_kinds_note_call(6);
}

static void kinds_that_we_do_not_record_are_the_clients(void **state)
{
	gp_client_kinds_enable(RUNTIME, 1);
	gp_client_kinds_note_call(7);
	assert_true(gp_client_kinds_is_client_only(RUNTIME));
	assert_false(gp_client_kinds_is_client_only(KERNEL));
	assert_false(gp_client_kinds_wants_ours());
	assert_true(gp_client_kinds_wants_any());
	assert_true(wants_call());
	gp_client_kinds_disable(RUNTIME, 2);
	assert_true(wants_call()); /* the call was made before */
	gp_client_kinds_note_call(8);
}

/* A window that was opened long ago is still open after many boundaries. */
static void a_long_window_stays_open(void **state)
{
	gp_client_kinds_note_call(999);
	gp_client_kinds_enable(KERNEL, 10000);
	for (uint32_t i = 0; i < 3000; i++) {
		gp_client_kinds_enable(OVERHEAD, 10000 + i);
		gp_client_kinds_note_call(1000 + i);
		assert_true(wants_kernel(1000 + i, 1));
		gp_client_kinds_disable(OVERHEAD, 10000 + i);
	}
	gp_client_kinds_note_call(4999);
	gp_client_kinds_disable(KERNEL, 20000);
	assert_true(wants_kernel(4999, 1));
	assert_false(wants_kernel(5000, 1));
}

/* The slot of the sixteenth last window is reused for the next one. */
static void the_last_windows_are_remembered(void **state)
{
	for (uint32_t i = 0; i < 16; i++) {
		gp_client_kinds_note_call(6000 + 10 * i);
		gp_client_kinds_enable(KERNEL, 30000);
		gp_client_kinds_note_call(6001 + 10 * i);
		gp_client_kinds_disable(KERNEL, 30001);
	}
	assert_false(wants_kernel(6001, 1));
	for (uint32_t i = 1; i < 16; i++)
		assert_true(wants_kernel(6001 + 10 * i, 1));
}

static void without_distinct_ids_times_decide(void **state)
{
	gp_client_kinds_init(false);
	gp_client_kinds_enable(KERNEL, 50000);
	gp_client_kinds_disable(KERNEL, 60000);
	assert_true(wants_kernel(1, 55000));
	assert_false(wants_kernel(1, 49999));
	assert_false(wants_kernel(1, 60001));
	gp_client_kinds_init(true);
}

static void unknown_kinds_belong_to_no_side(void **state)
{
	CUpti_Activity record = {.kind = (CUpti_ActivityKind)1000};

	gp_client_kinds_set_ours(record.kind, true);
	gp_client_kinds_enable(record.kind, 1);
	assert_false(gp_client_kinds_is_ours(record.kind));
	assert_false(gp_client_kinds_is_enabled(record.kind));
	assert_false(gp_client_kinds_wants(&record, sizeof(record)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_enabled_kinds_no_record_is_the_clients),
		cmocka_unit_test(operations_belong_to_their_calls),
		cmocka_unit_test(the_first_seen_call_may_have_a_higher_id),
		cmocka_unit_test(each_time_has_its_own),
		cmocka_unit_test(an_empty_closed_period_excludes_nothing),
		cmocka_unit_test(numbers_of_calls_wrap_around),
		cmocka_unit_test(host_records_belong_to_their_time),
		cmocka_unit_test(kinds_that_we_do_not_record_are_the_clients),
		cmocka_unit_test(a_long_window_stays_open),
		cmocka_unit_test(the_last_windows_are_remembered),
		cmocka_unit_test(without_distinct_ids_times_decide),
		cmocka_unit_test(unknown_kinds_belong_to_no_side),
	};

	return cmocka_run_group_tests(tests, init, NULL);
}
