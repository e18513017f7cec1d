#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/load/load_model.h"
#include "tests/unit.h"
#include "tests/report/at_time.h"
#include "tests/report/trace_builder.h"

#define THREAD 100

/* ---- facts and definitions ---- */

static void test_facts(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_string(&b, GP_STRING_INFO, GP_INFO_HOST, 0, "first");
	gp_builder_string(&b, GP_STRING_INFO, GP_INFO_HOST, 0, "node7");
	gp_builder_string(&b, GP_STRING_INFO, GP_INFO_NOTE, 0, "One thing.");
	gp_builder_string(&b, GP_STRING_INFO, GP_INFO_NOTE, 0, "Another.");
	gp_builder_string(&b, GP_STRING_INFO, 999, 0, "of a later version");
	gp_builder_string(&b, GP_STRING_API, 0x10000 + GP_TEST_SYNC, GP_API_ALLOC, "cuLater");
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
	assert_string_equal(gp_model_api(m, GP_TEST_SYNC).name, "cudaDeviceSynchronize");
	assert_int_equal(m->losses.unknown_records, 1); /* no API has such a number */
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

static void check_command(const char *command, size_t bytes, const char *expected)
{
	struct gp_record_string r = {
		.kind = GP_RECORD_STRING, .space = GP_STRING_INFO, .id = GP_INFO_COMMAND};
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	/* kind, mask: length, id, space; zigzag of each */
	gp_builder_raw(&b,
		       &(uint8_t[]){r.kind, 7, 2 * (uint8_t)bytes, 2 * (uint8_t)r.id,
				    2 * (uint8_t)r.space},
		       5);
	gp_builder_raw(&b, command, bytes);
	b.header.records++;
	m = gp_builder_finish(&b);
	assert_string_equal(m->info[GP_INFO_COMMAND], expected);
	gp_model_free(m);
}

static void test_command_line_can_be_typed_again(void **state)
{
#define CHECK(words, expected) check_command(words, sizeof(words), expected)
	CHECK("python\0-u\0sim.py", "python -u sim.py");
	CHECK("python3\0-c\0import train8", "python3 -c 'import train8'");
	CHECK("sim\0\0$x\0'\0''", "sim '' '$x' ''\\''' ''\\'''\\'''");
	CHECK("'''''", "''\\'''\\'''\\'''\\'''\\'''");
	CHECK("\0a", "'' a");
	CHECK("a\0\0\0", "a");
	CHECK("", "");
	check_command("a\0b", 3, "a b");
#undef CHECK
}

static void test_api_names(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_call(&b, GP_TEST_SET, 1, 10, 5);
	gp_builder_call(&b, 77, 2, 20, 5);
	gp_builder_call(&b, GP_API_DRIVER | 78, 3, 30, 5);
	m = gp_builder_finish(&b);
	assert_string_equal(gp_model_api(m, GP_TEST_SET).name, "cudaMemsetAsync");
	assert_int_equal(gp_model_api(m, GP_TEST_SET).class, GP_API_MEMSET);
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

	gp_builder_begin(&b, THREAD);
	gp_builder_call(&b, GP_TEST_LAUNCH, 1, 1000, 50);
	gp_builder_kernel(&b, 1, 1100, 1300);
	gp_builder_anchor(&b, 1000000000);
	gp_builder_add(&b, &(struct gp_record_usage){.kind = GP_RECORD_USAGE,
						     .ticks = GP_TEST_AT_TICK(2000),
						     .free_bytes = 5,
						     .total_bytes = 9});
	gp_builder_add(&b, &(struct gp_record_overhead){.kind = GP_RECORD_OVERHEAD,
							.start_ns = GP_TEST_CUPTI(1700),
							.end_ns = GP_TEST_CUPTI(1800)});
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
	assert_int_equal(m->overheads[1].start_ns, 1700); /* it came first */
	assert_int_equal(m->last_delivery_ns, 4000);
	assert_int_equal(m->end_ns, 1000000000);
	gp_model_free(m);
}

static void test_what_came_before_the_first_anchor_moves_the_base(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

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

/* ---- losses ---- */

static void test_references_to_nothing_are_counted(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

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
		cmocka_unit_test(test_command_line_can_be_typed_again),
		cmocka_unit_test(test_api_names),
		cmocka_unit_test(test_devices_contexts_streams),
		cmocka_unit_test(test_numbers_of_devices_are_bounded),
		cmocka_unit_test(test_times_count_from_the_first_anchor),
		cmocka_unit_test(test_what_came_before_the_first_anchor_moves_the_base),
		cmocka_unit_test(test_without_anchors_the_clocks_are_put_together),
		cmocka_unit_test(test_reversed_and_missing_times),
		cmocka_unit_test(test_references_to_nothing_are_counted),
		cmocka_unit_test(test_damage_is_reported),
		cmocka_unit_test(test_file_without_records),
		cmocka_unit_test(test_reading_can_be_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
