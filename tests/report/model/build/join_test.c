/* Who started what, and in which thread. */
#include <stdlib.h>

#include "gpuprof/count.h"
#include "tests/unit.h"
#include "tests/report/at_time.h"
#include "tests/report/model_builder.h"
#include "tests/report/trace_builder.h"

#define THREAD 100

static void add_status(struct gp_builder *b, uint32_t correlation_id, uint64_t start_ns,
		       uint16_t status)
{
	gp_builder_add(b, &(struct gp_record_call){.kind = GP_RECORD_CALL,
						   .api = GP_TEST_LAUNCH,
						   .correlation_id = correlation_id,
						   .start_ticks = GP_TEST_AT_TICK(start_ns),
						   .duration_low_ticks = 5,
						   .status = status});
}

static void test_calls_and_operations_are_joined(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_call(&b, GP_TEST_LAUNCH, 1, 1000, 50);
	gp_builder_call(&b, GP_TEST_LAUNCH, 2, 2000, 50);
	gp_builder_call(&b, GP_TEST_SYNC, 3, 3000, 50);
	gp_builder_chunk(&b, 2, 50);
	gp_builder_kernel(&b, 2, 2100, 2200); /* as CUPTI delivers them: in any order */
	gp_builder_kernel(&b, 1, 1100, 1200);
	gp_builder_kernel(&b, 9, 5000, 5100);
	m = gp_builder_finish(&b);
	assert_ptr_equal(&m->calls[op_at(m, 1100)->call], call_at(m, 1000));
	assert_ptr_equal(&m->calls[op_at(m, 2100)->call], call_at(m, 2000));
	assert_ptr_equal(&m->ops[call_at(m, 1000)->first_op], op_at(m, 1100));
	assert_int_equal(call_at(m, 3000)->first_op, GP_NONE);
	assert_int_equal(op_at(m, 5000)->call, GP_NONE);
	assert_int_equal(m->losses.ops_without_call, 1);
	assert_int_equal(m->losses.launches_without_op, 0);
	assert_string_equal(gp_model_kernel_name(m, op_at(m, 1100)), "_Z6kernelPf");
	assert_int_equal(m->shapes[op_at(m, 1100)->shape].block[0], 256);
	gp_model_free(m);
}

/* Operations of one graph launch, over three streams, hang together in the order of their start. */
static void test_graph_launch_has_many_operations(void **state)
{
	static const uint32_t streams[] = {9, 7, 8, 7, 9, 8, 8, 7};
	struct gp_builder b;
	struct gp_model *m;
	uint32_t at, count = 0;
	uint64_t last_ns = 0;

	gp_builder_begin(&b, THREAD);
	gp_builder_call(&b, GP_TEST_GRAPH_LAUNCH, 5, 1000, 50);
	for (uint32_t i = 0; i < 8; i++)
		gp_builder_add(&b,
			       &(struct gp_record_kernel){.kind = GP_RECORD_KERNEL,
							  .correlation_id = 5,
							  .start_ns = GP_TEST_CUPTI(2000 + 10 * i),
							  .end_ns = GP_TEST_CUPTI(2005 + 10 * i),
							  .name_id = 1,
							  .shape_id = 1,
							  .stream_id = streams[i],
							  .graph_id = 3,
							  .graph_node_id = 40 + i});
	m = gp_builder_finish(&b);
	for (at = m->calls[0].first_op; at != GP_NONE; at = m->ops[at].next_op) {
		assert_true(m->ops[at].start_ns > last_ns);
		assert_int_equal(gp_model_detail(m, &m->ops[at])->graph_node_id, 40 + count);
		last_ns = m->ops[at].start_ns;
		count++;
	}
	assert_int_equal(count, 8);
	for (uint32_t i = 1; i < m->op_count; i++)
		assert_true(m->ops[i - 1].stream_id <= m->ops[i].stream_id);
	gp_model_free(m);
}

/* After 2^32 calls an id comes again: the latest call before the operation is meant. */
static void test_correlation_ids_come_again(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_call(&b, GP_TEST_LAUNCH, UINT32_MAX, 1000, 50);
	gp_builder_call(&b, GP_TEST_LAUNCH, 1, 2000, 50);
	gp_builder_call(&b, GP_TEST_LAUNCH, UINT32_MAX, 9000, 50);
	gp_builder_kernel(&b, UINT32_MAX, 1500, 1600);
	gp_builder_kernel(&b, 1, 2500, 2600);
	gp_builder_kernel(&b, UINT32_MAX, 9500, 9600);
	m = gp_builder_finish(&b);
	assert_ptr_equal(&m->calls[op_at(m, 1500)->call], call_at(m, 1000));
	assert_ptr_equal(&m->calls[op_at(m, 2500)->call], call_at(m, 2000));
	assert_ptr_equal(&m->calls[op_at(m, 9500)->call], call_at(m, 9000));
	gp_model_free(m);
}

static struct gp_model *load_of_version(const char *version, uint32_t second_launch)
{
	struct gp_builder b;

	gp_builder_begin(&b, THREAD);
	gp_builder_string(&b, GP_STRING_INFO, GP_INFO_CUPTI_VERSION, 0, version);
	gp_builder_call(&b, GP_TEST_COPY, 6, 500, 50);
	gp_builder_call(&b, GP_TEST_LAUNCH, 7, 1000, 50);
	gp_builder_call(&b, GP_TEST_LAUNCH, second_launch, 2000, 50);
	gp_builder_kernel(&b, 6, 550, 600);
	gp_builder_kernel(&b, 7, 2500, 2600);
	gp_builder_kernel(&b, second_launch, 2700, 2800);
	return gp_builder_finish(&b);
}

/* Of 11.8 under a newer driver: to join them by when they ran would be a guess. */
static void test_numbers_that_are_all_one_join_nothing(void **state)
{
	struct gp_model *m = load_of_version("18", 7);

	assert_ptr_equal(&m->calls[op_at(m, 550)->call], call_at(m, 500)); /* from before */
	assert_int_equal(op_at(m, 2500)->call, GP_NONE);
	assert_int_equal(op_at(m, 2700)->call, GP_NONE);
	assert_int_equal(m->losses.launches_unnumbered, 2);
	assert_int_equal(m->losses.launches_without_op + m->losses.ops_without_call, 0);
	gp_model_free(m);
	m = load_of_version("18", 8);
	assert_ptr_equal(&m->calls[op_at(m, 2700)->call], call_at(m, 2000));
	gp_model_free(m);
	m = load_of_version("20", 7);
	assert_int_equal(m->losses.launches_unnumbered, 0);
	gp_model_free(m);
}

/* The GPU's clock is a microsecond ahead: the kernel seems to begin before its call. */
static void test_clock_error_does_not_part_them(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_call(&b, GP_TEST_LAUNCH, 3, 2000, 50);
	gp_builder_kernel(&b, 3, 1000, 1100);
	m = gp_builder_finish(&b);
	assert_int_equal(op_at(m, 1000)->call, 0);
	gp_model_free(m);
}

static void test_launches_without_operation(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	add_status(&b, 1, 1000, 0);                    /* lost */
	add_status(&b, 2, 2000, 700);                  /* failed */
	add_status(&b, 3, 3000, GP_CALL_CAPTURED);     /* captured */
	add_status(&b, 4, 4000, GP_CALL_CAPTURED | 9); /* captured, and failed */
	add_status(&b, 5, 5000, 0);                    /* fine */
	gp_builder_kernel(&b, 5, 5100, 5200);
	gp_builder_call(&b, GP_TEST_GRAPH_LAUNCH, 6, 6000, 50); /* an empty graph */
	m = gp_builder_finish(&b);
	assert_int_equal(m->losses.launches_without_op, 1);
	assert_int_equal(m->losses.launches_failed, 1);
	assert_int_equal(m->losses.launches_captured, 2);
	assert_int_equal(call_at(m, 2000)->status, 700);
	assert_int_equal(call_at(m, 4000)->status, 9);
	assert_true(call_at(m, 3000)->captured);
	assert_false(call_at(m, 2000)->captured);
	gp_model_free(m);
}

/* CUPTI may have had nothing more to give. */
static void test_a_refused_flush_counts_where_records_are_missing(void **state)
{
	for (uint32_t missing = 0; missing < 2; missing++) {
		struct gp_builder b;
		struct gp_model *m;

		gp_builder_begin(&b, THREAD);
		gp_builder_call(&b, GP_TEST_LAUNCH, 1, 1000, 50);
		if (missing == 0)
			gp_builder_kernel(&b, 1, 1100, 1200);
		gp_builder_add(
			&b, &(struct gp_record_counter){.kind = GP_RECORD_COUNTER,
							.counter = GP_COUNTER_EXIT_FLUSHES_REFUSED,
							.value = 1});
		m = gp_builder_finish(&b);
		assert_int_equal(m->counters[GP_COUNTER_EXIT_FLUSHES_REFUSED], missing);
		gp_model_free(m);
	}
}

static void test_copies_and_sets(void **state)
{
	struct gp_builder b;
	const struct gp_op *op;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_add(&b, &(struct gp_record_copy){.kind = GP_RECORD_COPY,
						    .correlation_id = 1,
						    .start_ns = GP_TEST_CUPTI(100),
						    .end_ns = GP_TEST_CUPTI(200),
						    .bytes = 4096,
						    .copy_kind = 10,
						    .source_kind = 3,
						    .destination_kind = 2,
						    .flags = 1,
						    .device_id = 1,
						    .channel_id = 6,
						    .source_device_id = 1,
						    .destination_device_id = 2});
	gp_builder_add(&b, &(struct gp_record_memset){.kind = GP_RECORD_MEMSET,
						      .correlation_id = 2,
						      .start_ns = GP_TEST_CUPTI(300),
						      .end_ns = GP_TEST_CUPTI(400),
						      .bytes = 64,
						      .value = 0xab,
						      .memory_kind = 5});
	m = gp_builder_finish(&b);
	op = op_at(m, 100);
	assert_int_equal(op->kind, GP_OP_COPY);
	assert_int_equal(op->bytes, 4096);
	assert_int_equal(op->copy_kind, 10);
	assert_int_equal(op->source_kind, 3);
	assert_int_equal(op->destination_kind, 2);
	assert_int_equal(op->flags, 1);
	assert_int_equal(gp_model_detail(m, op)->channel_id, 6);
	assert_int_equal(gp_model_detail(m, op)->destination_device_id, 2);
	assert_int_equal(op->name, GP_NONE);
	op = op_at(m, 300);
	assert_int_equal(op->kind, GP_OP_SET);
	assert_int_equal(op->bytes, 64);
	assert_int_equal(op->destination_kind, 5);
	assert_int_equal(gp_model_detail(m, op)->set_value, 0xab);
	gp_model_free(m);
}

/* ---- threads ---- */

static void test_calls_are_in_order_of_thread_and_time(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_init(&b);
	gp_builder_start(&b);
	gp_builder_chunk(&b, 2, 300);
	gp_builder_call(&b, GP_TEST_SYNC, 1, 500, 10);
	gp_builder_chunk(&b, 1, THREAD);
	gp_builder_call(&b, GP_TEST_SYNC, 2, 900, 10);
	gp_builder_chunk(&b, 3, 300); /* the thread's second ring */
	gp_builder_call(&b, GP_TEST_SYNC, 3, 400, 10);
	m = gp_builder_finish(&b);
	assert_int_equal(m->call_count, 3);
	assert_int_equal(m->calls[0].thread_id, THREAD);
	assert_int_equal(m->calls[1].start_ns, 400);
	assert_int_equal(m->calls[2].start_ns, 500);
	gp_model_free(m);
}

static void test_shared_ring_names_the_thread_of_each_record(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_init(&b);
	gp_builder_start(&b);
	gp_builder_chunk(&b, 1, 0);
	for (uint32_t thread = 7; thread < 9; thread++) {
		gp_builder_add(&b,
			       &(struct gp_record_thread){.kind = GP_RECORD_THREAD, .id = thread});
		gp_builder_call(&b, GP_TEST_SYNC, thread, 100 * thread, 10);
	}
	gp_builder_call(&b, GP_TEST_SYNC, 1, 5000, 10);
	m = gp_builder_finish(&b);
	assert_int_equal(call_at(m, 700)->thread_id, 7);
	assert_int_equal(call_at(m, 800)->thread_id, 8);
	assert_int_equal(call_at(m, 5000)->thread_id, 0);
	gp_model_free(m);
}

/* A kernel may be missing only where recording was on from its launch's beginning to its end. */
static void launches_of_a_pause_are_outside(void **state)
{
	static const uint64_t missing_ns[] = {900, 2010, 2100},
			      outside_ns[] = {990, 1500, 1995, 2995};
	struct build b = build_begin(1);
	struct gp_model *model;

	(void)state;
	build_gate(&b, false, GP_GATE_API, 1000);
	build_gate(&b, true, GP_GATE_API, 2000);
	build_gate(&b, false, GP_GATE_API, 3000);
	for (uint32_t i = 0; i < COUNT(missing_ns); i++)
		build_call(&b, 1, BUILD_LAUNCH, missing_ns[i], 10, 1 + i);
	for (uint32_t i = 0; i < COUNT(outside_ns); i++)
		build_call(&b, 1, BUILD_LAUNCH, outside_ns[i], 10, 11 + i);
	model = build_end(&b);
	assert_int_equal(model->losses.launches_without_op, COUNT(missing_ns));
	assert_int_equal(model->losses.launches_outside, COUNT(outside_ns));
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_and_operations_are_joined),
		cmocka_unit_test(test_graph_launch_has_many_operations),
		cmocka_unit_test(test_correlation_ids_come_again),
		cmocka_unit_test(test_numbers_that_are_all_one_join_nothing),
		cmocka_unit_test(test_clock_error_does_not_part_them),
		cmocka_unit_test(test_launches_without_operation),
		cmocka_unit_test(launches_of_a_pause_are_outside),
		cmocka_unit_test(test_a_refused_flush_counts_where_records_are_missing),
		cmocka_unit_test(test_copies_and_sets),
		cmocka_unit_test(test_calls_are_in_order_of_thread_and_time),
		cmocka_unit_test(test_shared_ring_names_the_thread_of_each_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
