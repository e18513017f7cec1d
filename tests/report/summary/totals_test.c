/* The summary of processes with totals only: where time may go, and how busy their GPUs were. */
#include "tests/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/load/load_model.h"
#include "report/model/sums/totals.h"
#include "report/summary/part.h"
#include "tests/report/expect.h"
#include "tests/report/trace_builder.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

enum { MODULE_LOAD = 60, STREAM_CREATE = 61, EVENT_RECORD = 62 };

/* From pinned or pageable memory to a device. */
static void add_copy(struct gp_builder *b, uint8_t source, uint64_t start_ns, uint64_t ns)
{
	gp_builder_add(b, &(struct gp_record_copy){.kind = GP_RECORD_COPY,
						   .copy_kind = GP_COPY_HTOD,
						   .source_kind = source,
						   .destination_kind = GP_COPY_DEVICE,
						   .bytes = 3000000,
						   .context_id = 1,
						   .stream_id = 7,
						   .start_ns = GP_TEST_CUPTI(start_ns),
						   .end_ns = GP_TEST_CUPTI(start_ns + ns)});
}

/* Launches of 3 us, each with a kernel that starts so much later. */
static void add_launches(struct gp_builder *b, uint32_t count, uint64_t delay_ns,
			 uint64_t kernel_ns)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t at_ns = MS + i * 24 * US, start_ns = at_ns + delay_ns;

		gp_builder_call(b, GP_TEST_LAUNCH, i + 1, at_ns, 3 * US);
		gp_builder_kernel(b, i + 1, start_ns, start_ns + kernel_ns);
	}
}

/* Calls from 1 to 21 ms: 5 % of that is 1 ms. */
static void begin(struct gp_builder *b)
{
	gp_builder_init(b);
	gp_builder_start(b);
	gp_builder_string(b, GP_STRING_API, MODULE_LOAD, GP_API_MODULE, "cuModuleLoadData");
	gp_builder_string(b, GP_STRING_API, STREAM_CREATE, GP_API_CONTROL, "cudaStreamCreate");
	gp_builder_string(b, GP_STRING_API, EVENT_RECORD, GP_API_EVENT, "cudaEventRecord");
	gp_builder_add(b, &(struct gp_record_device){.kind = GP_RECORD_DEVICE, .uuid = {1, 2, 3}});
	gp_builder_chunk(b, 1, 100);
	gp_builder_call(b, EVENT_RECORD, 0, MS, US);
	gp_builder_call(b, EVENT_RECORD, 0, 21 * MS - US, US);
}

static struct gp_model *end(struct gp_builder *b)
{
	const struct gp_load_options options = {.save_to = -1, .in_one_pass = true};
	struct gp_model *model;
	char message[512];

	gp_builder_end(b, 22 * MS);
	assert_int_equal(
		gp_model_load_with(gp_builder_save(b), &options, &model, message, sizeof(message)),
		0);
	gp_builder_free(b);
	return model;
}

/* The page, each run of spaces and ends of lines one space. */
static char *print(struct gp_model *const *models, size_t count)
{
	const struct gp_summary_options options = {.row_limit = 12};
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(gp_summary_print(out, models, count, &options), 0);
	fclose(out);
	squeeze(text, " \n");
	return text;
}

static char *print_one(struct gp_builder *b)
{
	struct gp_model *model = end(b);
	char *text = print(&model, 1);

	gp_model_free(model);
	return text;
}

/* From 5 % of the time on, with the calls that take most of it. */
static void calls_that_take_long_are_signs(void **state)
{
	static const struct {
		uint16_t apis[2];
		uint64_t us[2];
		const char *line; /* NULL = none */
	} cases[] = {
		{{GP_TEST_SYNC, GP_TEST_SYNC},
		 {700, 300},
		 "1.000ms 5.0 % in 2 calls that wait for the GPU, most of it in cudaDeviceSynchronize: sync-in-loop, sync-calls "},
		{{GP_TEST_SYNC, GP_TEST_SYNC}, {700, 299}, NULL},
		{{GP_TEST_COPY, EVENT_RECORD},
		 {1500, 900},
		 "1.500ms 7.5 % in 1 call that copies, cudaMemcpy: hidden-wait, "},
		{{GP_TEST_SET, GP_TEST_SET},
		 {800, 800},
		 "1.600ms 8.0 % in 2 memset calls, most of it in cudaMemsetAsync: sync-memset "},
		{{GP_TEST_MALLOC, GP_TEST_FREE},
		 {400, 600},
		 "1.000ms 5.0 % in 2 calls that allocate and free memory, most of it in cudaFree: alloc-in-loop "},
		{{GP_TEST_MALLOC, GP_TEST_FREE},
		 {600, 400},
		 "1.000ms 5.0 % in 2 calls that allocate and free memory, most of it in cudaMalloc: "},
		{{MODULE_LOAD, EVENT_RECORD},
		 {1000, 5000},
		 "1.000ms 5.0 % in 1 call that loads code, cuModuleLoadData: first-use, jit-compile "},
		{{STREAM_CREATE, EVENT_RECORD},
		 {1000, 5000},
		 "1.000ms 5.0 % in 1 call that creates contexts, streams or graphs, cudaStreamCreate: start-up "},
		{{GP_TEST_LAUNCH, GP_TEST_GRAPH_LAUNCH},
		 {1000, 3000},
		 "4.000ms 20.0 % in 2 calls that launch, most of it in cudaGraphLaunch: short-kernels "},
		{{EVENT_RECORD, EVENT_RECORD}, {5000, 5000}, NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gp_builder b;
		char *text;

		begin(&b);
		for (size_t k = 0; k < 2; k++)
			gp_builder_call(&b, cases[i].apis[k], 0, (2 + 8 * k) * MS,
					cases[i].us[k] * US);
		text = print_one(&b);
		if (cases[i].line)
			expect(text, cases[i].line);
		else
			expect_not(text, "Signs in the totals");
		free(text);
	}
}

/* Many short kernels of a GPU that idles, for which calls that wait or copy are no reason. */
static void short_kernels_are_a_sign(void **state)
{
	static const struct {
		uint32_t kernels;
		uint64_t kernel_us, wait_us, copy_us;
		const char *line;
	} cases[] = {
		{200, 2, 0, 0,
		 " the GPU is idle 98.0 % of the time, and kernels run for 2.000us on average, 100.0 % of them for less than a launch call takes (3.000us): short-kernels "},
		{199, 2, 0, 0, NULL},
		{200, 20, 0, 0,
		 " the GPU is idle 80.0 % of the time, and kernels run for 20.00us on average: short-kernels "},
		{200, 21, 0, 0, NULL},
		{600, 20, 0, 0, " the GPU is idle 40.0 % of the time, "},
		{800, 20, 0, 0, " the GPU is idle 20.0 % of the time, "},
		{801, 20, 0, 0, NULL},
		{200, 2, 6000, 4000, " the GPU is idle 98.0 % of the time, "},
		{200, 2, 6000, 4001, NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gp_builder b;
		char *text;

		begin(&b);
		add_launches(&b, cases[i].kernels, 5 * US, cases[i].kernel_us * US);
		gp_builder_call(&b, GP_TEST_SYNC, 0, 2 * MS, cases[i].wait_us * US);
		gp_builder_call(&b, GP_TEST_COPY, 0, 10 * MS, cases[i].copy_us * US);
		text = print_one(&b);
		if (cases[i].line)
			expect(text, cases[i].line);
		else
			expect_not(text, "the GPU is idle");
		free(text);
	}
}

static void copies_of_pageable_memory_are_a_sign(void **state)
{
	for (uint64_t ns = MS - 1; ns <= MS; ns++) {
		struct gp_builder b;
		char *text;

		(void)state;
		begin(&b);
		add_copy(&b, GP_COPY_PAGEABLE, 2 * MS, 400 * US);
		add_copy(&b, GP_COPY_PAGEABLE, 3 * MS, ns - 400 * US);
		add_copy(&b, GP_COPY_PINNED, 4 * MS, 5 * MS);
		text = print_one(&b);
		if (ns == MS)
			expect(text,
			       " 1.000ms 5.0 % of 2 copies of pageable memory: 5.722MiB at 6.000 GB/s: pageable-async");
		else
			expect_not(text, "pageable memory:");
		free(text);
	}
}

/* Kernels at the same time count once; they begin 1 us later in the other process. */
static void processes_share_a_gpu(void **state)
{
	struct gp_model *models[2];
	char *text;

	(void)state;
	for (uint64_t i = 0; i < 2; i++) {
		struct gp_builder b;

		begin(&b);
		add_launches(&b, 100, (5 + i) * US, 2 * US);
		models[i] = end(&b);
	}
	text = print(models, 2);
	expect(text, " GPU 0 1.5 % busy, 98.5 % idle: 300.0us of 20.00ms");
	free(text);
	text = print(models, 1);
	expect(text, " GPU 0 1.0 % busy, 99.0 % idle: 200.0us of 20.00ms");
	free(text);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

static void add_range(struct gp_builder *b, uint8_t op, uint64_t ns)
{
	gp_builder_add(b, &(struct gp_record_range){
				  .kind = GP_RECORD_RANGE, .op = op, .ticks = GP_TEST_AT_TICK(ns)});
}

static void ranges_and_marks_are_counted(void **state)
{
	struct gp_builder b;
	struct gp_model *model;
	char *text, line[64];

	(void)state;
	begin(&b);
	for (uint32_t i = 0; i < 3; i++) {
		add_range(&b, GP_RANGE_PUSH, (2 + i) * MS);
		add_range(&b, GP_RANGE_POP, (2 + i) * MS + US);
	}
	model = end(&b);
	text = print(&model, 1);
	expect(text, " program ranges: 3 ");
	snprintf(line, sizeof(line), " Read in one pass: %" PRIu64 "B;",
		 gp_totals_of(model)->file_bytes);
	expect(text, line);
	free(text);
	gp_model_free(model);
	begin(&b);
	add_range(&b, GP_RANGE_MARK, 2 * MS);
	add_range(&b, GP_RANGE_MARK, 2 * MS);
	text = print_one(&b);
	expect(text, " program ranges: 0, marks: 2 ");
	free(text);
	begin(&b);
	text = print_one(&b);
	expect_not(text, "program ranges");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_that_take_long_are_signs),
		cmocka_unit_test(short_kernels_are_a_sign),
		cmocka_unit_test(copies_of_pageable_memory_are_a_sign),
		cmocka_unit_test(processes_share_a_gpu),
		cmocka_unit_test(ranges_and_marks_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
