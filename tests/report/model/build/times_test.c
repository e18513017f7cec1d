#include <stdlib.h>

#include "gpuprof/count.h"
#include "tests/unit.h"
#include "tests/report/trace_builder.h"

#define THREAD 100
#define HOUR   UINT64_C(3600000000000)

static void gate(struct gp_builder *b, uint8_t reason, bool on, uint64_t at_ns)
{
	gp_builder_add(b, &(struct gp_record_gate){.kind = GP_RECORD_GATE,
						   .on = on,
						   .reason = reason,
						   .ticks = GP_TEST_AT_TICK(at_ns)});
}

/* ---- every kind with a time is on the timeline, in order ---- */

static void add_all(struct gp_builder *b, uint64_t ns)
{
	gp_builder_add(b, &(struct gp_record_sync){.kind = GP_RECORD_SYNC,
						   .sync_kind = 3,
						   .start_ns = GP_TEST_CUPTI(ns),
						   .end_ns = GP_TEST_CUPTI(ns + 9)});
	gp_builder_add(b, &(struct gp_record_event){.kind = GP_RECORD_EVENT,
						    .device_ns = GP_TEST_CUPTI(ns + 1)});
	gp_builder_add(b, &(struct gp_record_jit){.kind = GP_RECORD_JIT,
						  .start_ns = GP_TEST_CUPTI(ns + 2),
						  .end_ns = GP_TEST_CUPTI(ns + 4)});
	gp_builder_add(b, &(struct gp_record_pool){.kind = GP_RECORD_POOL,
						   .time_ns = GP_TEST_CUPTI(ns + 3)});
	gp_builder_add(b, &(struct gp_record_unified){.kind = GP_RECORD_UNIFIED,
						      .start_ns = GP_TEST_CUPTI(ns + 4)});
}

static void test_records_are_on_the_timeline(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_add(&b, &(struct gp_record_event){.kind = GP_RECORD_EVENT, .event_id = 5});
	add_all(&b, 500);
	add_all(&b, 100);
	m = gp_builder_finish(&b);
	assert_int_equal(m->sync_count, 2);
	assert_int_equal(m->syncs[0].start_ns, 100);
	assert_int_equal(m->syncs[0].end_ns, 109);
	assert_int_equal(m->syncs[0].zero, 0);
	assert_int_equal(m->syncs[1].start_ns, 500);
	assert_int_equal(m->event_count, 3);
	assert_int_equal(m->events[0].device_ns, 0);
	assert_int_equal(m->events[0].event_id, 5);
	assert_int_equal(m->events[1].device_ns, 101);
	assert_int_equal(m->jits[0].start_ns, 102);
	assert_int_equal(m->jits[0].end_ns, 104);
	assert_int_equal(m->pools[0].time_ns, 103);
	assert_int_equal(m->pools[1].time_ns, 503);
	assert_int_equal(m->unifieds[0].start_ns, 104);
	assert_int_equal(m->unifieds[0].end_ns, 104);
	assert_int_equal(m->losses.unknown_records, 0);
	gp_model_free(m);
}

/* What comes before the first anchor moves the base, and all else with it. */
static void test_the_base_moves_for_all(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_add(&b, &(struct gp_record_sync){.kind = GP_RECORD_SYNC,
						    .start_ns = GP_TEST_CUPTI(0) - 100,
						    .end_ns = GP_TEST_CUPTI(0) - 90});
	gp_builder_add(&b, &(struct gp_record_event){.kind = GP_RECORD_EVENT});
	gp_builder_call(&b, GP_TEST_SYNC, 1, 50, 5);
	gate(&b, GP_GATE_SIGNAL, false, 60);
	m = gp_builder_finish(&b);
	assert_int_equal(m->syncs[0].start_ns, 0);
	assert_int_equal(m->syncs[0].end_ns, 10);
	assert_int_equal(m->calls[0].start_ns, 150);
	assert_int_equal(m->gates[0].time_ns, 160);
	assert_int_equal(m->events[0].device_ns, 0);
	assert_int_equal(m->first_ns, 150);
	assert_int_equal(m->last_ns, 155);
	gp_model_free(m);
}

static void test_impossible_times_are_dropped_and_counted(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	add_all(&b, 0 - 2 * HOUR);
	add_all(&b, 100);
	add_all(&b, 2 * HOUR);
	gp_builder_call(&b, GP_TEST_LAUNCH, 1, 200, 5);
	gp_builder_kernel(&b, 1, 300, 2 * HOUR);
	m = gp_builder_finish(&b);
	assert_int_equal(m->sync_count, 1);
	assert_int_equal(m->event_count, 1);
	assert_int_equal(m->jit_count, 1);
	assert_int_equal(m->pool_count, 1);
	assert_int_equal(m->unified_count, 1);
	assert_int_equal(m->syncs[0].start_ns, 100);
	assert_int_equal(m->losses.unknown_records, 10);
	assert_true(m->ops[0].untimed);
	assert_int_equal(m->losses.ops_untimed, 1);
	assert_int_equal(m->last_ns, 205);
	gp_model_free(m);
}

static void add_wall_anchor(struct gp_builder *b, uint64_t ns, uint64_t set_by)
{
	gp_builder_add(b, &(struct gp_record_anchor){.kind = GP_RECORD_ANCHOR,
						     .ticks = GP_TEST_AT_TICK(ns),
						     .monotonic_ns = GP_TEST_MONOTONIC + ns,
						     .realtime_ns = GP_TEST_UNIX + ns + set_by,
						     .cupti_ns = GP_TEST_CUPTI(ns + set_by),
						     .cupti_ticks = GP_TEST_AT_TICK(ns)});
}

/* An operation of 5 s during which the clock was set forward by an hour. */
static void test_the_clock_is_set_while_something_runs(void **state)
{
	const uint64_t second = 1000000000;
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_call(&b, GP_TEST_LAUNCH, 1, second, 5);
	gp_builder_chunk(&b, 0, 0);
	add_wall_anchor(&b, 2 * second, 0);
	add_wall_anchor(&b, 3 * second, HOUR);
	add_wall_anchor(&b, 9 * second, HOUR);
	gp_builder_chunk(&b, 1, THREAD);
	gp_builder_kernel(&b, 1, second, 6 * second + HOUR);
	m = gp_builder_finish(&b);
	assert_int_equal(m->ops[0].start_ns, second);
	assert_int_equal(m->ops[0].end_ns, 6 * second);
	gp_model_free(m);
}

/* ---- recording on and off ---- */

static void test_gates(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gate(&b, GP_GATE_START, false, 10);
	gate(&b, GP_GATE_PROFILER, true, 100);
	gate(&b, GP_GATE_API, true, 150); /* it was on */
	gate(&b, GP_GATE_PROFILER, false, 200);
	gate(&b, GP_GATE_SIGNAL, true, 300);
	m = gp_builder_finish(&b);
	assert_int_equal(m->gate_count, 4);
	assert_int_equal(m->gates[2].time_ns, 200);
	assert_false(gp_model_records_at(m, 5));
	assert_false(gp_model_records_at(m, 99));
	assert_true(gp_model_records_at(m, 100));
	assert_true(gp_model_records_at(m, 199));
	assert_false(gp_model_records_at(m, 200));
	assert_true(gp_model_records_at(m, 1000));
	assert_true(gp_model_paused_before(m, 50));
	gp_model_free(m);
}

/* Those that begin or end while the gate is open. */
static void test_hardware_samples_of_a_pause(void **state)
{
	static const uint64_t starts_ns[] = {40, 95, 150, 199, 200, 299};
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gate(&b, GP_GATE_START, false, 10);
	gate(&b, GP_GATE_PROFILER, true, 100);
	gate(&b, GP_GATE_PROFILER, false, 200);
	gate(&b, GP_GATE_PROFILER, true, 320);
	for (size_t i = 0; i < COUNT(starts_ns); i++)
		gp_builder_add(&b, &(struct gp_record_hw_sample){
					   .kind = GP_RECORD_HW_SAMPLE,
					   .start_ns = GP_TEST_CUPTI(starts_ns[i]),
					   .end_ns = GP_TEST_CUPTI(starts_ns[i] + 10)});
	m = gp_builder_finish(&b);
	assert_int_equal(m->hw_sample_count, 3);
	assert_int_equal(m->hw_samples[0].start_ns, 95);
	assert_int_equal(m->hw_samples[1].start_ns, 150);
	assert_int_equal(m->hw_samples[2].start_ns, 199);
	gp_model_free(m);
}

static void test_recorded_from_the_beginning_until_a_gate(void **state)
{
	static const uint8_t reasons[] = {GP_GATE_START, GP_GATE_SIGNAL};

	for (int i = 0; i < 2; i++) {
		struct gp_builder b;
		struct gp_model *m;

		gp_builder_begin(&b, THREAD);
		if (reasons[i] == GP_GATE_START)
			gate(&b, GP_GATE_START, true, 10);
		gate(&b, GP_GATE_SIGNAL, false, 100);
		m = gp_builder_finish(&b);
		assert_int_equal(m->gate_count,
				 1); /* the one that was open from the start says nothing */
		assert_true(gp_model_records_at(m, 5));
		assert_true(gp_model_records_at(m, 50));
		assert_false(gp_model_paused_before(m, 50));
		assert_false(gp_model_records_at(m, 100));
		assert_true(gp_model_paused_before(m, 101));
		gp_model_free(m);
	}
}

/* What a pause explains is no loss. */
static void test_what_lies_outside(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_call(&b, GP_TEST_LAUNCH, 1, 10, 5); /* lost */
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 20, 0xd000, 0);
	gp_builder_kernel(&b, 77, 30, 40);
	gate(&b, GP_GATE_SIGNAL, false, 100);
	gp_builder_call(&b, GP_TEST_LAUNCH, 2, 150, 5);
	gate(&b, GP_GATE_SIGNAL, true, 200);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 220, 0xa000, 0);
	gp_builder_kernel(&b, 88, 230, 240);
	gp_builder_add(&b, &(struct gp_record_range){.kind = GP_RECORD_RANGE,
						     .op = GP_RANGE_POP,
						     .ticks = GP_TEST_AT_TICK(250)});
	gp_builder_call(&b, GP_TEST_LAUNCH, 3, 260, 5); /* lost */
	m = gp_builder_finish(&b);
	assert_int_equal(m->losses.launches_without_op, 2);
	assert_int_equal(m->losses.launches_outside, 1);
	assert_int_equal(m->losses.frees_unknown, 1);
	assert_int_equal(m->losses.frees_outside, 1);
	assert_int_equal(m->losses.ops_without_call, 1);
	assert_int_equal(m->losses.ops_outside, 1);
	assert_int_equal(m->losses.range_ends_unknown, 0);
	assert_int_equal(m->losses.range_ends_outside, 1);
	gp_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_are_on_the_timeline),
		cmocka_unit_test(test_the_base_moves_for_all),
		cmocka_unit_test(test_impossible_times_are_dropped_and_counted),
		cmocka_unit_test(test_the_clock_is_set_while_something_runs),
		cmocka_unit_test(test_gates),
		cmocka_unit_test(test_hardware_samples_of_a_pause),
		cmocka_unit_test(test_recorded_from_the_beginning_until_a_gate),
		cmocka_unit_test(test_what_lies_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
