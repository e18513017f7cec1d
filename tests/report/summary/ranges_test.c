/* The summary of what trace files say of ranges, code, and of records that are missing. */
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/summary/summary.h"
#include "tests/report/expect.h"
#include "tests/report/trace_builder.h"

/* The summary with its runs of spaces squeezed to one. */
static char *print(struct gp_builder *builders, size_t count)
{
	const struct gp_summary_options options = {.row_limit = 10};
	struct gp_model *models[4];
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	for (size_t i = 0; i < count; i++) {
		models[i] = gp_builder_load(&builders[i]);
		gp_builder_free(&builders[i]);
	}
	assert_int_equal(gp_summary_print(out, models, count, &options), 0);
	fclose(out);
	for (size_t i = 0; i < count; i++)
		gp_model_free(models[i]);
	squeeze(text, " ");
	return text;
}

static void launch(struct gp_builder *b, uint32_t id, uint64_t at_ns, uint64_t length_ns)
{
	gp_builder_call(b, GP_TEST_LAUNCH, id, at_ns, 5);
	gp_builder_kernel(b, id, at_ns + 100, at_ns + 100 + length_ns);
}

static void add_range(struct gp_builder *b, uint8_t op, uint32_t domain, uint32_t text,
		      uint64_t at_ns)
{
	gp_builder_add(b, &(struct gp_record_range){.kind = GP_RECORD_RANGE,
						    .op = op,
						    .domain_id = domain,
						    .text_id = text,
						    .ticks = GP_TEST_AT_TICK(at_ns)});
}

static void test_ranges_by_gpu_time(void **state)
{
	struct gp_builder b;
	char *text;

	gp_builder_begin(&b, 100);
	gp_builder_string(&b, GP_STRING_DOMAIN, 4, 0, "lib");
	gp_builder_string(&b, GP_STRING_RANGE, 1, 0, "step");
	gp_builder_string(&b, GP_STRING_RANGE, 2, 0, "load");
	for (uint32_t i = 0; i < 3; i++) {
		add_range(&b, GP_RANGE_PUSH, 0, 1, 1000 + 500 * i);
		launch(&b, i + 1, 1010 + 500 * i, 50);
		add_range(&b, GP_RANGE_POP, 0, 0, 1200 + 500 * i);
	}
	add_range(&b, GP_RANGE_MARK, 0, 2, 4000);
	add_range(&b, GP_RANGE_PUSH, 4, 2, 5000);
	add_range(&b, GP_RANGE_POP, 4, 0, 5500);
	text = print(&b, 1);
	expect(text,
	       "\nRanges: 4 (GPU time: sum of the operations started inside by its thread; for start/end ranges by any thread)\n");
	expect(text, " 150ns 3 3 - 600ns 200.0ns 200ns step\n");
	expect(text, " 0ns 0 1 - 500ns 500.0ns 500ns load (lib)\n");
	free(text);
}

/* Requests have numbers and come once each; those of a loop come often, and are told apart. */
static void test_ranges_that_differ_in_numbers_are_one_row(void **state)
{
	struct gp_builder b;
	char *text, name[16];

	gp_builder_begin(&b, 100);
	for (uint32_t i = 1; i <= 5; i++) {
		snprintf(name, sizeof(name), "request %u", 7 * i);
		gp_builder_string(&b, GP_STRING_RANGE, i, 0, name);
		snprintf(name, sizeof(name), "layer %u", i);
		gp_builder_string(&b, GP_STRING_RANGE, 10 + i, 0, name);
		add_range(&b, GP_RANGE_PUSH, 0, i, 1000 * i);
		launch(&b, i, 1000 * i + 10, 50);
		add_range(&b, GP_RANGE_POP, 0, 0, 1000 * i + (i == 4 ? 900 : 100 + 10 * i));
	}
	for (uint32_t i = 0; i < 15; i++) {
		add_range(&b, GP_RANGE_PUSH, 0, 11 + i % 5, 10000 + 100 * i);
		add_range(&b, GP_RANGE_POP, 0, 0, 10000 + 100 * i + 10);
	}
	text = print(&b, 1);
	expect(text, "\nRanges: 20 (");
	expect(text,
	       " 250ns 5 5 - 1.410us 282.0ns 900ns request * (median 130ns; longest: request 28)\n");
	expect(text, " 0ns 0 3 - 30ns 10.0ns 10ns layer 1\n");
	free(text);
}

/* They last to the end of all that is known: 5150. */
static void test_ranges_that_were_never_closed(void **state)
{
	struct gp_builder b;
	char *text;

	gp_builder_begin(&b, 100);
	gp_builder_string(&b, GP_STRING_RANGE, 1, 0, "step");
	gp_builder_string(&b, GP_STRING_RANGE, 2, 0, "open");
	add_range(&b, GP_RANGE_PUSH, 0, 1, 1000);
	add_range(&b, GP_RANGE_POP, 0, 0, 1200);
	add_range(&b, GP_RANGE_PUSH, 0, 1, 1300);
	add_range(&b, GP_RANGE_PUSH, 0, 2, 1400);
	launch(&b, 1, 5000, 50);
	text = print(&b, 1);
	expect(text, " 50ns 1 2 1 4.050us 2.025us 3.850us step\n");
	expect(text, " 50ns 1 1 1 3.750us 3.750us 3.750us open\n");
	free(text);
}

static void test_ranges_without_a_gpu(void **state)
{
	struct gp_builder both[2];
	char *text;

	gp_builder_begin(&both[0], 100);
	gp_builder_string(&both[0], GP_STRING_RANGE, 1, 0, "step");
	add_range(&both[0], GP_RANGE_PUSH, 0, 1, 1000);
	add_range(&both[0], GP_RANGE_POP, 0, 0, 1200);
	text = print(both, 1);
	expect(text, " made no CUDA call that was recorded; ranges and marks: 1\n\nRanges: 1 (");
	expect(text, " 0ns 0 1 - 200ns 200.0ns 200ns step\n");
	free(text);

	gp_builder_begin(&both[0], 100);
	add_range(&both[0], GP_RANGE_PUSH, 0, 1, 1000);
	gp_builder_begin(&both[1], 100);
	launch(&both[1], 1, 1000, 50);
	text = print(both, 2);
	expect(text, " made no CUDA call that was recorded; ranges and marks: 1\n");
	expect_not(text, "\nRanges");
	free(text);
}

static void test_no_ranges_no_section(void **state)
{
	struct gp_builder b;
	char *text;

	gp_builder_begin(&b, 100);
	launch(&b, 1, 1000, 50);
	text = print(&b, 1);
	expect_not(text, "Ranges");
	expect_not(text, "\nMore");
	free(text);
}

static void test_code_where_it_matters(void **state)
{
	struct gp_builder b;
	char *text;

	gp_builder_begin(&b, 100);
	gp_builder_call(&b, GP_TEST_SYNC, 1, 0, 5);
	gp_builder_call(&b, GP_TEST_SYNC, 2, 9990, 10);
	gp_builder_add(&b, &(struct gp_record_jit){.kind = GP_RECORD_JIT,
						   .start_ns = GP_TEST_CUPTI(100),
						   .end_ns = GP_TEST_CUPTI(1100),
						   .op_kind = 3});
	gp_builder_add(&b, &(struct gp_record_overhead){.kind = GP_RECORD_OVERHEAD,
							.overhead_kind = 5 << 16,
							.start_ns = GP_TEST_CUPTI(2000),
							.end_ns = GP_TEST_CUPTI(2300)});
	text = print(&b, 1);
	expect(text,
	       "\n module 1.000us compiling (1 x), 300ns loading modules and functions (1 x)\n");
	free(text);
}

static void add_sync(struct gp_builder *b, uint16_t kind, uint64_t start_ns, uint64_t end_ns)
{
	gp_builder_add(b, &(struct gp_record_sync){.kind = GP_RECORD_SYNC,
						   .sync_kind = kind,
						   .start_ns = GP_TEST_CUPTI(start_ns),
						   .end_ns = GP_TEST_CUPTI(end_ns)});
}

static void add_unified(struct gp_builder *b, uint16_t kind, uint64_t value)
{
	gp_builder_add(b, &(struct gp_record_unified){.kind = GP_RECORD_UNIFIED,
						      .counter_kind = kind,
						      .value = value,
						      .start_ns = GP_TEST_CUPTI(3000)});
}

static void test_a_line_on_each_kind(void **state)
{
	struct gp_builder b;
	char *text;

	gp_builder_begin(&b, 100);
	launch(&b, 1, 1000, 50);
	gp_builder_call(&b, GP_TEST_GRAPH_LAUNCH, 2, 1500, 5);
	for (uint32_t i = 0; i < 2; i++)
		gp_builder_add(&b, &(struct gp_record_kernel){.kind = GP_RECORD_KERNEL,
							      .correlation_id = 2,
							      .start_ns = GP_TEST_CUPTI(2000),
							      .end_ns = GP_TEST_CUPTI(2010),
							      .context_id = 1,
							      .stream_id = 8,
							      .graph_id = 4,
							      .graph_node_id = 7 + i});
	add_sync(&b, 3, 1000, 1600);
	add_sync(&b, 1, 1000, 1400);
	add_sync(&b, 2, 1000, 9000); /* the device waits, not the host */
	gp_builder_memory(&b, GP_MEMORY_ASYNC, 3000, 0xa000, 64);
	for (uint64_t i = 0; i < 3; i++)
		gp_builder_add(&b, &(struct gp_record_pool){.kind = GP_RECORD_POOL,
							    .address = 0x100 + i / 2,
							    .time_ns = GP_TEST_CUPTI(3000),
							    .reserved_bytes = 4096 - i});
	add_unified(&b, 1, 4096);
	add_unified(&b, 4, 3);
	text = print(&b, 1);
	expect(text, " stream operations in 2 streams of 1 context\n");
	expect(text,
	       " sync the host waited 1.000us (without copies), 1 x for an event, 1 x for a stream, 1 x by a stream for an event\n");
	expect(text, " graph 1 graph launch, 2 operations of 1 graph: 20ns\n");
	expect(text, " 2 memory pools, at most 4.000KiB reserved in one\n");
	expect(text, " unified 4.000KiB migrated to GPUs, 3 GPU page faults\n");
	free(text);
}

static void test_kernels_left_out_by_their_names(void **state)
{
	struct gp_builder b;
	char *text;

	gp_builder_begin(&b, 100);
	for (uint32_t i = 0; i < 3; i++)
		gp_builder_call(&b, GP_TEST_LAUNCH, i + 1, 1000 + 10 * i, 5);
	gp_builder_add(&b, &(struct gp_record_counter){.kind = GP_RECORD_COUNTER,
						       .counter = GP_COUNTER_LEFT_OUT_KERNELS,
						       .value = 5});
	gp_builder_add(&b, &(struct gp_record_counter){.kind = GP_RECORD_COUNTER,
						       .counter = GP_COUNTER_LEFT_OUT_LAUNCHES,
						       .value = 3});
	text = print(&b, 1);
	expect(text, "3 launches, 1 without kernel record, 2 left out by --kernels;");
	free(text);
}

/* A copy within the host has no record; those after all that were delivered are in flight. */
static void test_copies_in_flight_of_a_partial_trace(void **state)
{
	struct gp_builder b;
	char *text;

	gp_builder_begin(&b, 100);
	gp_builder_call(&b, GP_TEST_COPY, 1, 900, 5);
	launch(&b, 2, 1000, 50);
	gp_builder_call(&b, GP_TEST_COPY, 3, 1100, 5);
	gp_builder_call(&b, GP_TEST_SET, 4, 1200, 5);
	text = print(&b, 1);
	expect(text, "copies and memsets without GPU record: 2");
	free(text);
}

static void test_processes_that_differ(void **state)
{
	struct gp_builder b[2];
	char *text;

	for (int i = 0; i < 2; i++) {
		gp_builder_begin(&b[i], 100);
		gp_builder_string(&b[i], GP_STRING_INFO, GP_INFO_CUPTI_VERSION, 0,
				  i == 0 ? "130000" : "24");
		gp_builder_string(&b[i], GP_STRING_INFO, GP_INFO_OPTIONS, 0,
				  i == 0 ? "TRACE=api-all" : "");
		gp_builder_string(&b[i], GP_STRING_INFO, GP_INFO_PID, 0, i == 0 ? "11" : "12");
		gp_builder_call(&b[i], GP_TEST_SYNC, 1, 1000, 5);
	}
	text = print(b, 2);
	expect(text, "CUPTI 13.0\n");
	expect(text, "CUPTI 12.6 (pid 12)\n");
	expect(text, "(all of some processes; of others launches,");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges_by_gpu_time),
		cmocka_unit_test(test_ranges_that_differ_in_numbers_are_one_row),
		cmocka_unit_test(test_ranges_that_were_never_closed),
		cmocka_unit_test(test_ranges_without_a_gpu),
		cmocka_unit_test(test_no_ranges_no_section),
		cmocka_unit_test(test_code_where_it_matters),
		cmocka_unit_test(test_a_line_on_each_kind),
		cmocka_unit_test(test_kernels_left_out_by_their_names),
		cmocka_unit_test(test_copies_in_flight_of_a_partial_trace),
		cmocka_unit_test(test_processes_that_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
