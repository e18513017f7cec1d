#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/report/trace_builder.h"

#define THREAD 100

/* The call that began at start_ns. */
static const struct gp_call *call_at(const struct gp_model *m, uint64_t start_ns)
{
	for (uint32_t i = 0; i < m->call_count; i++)
		if (m->calls[i].start_ns == start_ns)
			return &m->calls[i];
	fail_msg("no call at %lu", start_ns);
	return NULL;
}

static const struct gp_op *op_at(const struct gp_model *m, uint64_t start_ns)
{
	for (uint32_t i = 0; i < m->op_count; i++)
		if (m->ops[i].start_ns == start_ns)
			return &m->ops[i];
	fail_msg("no operation at %lu", start_ns);
	return NULL;
}

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

/* ---- facts and definitions ---- */

static void test_facts(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	(void)state;
	gp_builder_begin(&b, THREAD);
	gp_builder_string(&b, GP_STRING_INFO, GP_INFO_HOST, 0, "first");
	gp_builder_string(&b, GP_STRING_INFO, GP_INFO_HOST, 0, "node7");
	gp_builder_string(&b, GP_STRING_INFO, GP_INFO_NOTE, 0, "One thing.");
	gp_builder_string(&b, GP_STRING_INFO, GP_INFO_NOTE, 0, "Another.");
	gp_builder_string(&b, GP_STRING_INFO, 999, 0, "of a later version");
	gp_builder_string(&b, GP_STRING_THREAD, THREAD, 0, "loader");
	gp_builder_string(&b, GP_STRING_THREAD, THREAD, 0, "worker");
	gp_builder_string(&b, GP_STRING_THREAD, 300, 0, "idle");
	gp_builder_call(&b, GP_TEST_SYNC, 1, 10, 5);
	gp_builder_chunk(&b, 2, 200);
	gp_builder_call(&b, GP_TEST_SYNC, 2, 12, 5);
	gp_builder_end(&b, 100);
	m = gp_builder_finish(&b);
	assert_int_equal(m->pid, 4242);
	assert_string_equal(m->info[GP_INFO_PROGRAM], "app");
	assert_string_equal(m->info[GP_INFO_HOST], "node7");
	assert_null(m->info[GP_INFO_RANK]);
	assert_int_equal(m->note_count, 2);
	assert_string_equal(m->notes[0], "One thing.");
	assert_string_equal(m->notes[1], "Another.");
	assert_int_equal(m->thread_count, 3);
	assert_int_equal(m->threads[0].id, THREAD);
	assert_string_equal(m->threads[0].name, "worker");
	assert_int_equal(m->threads[1].id, 200);
	assert_string_equal(m->threads[1].name, "");
	assert_string_equal(m->threads[2].name, "idle");
	assert_true(m->losses.closed);
	assert_false(m->losses.live);
	assert_int_equal(m->end_ns, 100);
	gp_model_free(m);
}

/* The library says a thread's name at its end, too; what the program chose stands. */
static void test_names_that_the_program_gave(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	(void)state;
	gp_builder_begin(&b, THREAD);
	gp_builder_string(&b, GP_STRING_THREAD, 300, 0, "app");
	gp_builder_string(&b, GP_STRING_THREAD, 300, GP_NAME_GIVEN, "first");
	gp_builder_string(&b, GP_STRING_THREAD, 300, GP_NAME_GIVEN, "trainer");
	gp_builder_string(&b, GP_STRING_THREAD, 300, 0, "app-worker");
	gp_builder_string(&b, GP_STRING_DEVICE, 0, GP_NAME_GIVEN, "left");
	gp_builder_string(&b, GP_STRING_DEVICE, 0, 0, "H200");
	gp_builder_add(&b, &(struct gp_record_device){.kind = GP_RECORD_DEVICE});
	m = gp_builder_finish(&b);
	assert_int_equal(m->thread_count, 1);
	assert_string_equal(m->threads[0].name, "trainer");
	assert_string_equal(m->device_names[0], "H200 (left)");
	gp_model_free(m);
}

static void test_command_line_has_blanks_for_nuls(void **state)
{
	const char command[] = "python\0-u\0sim.py";
	struct gp_record_string r = {
		.kind = GP_RECORD_STRING, .space = GP_STRING_INFO, .id = GP_INFO_COMMAND};
	struct gp_builder b;
	struct gp_model *m;

	(void)state;
	gp_builder_begin(&b, THREAD);
	/* kind, mask: length, id, space; zigzag of each */
	gp_builder_raw(&b,
		       &(uint8_t[]){r.kind, 7, 2 * sizeof(command), 2 * (uint8_t)r.id,
				    2 * (uint8_t)r.space},
		       5);
	gp_builder_raw(&b, command, sizeof(command));
	b.header.records++;
	m = gp_builder_finish(&b);
	assert_string_equal(m->info[GP_INFO_COMMAND], "python -u sim.py");
	gp_model_free(m);
}

static void test_api_names(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	(void)state;
	gp_builder_begin(&b, THREAD);
	gp_builder_call(&b, GP_TEST_SET, 1, 10, 5);
	gp_builder_call(&b, 77, 2, 20, 5);
	gp_builder_call(&b, GP_API_DRIVER | 78, 3, 30, 5);
	m = gp_builder_finish(&b);
	assert_string_equal(gp_model_api(m, GP_TEST_SET).name, "cudaMemsetAsync");
	assert_int_equal(gp_model_api(m, GP_TEST_SET).class, GP_API_SET);
	assert_string_equal(gp_model_api(m, 77).name, "runtime cbid 77");
	assert_int_equal(gp_model_api(m, 77).class, GP_API_OTHER);
	assert_string_equal(gp_model_api(m, GP_API_DRIVER | 78).name, "driver cbid 78");
	assert_non_null(gp_model_api(m, 12345).name);
	gp_model_free(m);
}

static void test_devices_contexts_streams(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	(void)state;
	gp_builder_begin(&b, THREAD);
	gp_builder_string(&b, GP_STRING_DEVICE, 1, 0, "H200");
	for (uint16_t id = 2; id-- > 0;)
		gp_builder_add(&b, &(struct gp_record_device){.kind = GP_RECORD_DEVICE,
							      .device_id = id,
							      .multiprocessors = 100u + id});
	gp_builder_add(&b, &(struct gp_record_context){.kind = GP_RECORD_CONTEXT, .id = 4});
	gp_builder_add(&b, &(struct gp_record_context){
				   .kind = GP_RECORD_CONTEXT, .id = 4, .device_id = 1});
	gp_builder_add(&b, &(struct gp_record_context){
				   .kind = GP_RECORD_CONTEXT, .id = 5, .parent_id = 4});
	gp_builder_add(&b,
		       &(struct gp_record_stream){
			       .kind = GP_RECORD_STREAM, .id = 7, .context_id = 4, .priority = -3});
	m = gp_builder_finish(&b);
	assert_true(gp_model_context_is_green(m, 5));
	assert_false(gp_model_context_is_green(m, 4));
	assert_false(gp_model_context_is_green(m, 6));
	assert_int_equal(m->device_count, 2);
	assert_int_equal(gp_model_device(m, 1)->multiprocessors, 101);
	assert_null(gp_model_device(m, 2));
	assert_string_equal(m->device_names[0], "");
	assert_string_equal(m->device_names[1], "H200");
	assert_int_equal(m->context_count, 2); /* the later definition stands */
	assert_int_equal(m->contexts[0].device_id, 1);
	assert_int_equal(m->streams[0].priority, -3);
	gp_model_free(m);
}

/* Damage: no machine has so many devices, and each would cost rows and time. */
static void test_numbers_of_devices_are_bounded(void **state)
{
	const uint16_t damaged = GP_DEVICE_LIMIT;
	struct gp_builder b;
	struct gp_model *m;

	(void)state;
	gp_builder_begin(&b, THREAD);
	gp_builder_add(&b,
		       &(struct gp_record_device){.kind = GP_RECORD_DEVICE, .device_id = damaged});
	gp_builder_add(&b, &(struct gp_record_kernel){.kind = GP_RECORD_KERNEL,
						      .device_id = damaged,
						      .start_ns = GP_TEST_CUPTI(10),
						      .end_ns = GP_TEST_CUPTI(20)});
	gp_builder_add(&b,
		       &(struct gp_record_usage){.kind = GP_RECORD_USAGE, .device_id = UINT16_MAX});
	gp_builder_add(&b,
		       &(struct gp_record_pool){.kind = GP_RECORD_POOL, .device_id = UINT16_MAX});
	gp_builder_add(&b, &(struct gp_record_memory){.call = {.kind = GP_RECORD_MEMORY,
							       .api = GP_TEST_MALLOC,
							       .start_ticks = GP_TEST_AT_TICK(5)},
						      .address = 0xa000,
						      .bytes = 64,
						      .op = GP_MEMORY_ALLOC,
						      .memory_kind = GP_MEMORY_DEVICE,
						      .device_id = damaged});
	gp_builder_add(&b, &(struct gp_record_jit){.kind = GP_RECORD_JIT, /* may be of none */
						   .device_id = UINT16_MAX,
						   .start_ns = GP_TEST_CUPTI(10),
						   .end_ns = GP_TEST_CUPTI(20)});
	m = gp_builder_finish(&b);
	assert_int_equal(m->losses.unknown_records, 5);
	assert_int_equal(m->jit_count, 1);
	assert_int_equal(m->device_count + m->op_count + m->usage_count + m->pool_count, 0);
	assert_int_equal(m->memory_count, 0);
	assert_int_equal(m->call_count, 1);
	gp_model_free(m);
}

/* ---- times ---- */

static void test_times_count_from_the_first_anchor(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	(void)state;
	gp_builder_begin(&b, THREAD);
	gp_builder_call(&b, GP_TEST_LAUNCH, 1, 1000, 50);
	gp_builder_kernel(&b, 1, 1100, 1300);
	gp_builder_anchor(&b, 1000000000);
	gp_builder_add(&b, &(struct gp_record_usage){.kind = GP_RECORD_USAGE,
						     .ticks = GP_TEST_AT_TICK(2000),
						     .free_bytes = 5,
						     .total_bytes = 9});
	gp_builder_add(&b, &(struct gp_record_overhead){.kind = GP_RECORD_OVERHEAD,
							.overhead_kind = 3,
							.start_ns = GP_TEST_CUPTI(1500),
							.end_ns = GP_TEST_CUPTI(1600)});
	gp_builder_add(&b, &(struct gp_record_counter){.kind = GP_RECORD_COUNTER,
						       .counter = GP_COUNTER_LAST_DELIVERY_TICKS,
						       .value = GP_TEST_AT_TICK(4000)});
	gp_builder_add(&b, &(struct gp_record_counter){.kind = GP_RECORD_COUNTER,
						       .counter = GP_COUNTER_FIRST_TICKS,
						       .value = GP_TEST_TICKS - 2000000000});
	m = gp_builder_finish(&b);
	assert_int_equal(m->before_ns, 2000000000);
	assert_int_equal(m->base_unix_ns, GP_TEST_UNIX);
	assert_int_equal(m->calls[0].start_ns, 1000);
	assert_int_equal(m->calls[0].duration_ns, 50);
	assert_int_equal(m->ops[0].start_ns, 1100);
	assert_int_equal(m->ops[0].end_ns, 1300);
	assert_int_equal(m->first_ns, 1000);
	assert_int_equal(m->last_ns, 1300);
	assert_int_equal(m->usages[0].time_ns, 2000);
	assert_int_equal(m->overheads[0].start_ns, 1500);
	assert_int_equal(m->overheads[0].end_ns, 1600);
	assert_int_equal(m->last_delivery_ns, 4000);
	assert_int_equal(m->end_ns, 1000000000);
	gp_model_free(m);
}

static void test_what_came_before_the_first_anchor_moves_the_base(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	(void)state;
	gp_builder_init(&b);
	gp_builder_chunk(&b, 1, THREAD);
	gp_builder_call(&b, GP_TEST_SYNC, 1, 100, 10);
	gp_builder_anchor(&b, 500);
	gp_builder_anchor(&b, 1000000500);
	m = gp_builder_finish(&b);
	assert_int_equal(m->base_unix_ns, GP_TEST_UNIX + 100);
	assert_int_equal(m->calls[0].start_ns, 0);
	gp_model_free(m);
}

static void test_without_anchors_the_clocks_are_put_together(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	(void)state;
	gp_builder_init(&b);
	gp_builder_chunk(&b, 1, THREAD);
	gp_builder_call(&b, GP_TEST_LAUNCH, 1, 100, 10);
	gp_builder_kernel(&b, 1, 9000, 9500);
	m = gp_builder_finish(&b);
	assert_int_equal(m->calls[0].start_ns, 0);
	assert_int_equal(m->ops[0].start_ns, 0);
	assert_int_equal(m->ops[0].end_ns, 500);
	gp_model_free(m);
}

static void test_reversed_and_missing_times(void **state)
{
	struct gp_builder b;
	struct gp_record_kernel untimed = {.kind = GP_RECORD_KERNEL, .correlation_id = 2};
	struct gp_model *m;

	(void)state;
	gp_builder_begin(&b, THREAD);
	gp_builder_call(&b, GP_TEST_LAUNCH, 1, 1000, 50);
	gp_builder_call(&b, GP_TEST_LAUNCH, 2, 2000, 50);
	gp_builder_kernel(&b, 1, 1500, 1400);
	gp_builder_add(&b, &untimed);
	m = gp_builder_finish(&b);
	assert_int_equal(m->losses.ops_reversed, 1);
	assert_int_equal(m->losses.ops_untimed, 1);
	assert_int_equal(op_at(m, 1500)->end_ns, 1500);
	assert_true(op_at(m, 2000)->untimed);
	assert_int_equal(op_at(m, 2000)->end_ns, 2000);
	assert_int_equal(m->last_ns, 2050);
	assert_int_equal(m->losses.launches_without_op, 0);
	gp_model_free(m);
}

/* ---- who started what ---- */

static void test_calls_and_operations_are_joined(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	(void)state;
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

	(void)state;
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

	(void)state;
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

	(void)state;
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

	(void)state;
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

	(void)state;
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

static void test_copies_and_sets(void **state)
{
	struct gp_builder b;
	const struct gp_op *op;
	struct gp_model *m;

	(void)state;
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
	gp_builder_add(&b, &(struct gp_record_set){.kind = GP_RECORD_SET,
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

	(void)state;
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

	(void)state;
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

/* ---- memory ---- */

static void test_frees_find_their_allocations(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	(void)state;
	gp_builder_begin(&b, THREAD);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 100, 0xa000, 64);
	gp_builder_memory(&b, GP_MEMORY_PINNED, 200, 0xa000, 128); /* another family */
	gp_builder_memory(&b, GP_MEMORY_MANAGED, 300, 0xb000, 256);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 400, 0xa000, 0);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 500, 0xb000, 0);  /* cudaFree of managed memory */
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 600, 0xa000, 32); /* the address again */
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 700, 0xdead, 0);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 800, 0, 0); /* cudaFree(0) */
	m = gp_builder_finish(&b);
	assert_int_equal(m->memory_count, 8);
	assert_int_equal(m->memory[0].time_ns, 110);
	assert_int_equal(m->memory[0].other, 3);
	assert_int_equal(m->memory[3].other, 0);
	assert_int_equal(m->memory[3].bytes, 64);
	assert_int_equal(m->memory[1].other, GP_NONE);
	assert_int_equal(m->memory[2].other, 4);
	assert_int_equal(m->memory[4].bytes, 256);
	assert_int_equal(m->memory[4].memory_kind, GP_MEMORY_MANAGED);
	assert_int_equal(m->memory[5].other, GP_NONE);
	assert_int_equal(m->losses.frees_unknown, 1);
	for (uint32_t i = 0; i < m->memory_count; i++)
		assert_int_equal(m->calls[m->memory[i].call].memory, i);
	gp_model_free(m);
}

static void add_free(struct gp_builder *b, uint64_t start_ns, uint32_t duration_ns,
		     uint64_t address)
{
	gp_builder_add(b,
		       &(struct gp_record_memory){.call = {.kind = GP_RECORD_MEMORY,
							   .api = GP_TEST_FREE,
							   .start_ticks = GP_TEST_AT_TICK(start_ns),
							   .duration_low_ticks = duration_ns},
						  .address = address,
						  .op = GP_MEMORY_FREE,
						  .memory_kind = GP_MEMORY_DEVICE});
}

/* An address that another thread got while the call that freed it had not returned. */
static void test_address_reused_during_the_free(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	(void)state;
	gp_builder_begin(&b, THREAD);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 100, 0xa000, 64);
	gp_builder_chunk(&b, 2, 200);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 205, 0xa000, 32); /* returns at 215 */
	gp_builder_chunk(&b, 1, THREAD);
	add_free(&b, 200, 100, 0xa000);
	m = gp_builder_finish(&b);
	assert_int_equal(m->memory[0].bytes, 64);
	assert_int_equal(m->memory[0].other, 1);
	assert_int_equal(m->memory[1].time_ns, 214); /* so that the two are never there together */
	assert_int_equal(m->memory[2].time_ns, 215);
	assert_int_equal(m->memory[2].bytes, 32);
	assert_int_equal(m->memory[2].other, GP_NONE);
	gp_model_free(m);
}

/* The memory is there until the free has waited for the device. */
static void test_allocated_during_a_free(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	(void)state;
	gp_builder_begin(&b, THREAD);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 100, 0xa000, 64);
	gp_builder_chunk(&b, 2, 200);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 205, 0xb000, 32);
	gp_builder_chunk(&b, 1, THREAD);
	add_free(&b, 200, 100, 0xa000);
	m = gp_builder_finish(&b);
	assert_int_equal(m->memory[1].bytes, 32);
	assert_int_equal(m->memory[2].bytes, 64);
	assert_int_equal(m->memory[2].time_ns, 300);
	assert_int_equal(m->memory[0].other, 2);
	assert_int_equal(m->memory[2].other, 0);
	gp_model_free(m);
}

static void test_memory_calls_that_had_no_effect(void **state)
{
	static const struct {
		uint16_t status;
		uint8_t op;
		bool counts;
	} cases[] = {
		{0, GP_MEMORY_ALLOC, true},
		{2, GP_MEMORY_ALLOC, false},
		{GP_CALL_CAPTURED, GP_MEMORY_ALLOC, false},
		{4, GP_MEMORY_ALLOC, false},
		{4, GP_MEMORY_FREE, true}, /* after the end of CUDA */
		{1, GP_MEMORY_FREE, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_builder b;
		struct gp_model *m;

		gp_builder_begin(&b, THREAD);
		gp_builder_add(
			&b, &(struct gp_record_memory){.call = {.kind = GP_RECORD_MEMORY,
								.api = GP_TEST_MALLOC,
								.start_ticks = GP_TEST_AT_TICK(100),
								.status = cases[i].status},
						       .address = 0xa000,
						       .bytes = 10,
						       .op = cases[i].op,
						       .memory_kind = GP_MEMORY_DEVICE});
		m = gp_builder_finish(&b);
		assert_int_equal(m->call_count, 1);
		assert_int_equal(m->memory_count, cases[i].counts);
		assert_int_equal(m->calls[0].memory, cases[i].counts ? 0 : GP_NONE);
		gp_model_free(m);
	}
}

/*
 * Neither an allocation nor a free: whoever takes it for one of them follows an index that is none.  Things are gathered by the
 * kind of memory, which are few.
 */
static void test_memory_calls_that_are_neither(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	(void)state;
	gp_builder_begin(&b, THREAD);
	for (int i = 0; i < 2; i++)
		gp_builder_add(&b, &(struct gp_record_memory){
					   .call = {.kind = GP_RECORD_MEMORY,
						    .api = GP_TEST_MALLOC,
						    .start_ticks = GP_TEST_AT_TICK(100)},
					   .address = 0xa000,
					   .bytes = 10,
					   .op = i == 0 ? 99 : GP_MEMORY_ALLOC,
					   .memory_kind = i == 0 ? GP_MEMORY_DEVICE : 200});
	m = gp_builder_finish(&b);
	assert_int_equal(m->call_count, 2);
	assert_int_equal(m->memory_count, 0);
	assert_int_equal(m->losses.unknown_records, 2);
	gp_model_free(m);
}

static void end_context(struct gp_builder *b, uint32_t id, uint64_t ns)
{
	gp_builder_add(b, &(struct gp_record_context_end){.kind = GP_RECORD_CONTEXT_END,
							  .id = id,
							  .ticks = GP_TEST_AT_TICK(ns)});
}

static void test_a_context_takes_its_memory_along(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	(void)state;
	gp_builder_begin(&b, THREAD);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 100, 0xa000, 64);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 200, 0xb000, 32);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 300, 0xb000, 0);
	end_context(&b, 2, 350); /* another one */
	end_context(&b, 1, 400);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 500, 0xa000, 16);
	m = gp_builder_finish(&b);
	assert_int_equal(m->memory_count, 5);
	assert_int_equal(m->memory[0].other, 3);
	assert_int_equal(m->memory[3].op, GP_MEMORY_FREE);
	assert_int_equal(m->memory[3].call, GP_NONE);
	assert_int_equal(m->memory[3].time_ns, 400);
	assert_int_equal(m->memory[3].bytes, 64);
	assert_int_equal(m->memory[3].other, 0);
	assert_int_equal(m->memory[1].other, 2);
	assert_int_equal(m->memory[4].other, GP_NONE);
	assert_int_equal(m->calls[m->memory[4].call].memory, 4);
	gp_model_free(m);
}

/* ---- losses ---- */

static void test_references_to_nothing_are_counted(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	(void)state;
	gp_builder_begin(&b, THREAD);
	gp_builder_add(&b, &(struct gp_record_kernel){.kind = GP_RECORD_KERNEL,
						      .start_ns = GP_TEST_CUPTI(100),
						      .end_ns = GP_TEST_CUPTI(200),
						      .name_id = 55,
						      .shape_id = 1});
	gp_builder_add(&b, &(struct gp_record_counter){.kind = GP_RECORD_COUNTER,
						       .counter = GP_COUNTERS + 3});
	gp_builder_string(&b, (enum gp_string_space)99, 1, 0, "a later version's");
	m = gp_builder_finish(&b);
	assert_int_equal(m->losses.unknown_records, 3);
	assert_int_equal(m->ops[0].name, GP_NONE);
	assert_string_equal(gp_model_kernel_name(m, &m->ops[0]), "(unknown kernel)");
	gp_model_free(m);
}

/* Each byte of a small trace flipped, and the file cut at each byte: what comes out never has more,
 * and says so. */
static void test_damage_is_reported(void **state)
{
	struct gp_builder b;
	size_t length;

	(void)state;
	gp_builder_begin(&b, THREAD);
	for (uint32_t i = 0; i < 5; i++) {
		gp_builder_call(&b, GP_TEST_LAUNCH, i, 1000 * i, 50);
		gp_builder_kernel(&b, i, 1000 * i + 100, 1000 * i + 200);
		gp_builder_memory(&b, GP_MEMORY_DEVICE, 1000 * i + 500, 0xa000, 64);
	}
	gp_builder_end(&b, 9000);
	gp_builder_seal(&b);
	length = b.length;
	for (size_t at = 0; at < 2 * length; at++) {
		struct gp_model *m = NULL;
		char message[512] = "";
		bool cut = at >= length;

		if (cut)
			b.length = at - length;
		else
			b.bytes[at] ^= 0x55;
		if (gp_model_load(gp_builder_save(&b), &m, message, sizeof(message)) != 0) {
			assert_true(strlen(message) > 0);
		} else {
			const struct gp_losses *l = &m->losses;

			assert_true(m->call_count == 10 || l->damaged_bytes > 0 || l->cut ||
				    !l->closed);
			assert_true(m->call_count == 10 || m->call_count == 0);
		}
		gp_model_free(m);
		b.length = length;
		if (!cut)
			b.bytes[at] ^= 0x55;
	}
	gp_builder_free(&b);
}

static void assert_message(struct gp_builder *b, int error, const char *why)
{
	struct gp_model *m = NULL;
	char message[512] = "";

	assert_int_equal(gp_model_load(gp_builder_save(b), &m, message, sizeof(message)), error);
	if (!strstr(message, why))
		fail_msg("\"%s\" does not say \"%s\"", message, why);
	assert_null(m);
	gp_builder_free(b);
}

static void test_file_without_records(void **state)
{
	struct gp_builder b;

	(void)state;
	gp_builder_init(&b);
	assert_message(&b, -ENODATA, "holds no readable records");
	gp_builder_init(&b);
	gp_builder_raw(&b, "0123456789abcdef0123456789abcdef", 32);
	assert_message(&b, -ENODATA, "holds no readable records");
}

static void count_up(void *context)
{
	++*(int *)context;
}

static void test_reading_can_be_watched(void **state)
{
	int signs = 0;
	const struct gp_load_options options = {
		.progress = count_up, .progress_context = &signs, .save_to = -1};
	struct gp_model *m = NULL;
	struct gp_builder b;
	char message[64];

	(void)state;
	gp_builder_begin(&b, THREAD);
	assert_int_equal(
		gp_model_load_with(gp_builder_save(&b), &options, &m, message, sizeof(message)), 0);
	assert_true(signs > 0);
	gp_model_free(m);
	gp_builder_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_names_that_the_program_gave),
		cmocka_unit_test(test_command_line_has_blanks_for_nuls),
		cmocka_unit_test(test_api_names),
		cmocka_unit_test(test_devices_contexts_streams),
		cmocka_unit_test(test_numbers_of_devices_are_bounded),
		cmocka_unit_test(test_times_count_from_the_first_anchor),
		cmocka_unit_test(test_what_came_before_the_first_anchor_moves_the_base),
		cmocka_unit_test(test_without_anchors_the_clocks_are_put_together),
		cmocka_unit_test(test_reversed_and_missing_times),
		cmocka_unit_test(test_calls_and_operations_are_joined),
		cmocka_unit_test(test_graph_launch_has_many_operations),
		cmocka_unit_test(test_correlation_ids_come_again),
		cmocka_unit_test(test_numbers_that_are_all_one_join_nothing),
		cmocka_unit_test(test_clock_error_does_not_part_them),
		cmocka_unit_test(test_launches_without_operation),
		cmocka_unit_test(test_copies_and_sets),
		cmocka_unit_test(test_calls_are_in_order_of_thread_and_time),
		cmocka_unit_test(test_shared_ring_names_the_thread_of_each_record),
		cmocka_unit_test(test_frees_find_their_allocations),
		cmocka_unit_test(test_address_reused_during_the_free),
		cmocka_unit_test(test_allocated_during_a_free),
		cmocka_unit_test(test_memory_calls_that_had_no_effect),
		cmocka_unit_test(test_memory_calls_that_are_neither),
		cmocka_unit_test(test_a_context_takes_its_memory_along),
		cmocka_unit_test(test_references_to_nothing_are_counted),
		cmocka_unit_test(test_damage_is_reported),
		cmocka_unit_test(test_file_without_records),
		cmocka_unit_test(test_reading_can_be_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
