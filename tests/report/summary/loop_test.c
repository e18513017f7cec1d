/* What the page says of the main loop, and of why a GPU was idle. */
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/build/bad_timestamps.h"
#include "report/summary/summary.h"
#include "tests/report/expect.h"
#include "tests/report/model_builder.h"

#define US 1000u
#define MS 1000000u

/* The page of one screen, each run of spaces and ends of lines one space. */
static char *print(struct gp_model *const *models, size_t count)
{
	const struct gp_summary_options options = {.brief = true, .row_limit = 12};
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(gp_summary_print(out, models, count, &options), 0);
	fclose(out);
	squeeze(text, " \n");
	return text;
}

static struct build begin(uint32_t pid, uint32_t names)
{
	struct build b = build_begin(pid);

	build_device(&b, 0, "NVIDIA H200");
	for (uint32_t i = 0; i < names; i++)
		build_name(&b, (char[]){(char)('a' + i), '\0'});
	return b;
}

/* A kernel of 1 us, launched right before. */
static void add_kernel(struct build *b, uint64_t at_ns, uint32_t name)
{
	uint32_t id = b->model->op_count + 1;

	build_call(b, 100, BUILD_LAUNCH, at_ns - US, 500, id);
	build_op(b, GP_OP_KERNEL, 7, at_ns, at_ns + US, id)->name = name;
}

/*
 * Of twelve iterations the third lasts longer, and in so many others something else is done, too.
 */
static char *print_loop(uint32_t others, uint64_t other_ns)
{
	struct build b = begin(42, 8);
	struct gp_model *model;
	uint64_t at_ns = MS;
	char *text;

	for (uint32_t i = 0; i < 12; i++) {
		bool is_other = i >= 5 && i < 5 + others;

		for (uint32_t name = 0; name < 4; name++)
			add_kernel(&b, at_ns += 10 * US, name);
		if (i == 2)
			at_ns += 60 * US;
		for (uint32_t name = 4; is_other && name < 8; name++)
			add_kernel(&b, at_ns += other_ns, name);
	}
	model = build_end(&b);
	text = print(&model, 1);
	gp_model_free(model);
	return text;
}

static void slow_steps_have_a_part_of_their_own(void **state)
{
	char *text = print_loop(1, 100 * US);

	expect(text,
	       " Steps: 12 of 40.00us (median; 77.54us on average after the warm-up: the average has the slow steps), ");
	expect(text,
	       " parts steady state 390.5us (10), slow steps 540.0us (2, the longest 440.0us: number 6) steady ");
	free(text);
	text = print_loop(1, 5 * US);
	expect(text, ", slow steps 160.0us (2, the longest 100.0us: number 3) steady ");
	/* each of 52 launches costs 190 ns of callbacks, and 640 - 415 of records: they are short */
	expect(text,
	       "gpuprof's own cost: about 21.58us of host time, in each step 1.798us, 3.9 % (an estimate: 1.198us to 3.596us)");
	free(text);
}

/* "startup" and "shutdown" are no names for it: a cause of idle time has one of them. */
static void the_times_around_the_steps_are_parts(void **state)
{
	struct build b = begin(42, 2);
	struct gp_model *model;
	uint64_t at_ns = 5 * MS;
	char *text;

	build_call(&b, 100, BUILD_DEVICE_SYNC, 2 * MS, 10 * US, 0);
	for (uint32_t i = 0; i < 24; i++)
		add_kernel(&b, at_ns += 10 * US, i % 2);
	build_call(&b, 100, BUILD_DEVICE_SYNC, at_ns + MS, 10 * US, 25);
	model = build_end(&b);
	text = print(&model, 1);
	expect(text, " parts before the steps 3.009ms, steady state ");
	expect(text, ", after the steps 1.009ms ");
	free(text);
	gp_model_free(model);
}

/* A result is fetched after every 20 steps. */
static void an_iteration_may_repeat_the_same(void **state)
{
	for (uint32_t alike = 0; alike <= 1; alike++) {
		struct build b = begin(42, 30);
		struct gp_model *model;
		uint64_t at_ns = MS;
		char *text;

		for (uint32_t i = 0; i < 10; i++) {
			for (uint32_t step = 0; step < 20; step++) {
				add_kernel(&b, at_ns += 10 * US, alike ? 1 : step);
				add_kernel(&b, at_ns += 10 * US, alike ? 2 : 29);
			}
			add_kernel(&b, at_ns += 10 * US, 28);
		}
		model = build_end(&b);
		text = print(&model, 1);
		if (alike)
			expect(text,
			       " Steps: 10 of 410.0us (median), each repeating its operations 20 times, ");
		else
			expect(text,
			       " Steps: 10 of 410.0us (median), found by repeating operations; they have 100.0 % of the GPU work parts ");
		free(text);
		gp_model_free(model);
	}
}

/*
 * So many passes of 100 us, after each of `left` of which the program does something else for a
 * second: recorded, or while recording pauses.
 */
static char *print_left(struct gp_model **model, uint32_t passes, uint32_t left, bool pauses)
{
	struct build b = begin(42, 2);
	uint64_t at_ns = MS;

	for (uint32_t i = 0; i < passes; i++) {
		add_kernel(&b, at_ns += 50 * US, 0);
		add_kernel(&b, at_ns += 50 * US, 1);
		if (i % left != left - 1)
			continue;
		if (pauses)
			build_gate(&b, false, GP_GATE_RANGE, at_ns + 50 * US);
		at_ns += 1000 * MS;
		if (pauses)
			build_gate(&b, true, GP_GATE_RANGE, at_ns);
	}
	*model = build_end(&b);
	return print(model, 1);
}

/* Twice the same loop; between, the program does something else for a second. */
static void what_lies_between_two_loops_is_no_iteration(void **state)
{
	struct gp_model *model;
	char *text = print_left(&model, 60, 40, false);

	expect(text,
	       " parts steady state 5.902ms (60), between steps 1.000s steady GPU 2.0 % busy; ");
	expect(text,
	       " One-time costs, out of 1.006s: they matter less the longer the program runs ");
	expect(text, " gpu-gaps: the GPU is idle for 1.000s");
	free(text);
	gp_model_free(model);
}

/*
 * The machine was up for 3 s at the base of the trace.  A process that began 1.76 s before has that
 * as its largest one-time cost; one that began 0.6 s before spent more between its loops.
 */
static void the_time_before_the_first_call_is_a_one_time_cost(void **state)
{
	static const struct {
		const char *started;
		const char *is, *is_not;
	} cases[] = {
		{"124",
		 " program runs 1.761s before the process started 1.761s before its first CUDA call 1.000s ",
		 " start the process started "},
		{"240", " start the process started 601.0ms before its first CUDA call ",
		 "before the process started "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = begin(42, 2);
		struct gp_model *model;
		uint64_t at_ns = MS;
		char *text;

		for (uint32_t k = 0; k < 60; k++) {
			add_kernel(&b, at_ns += 50 * US, 0);
			add_kernel(&b, at_ns += 50 * US, 1);
			at_ns += k == 39 ? 1000 * MS : 0;
		}
		build_info(&b, GP_INFO_START_TIME, cases[i].started);
		b.model->base_monotonic_ns = 3000ull * MS;
		model = build_end(&b);
		text = print(&model, 1);
		expect(text, cases[i].is);
		expect_not(text, cases[i].is_not);
		free(text);
		gp_model_free(model);
	}
}

/*
 * After every fortieth iteration the program does something else for a second: epochs, or a loop
 * that stalls.
 */
static void each_step_has_its_part_of_a_stall(void **state)
{
	struct gp_model *model;
	char *text = print_left(&model, 120, 40, false);

	expect(text, " Steps: 120 of 100.0us (median; 16.77ms on average after the warm-up), ");
	expect(text, " between steps 2.000s steady GPU 2.0 % busy; idle: ");
	expect(text, " 16.67ms 99.4 % gpu-gaps: the GPU is idle 2 times, ");
	expect_not(text, "One-time costs");
	free(text);
	gp_model_free(model);
}

/*
 * It stalls after every fourth iteration, for a second: neither the median nor the longest one
 * tells that it takes a quarter of that on average.
 */
static void an_average_far_from_the_median_is_told(void **state)
{
	struct gp_model *model;
	char *text = print_left(&model, 48, 4, false);

	expect(text, " Steps: 48 of 100.0us (median; 229.3ms on average after the warm-up), ");
	free(text);
	gp_model_free(model);
}

/* Recording pauses between the parts of a loop: what the GPU did meanwhile nobody knows. */
static void what_was_not_recorded_does_not_lie_between(void **state)
{
	struct gp_model *model;
	char *text = print_left(&model, 120, 40, true);

	expect(text, " steady GPU 2.0 % busy; idle: ");
	free(text);
	gp_model_free(model);
}

/* Copies of so many us, and kernels of 1 us: only long ones hide that the GPU does not compute. */
static void a_steady_state_of_copies_is_not_just_busy(void **state)
{
	static const struct {
		uint32_t copy_us;
		const char *steady;
	} cases[] = {
		{2, " steady GPU 11.2 % busy; idle: "},
		{40, " steady GPU 63.0 % busy (computes 1.6 %, only copies 61.4 %); idle: "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = begin(42, 2);
		struct gp_model *model;
		uint64_t at_ns = MS;
		char *text;

		for (uint32_t k = 0; k < 24; k++) {
			uint32_t id = 1000 + k;
			struct gp_op *op;

			add_kernel(&b, at_ns += 20 * US, 0);
			build_call(&b, 100, BUILD_MEMCPY_ASYNC, at_ns + US, 500, id);
			op = build_op(&b, GP_OP_COPY, 7, at_ns + 5 * US,
				      at_ns + (5 + cases[i].copy_us) * US, id);
			op->copy_kind = GP_COPY_HTOD;
			op->bytes = 1 << 20;
			at_ns += (5 + cases[i].copy_us) * US;
		}
		model = build_end(&b);
		text = print(&model, 1);
		expect(text, cases[i].steady);
		free(text);
		gp_model_free(model);
	}
}

/* A loop that waits for the GPU in each pass. */
static struct gp_model *build_waiting(uint32_t pid)
{
	struct build b = begin(pid, 2);

	for (uint32_t i = 0; i < 50; i++) {
		uint64_t at_ns = (1 + i) * 2000ull * US;

		add_kernel(&b, at_ns, 0);
		build_call(&b, 100, BUILD_LAUNCH, at_ns + 5 * US, 500, 1000 + i);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 10 * US, at_ns + 1010 * US, 1000 + i)->name =
			1;
		build_call(&b, 100, BUILD_DEVICE_SYNC, at_ns + 6 * US, 1015 * US, 0);
	}
	return build_end(&b);
}

static void savings_are_of_a_step_of_the_longest_loop(void **state)
{
	struct gp_model *models[] = {build_waiting(1), build_waiting(2)};
	char *text = print(models, 1);

	expect(text, " Steps: 50 of 2.000ms (median), found ");
	expect(text, " Advice: largest possible savings out of an average step of 1.980ms; ");
	free(text);
	text = print(models, 2);
	expect(text, " Steps: 50 of 2.000ms (median), of pid 1 (one of 2 processes with steps), ");
	expect(text, " Advice: largest possible savings out of an average step of 1.980ms; ");
	free(text);
	for (size_t i = 0; i < 2; i++)
		gp_model_free(models[i]);
}

/*
 * Between kernels the program computes for 2 ms, allocates for 1 ms, waits for 500 us and copies
 * for 20 us.
 */
static void what_is_much_is_not_among_others(void **state)
{
	struct build b = begin(42, 1);
	struct gp_model *model;
	char *text;

	build_device(&b, 1, "NVIDIA H200");
	build_api(&b, 91, "cudaMemcpy", GP_API_COPY);
	add_kernel(&b, 10 * US, 0);
	add_kernel(&b, 2010 * US, 0);
	build_call(&b, 100, BUILD_MALLOC, 2012 * US, 1000 * US, 0);
	add_kernel(&b, 3015 * US, 0);
	build_call(&b, 100, BUILD_DEVICE_SYNC, 3017 * US, 500 * US, 0);
	add_kernel(&b, 3520 * US, 0);
	build_call(&b, 100, 91, 3522 * US, 20 * US, 0);
	add_kernel(&b, 3545 * US, 0);
	model = build_end(&b);
	model->ops[model->op_count - 1].device_id = 1;
	text = print(&model, 1);
	expect(text, "; host-bound 56");
	expect(text, " %, allocation 28");
	expect(text, " %, sync-bound 14");
	expect(text, " others ");
	free(text);
	gp_model_free(model);
}

/* Steps of 1.05, 1.1 ms and so on: of four nothing tells which one is usual. */
static void few_steps_have_a_range_and_no_median(void **state)
{
	static const struct {
		uint32_t count;
		const char *title;
	} cases[] = {
		{4,
		 " Steps: 4 of 1.041ms to 1.200ms (too few for a median), marked by ranges step "},
		{5, " Steps: 5 of 1.150ms (median), marked by ranges step "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = begin(42, 1);
		struct gp_model *model;
		uint64_t at_ns = MS;
		char *text;

		for (uint32_t k = 1; k <= cases[i].count; k++) {
			uint64_t length_ns = MS + k * 50 * US;

			build_range(&b, 100, "step", at_ns, at_ns + length_ns);
			add_kernel(&b, at_ns + 10 * US, 0);
			at_ns += length_ns;
		}
		model = build_end(&b);
		text = print(&model, 1);
		expect(text, cases[i].title);
		assert_int_equal(strstr(text, " parts steps ") != NULL, i == 0);
		assert_int_equal(strstr(text, " steady GPU ") != NULL, i == 1);
		free(text);
		gp_model_free(model);
	}
}

/* XLA tries kernels out while it compiles, for longer than the program's step takes. */
static void ranges_of_autotuning_come_last(void **state)
{
	struct build b = begin(42, 1);
	struct gp_model *model;
	const char *step, *tried;
	char *text;

	build_range(&b, 100, "XlaCompile:#module=jit_step#", MS, 2 * MS);
	for (uint32_t i = 0; i < 4; i++) {
		uint64_t at_ns = MS + i * 100 * US;

		build_range(&b, 100, "XlaModule:#hlo_module=dot.1#", at_ns + US, at_ns + 90 * US);
		for (uint32_t kernel = 1; kernel <= 8; kernel++)
			add_kernel(&b, at_ns + kernel * 10 * US, 0);
	}
	build_range(&b, 100, "XlaModule:#hlo_module=jit_step,program_id=7#", 3 * MS, 4 * MS);
	add_kernel(&b, 3 * MS + 10 * US, 0);
	model = build_end(&b);
	for (uint32_t i = 0; i < model->range_count; i++) {
		struct gp_range *range = &model->ranges[i];

		range->op_count = range->start_ns == 3 * MS ? 1 : range->start_ns == MS ? 32 : 8;
		range->gpu_busy_ns = range->op_count * US;
	}
	text = print(&model, 1);
	expect(text, " Ranges: 6; those of autotuning come last ");
	step = strstr(text, "XlaModule:#hlo_module=jit_");
	tried = strstr(text, "XlaModule:#hlo_module=dot.1#");
	assert_non_null(step);
	assert_non_null(tried);
	assert_true(step < tried);
	free(text);
	gp_model_free(model);
}

/* What there is besides one operation of 20 that takes nearly all of the GPU's time. */
enum beside { NOTHING, OWN_STREAM, OTHER_STREAM };

/* Copies, or kernels; of memory nothing is known, or who allocated this kind. */
static char *print_outlier(bool kernels, enum beside beside, uint8_t memory_kind)
{
	struct build b = begin(42, 1);
	struct gp_model *model;
	uint64_t at_ns = MS;
	char *text;

	for (uint32_t i = 0; i < 20; i++) {
		uint64_t ns = i == 7 ? 600 * MS : US;
		struct gp_op *op;

		build_call(&b, 100, kernels ? BUILD_LAUNCH : BUILD_MEMCPY_ASYNC, at_ns - US, 500,
			   i + 1);
		op = build_op(&b, kernels ? GP_OP_KERNEL : GP_OP_COPY, 7, at_ns, at_ns + ns, i + 1);
		op->copy_kind = GP_COPY_DTOD;
		op->source_kind = op->destination_kind = GP_COPY_DEVICE;
		op->bytes = 1;
		if (kernels)
			op->name = 0;
		if (i == 7 && beside == OTHER_STREAM) {
			build_call(&b, 100, BUILD_MEMCPY_ASYNC, at_ns + MS, 500, 100);
			build_op(&b, GP_OP_SET, 8, at_ns + 2 * MS, at_ns + 590 * MS, 100);
		}
		for (uint32_t j = 0; i == 7 && beside == OWN_STREAM && j < 12; j++)
			build_op(&b, GP_OP_SET, 7, at_ns + (j + 1) * 10 * MS,
				 at_ns + (j + 1) * 10 * MS + 2 * US, 101 + j);
		at_ns += ns + 10 * MS;
	}
	if (memory_kind != 0)
		build_memory(&b, GP_MEMORY_ALLOC, memory_kind, MS / 2, 0x1000, 4096);
	model = build_end(&b);
	assert_int_equal(gp_untime_contradicted(model), 0);
	text = print(&model, 1);
	gp_model_free(model);
	return text;
}

/* What all figures of the page hang on is told with them. */
static void one_operation_that_most_of_the_time_is_has_a_line(void **state)
{
	char *text = print_outlier(false, NOTHING, GP_MEMORY_DEVICE);

	expect(text,
	       " outlier one of 20 [memcpy DtoD] (1B) took 600.0ms, >99.9 % of all GPU time; others take 1.000us; another process may have used the GPU; without it GPU 0 was <0.1 % busy ");
	expect_not(text, "by their times");
	free(text);
	text = print_outlier(false, OWN_STREAM, GP_MEMORY_DEVICE);
	expect(text, " GPU 0 busy for at least 42.00us of 790.5ms");
	expect(text,
	       " outlier one of 20 [memcpy DtoD] (1B) took 600.0ms according to its record, others take 1.000us; that cannot be right: 12 others of its stream ran meanwhile; no total includes that time ");
	expect(text,
	       " 1 GPU operation whose time cannot be right, because ten or more of the same stream ran meanwhile: counted, but in no sum of times ");
	expect_not(text, "of all GPU time; others take");
	free(text);
}

/* What cannot be is no guess: what ran beside it, and memory of which there was none. */
static void an_outlier_has_the_causes_that_can_be(void **state)
{
	static const struct {
		bool kernels;
		enum beside beside;
		uint8_t memory_kind;
		const char *why;
	} cases[] = {
		{true, OTHER_STREAM, GP_MEMORY_MANAGED,
		 "take 1.000us; other operations ran concurrently for 588.0ms of that; without it "},
		{true, NOTHING, GP_MEMORY_DEVICE,
		 "; its arguments may mean more work, or another process used the GPU; without it "},
		{true, NOTHING, GP_MEMORY_MANAGED,
		 "; managed memory may have migrated, its arguments may mean more work, or another process used the GPU; without it "},
		{true, NOTHING, 0,
		 "; managed memory, if there is any, may have migrated, its arguments may mean more work, or another process used the GPU; without it "},
		{false, NOTHING, 0,
		 "take 1.000us; managed memory, if there is any, may have migrated, or another process used the GPU; without it "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = print_outlier(cases[i].kernels, cases[i].beside, cases[i].memory_kind);

		expect(text, cases[i].why);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_operation_that_most_of_the_time_is_has_a_line),
		cmocka_unit_test(an_outlier_has_the_causes_that_can_be),
		cmocka_unit_test(slow_steps_have_a_part_of_their_own),
		cmocka_unit_test(the_times_around_the_steps_are_parts),
		cmocka_unit_test(an_iteration_may_repeat_the_same),
		cmocka_unit_test(what_lies_between_two_loops_is_no_iteration),
		cmocka_unit_test(each_step_has_its_part_of_a_stall),
		cmocka_unit_test(what_was_not_recorded_does_not_lie_between),
		cmocka_unit_test(an_average_far_from_the_median_is_told),
		cmocka_unit_test(a_steady_state_of_copies_is_not_just_busy),
		cmocka_unit_test(the_time_before_the_first_call_is_a_one_time_cost),
		cmocka_unit_test(savings_are_of_a_step_of_the_longest_loop),
		cmocka_unit_test(what_is_much_is_not_among_others),
		cmocka_unit_test(few_steps_have_a_range_and_no_median),
		cmocka_unit_test(ranges_of_autotuning_come_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
