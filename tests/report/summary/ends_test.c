/* What the page says of the beginning and the end of several processes. */
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/summary/summary.h"
#include "tests/report/expect.h"
#include "tests/report/model_builder.h"
#include "tests/report/stack_builder.h"

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

/* Its first call, which makes a context, is 3 s after its machine's start. */
static struct gp_model *build_process(uint32_t pid, const char *started, uint64_t first_ns,
				      uint64_t last_call_ns)
{
	struct build b = build_begin(pid);

	build_device(&b, 0, "NVIDIA H200");
	build_name(&b, "step");
	build_context_made_by(&b, 1, 7, 1);
	build_call(&b, 100, BUILD_MALLOC, 0, 100 * MS, 1);
	build_call(&b, 100, BUILD_LAUNCH, first_ns - MS, 10000, 2);
	build_op(&b, GP_OP_KERNEL, 7, first_ns, 1000 * MS, 2);
	build_call(&b, 100, BUILD_DEVICE_SYNC, last_call_ns - MS, MS, 3);
	build_info(&b, GP_INFO_START_TIME, started);
	b.model->base_monotonic_ns = 3000ull * MS;
	return build_end(&b);
}

static void each_time_is_that_of_the_process_that_took_longest(void **state)
{
	struct gp_model *models[] = {
		build_process(42, "220", 150 * MS, 1001 * MS),
		build_process(43, "124", 120 * MS, 1001 * MS),
	};
	char *text = print(models, 2);

	expect(text,
	       " start 150.0ms (15.0 %) before the first operation: making contexts 100.0ms (pid 42, the longest); the process started 1.760s before its first CUDA call (pid 43, the longest) ");
	free(text);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/* As in the busy line above it. */
static void time_in_which_no_process_lived_does_not_count(void **state)
{
	struct gp_model *models[] = {
		build_process(42, "220", 150 * MS, 1001 * MS),
		build_process(43, "124", 120 * MS, 1001 * MS),
	};
	char *text;

	models[1]->base_unix_ns += 10000ull * MS;
	text = print(models, 2);
	expect(text, " of 2.002s");
	expect(text, " start 150.0ms (7.5 %) before the first operation");
	free(text);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/* The operations of one begin too soon to be told of. */
static void what_is_not_told_chooses_no_process(void **state)
{
	struct gp_model *models[] = {
		build_process(42, "222", 102 * MS, 3001ull * MS),
		build_process(43, "124", 101 * MS, 3001ull * MS),
	};
	char *text = print(models, 2);

	expect(text,
	       " start the process started 1.760s before its first CUDA call (pid 43, the longest) ");
	free(text);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

static void one_process_is_not_named(void **state)
{
	struct gp_model *model = build_process(42, "124", 150 * MS, 1001 * MS);
	char *text = print(&model, 1);

	expect(text,
	       "making contexts 100.0ms; the process started 1.760s before its first CUDA call ");
	expect_not(text, "the longest");
	free(text);
	gp_model_free(model);
}

/* Both what calls were for and what they were not, of a tenth and more; frees at the end, too. */
static void time_in_no_call_is_told(void **state)
{
	struct gp_model *model = build_process(42, "300", 450 * MS, 1500 * MS);
	struct build b = {.model = model};
	char *text;

	build_call(&b, 100, BUILD_FREE, 1010 * MS, 480 * MS, 4);
	text = print(&model, 1);
	expect(text,
	       " start 450.0ms (30.0 %) before the first operation: making contexts 100.0ms, outside recorded CUDA calls 350.0ms ");
	expect(text, " end 500.0ms (33.3 %) after the last operation: freeing memory 480.0ms ");
	free(text);
	gp_model_free(model);
}

/* Of a short run less is notable, if it is more of it. */
static void the_end_of_a_short_run_is_told(void **state)
{
	for (uint64_t kernel_ms = 100; kernel_ms <= 1000; kernel_ms += 900) {
		struct build b = build_begin(42);
		struct gp_model *model;
		char *text;

		build_device(&b, 0, "NVIDIA H200");
		build_name(&b, "step");
		build_call(&b, 100, BUILD_LAUNCH, 0, 10000, 1);
		build_op(&b, GP_OP_KERNEL, 7, 0, kernel_ms * MS, 1);
		build_call(&b, 100, BUILD_DEVICE_SYNC, (kernel_ms + 60) * MS, 1000, 0);
		model = build_end(&b);
		text = print(&model, 1);
		if (kernel_ms == 100)
			expect(text,
			       " end 60.00ms (37.5 %) after the last operation: outside recorded CUDA calls 60.00ms ");
		else
			expect_not(text, " after the last operation");
		free(text);
		gp_model_free(model);
	}
}

/* A process may make contexts and do nothing with them. */
static void a_process_without_any_operation_has_a_line(void **state)
{
	struct build b = build_begin(42);
	struct gp_model *model;
	char *text;

	build_device(&b, 0, "NVIDIA H200");
	build_context_made_by(&b, 1, 7, 1);
	build_call(&b, 100, BUILD_MALLOC, 0, 900 * MS, 1);
	build_call(&b, 100, BUILD_FREE, 900 * MS, 100 * MS, 2);
	model = build_end(&b);
	text = print(&model, 1);
	expect(text,
	       " host 1.000s (100.0 %) without any GPU operation: making contexts 900.0ms, freeing memory 100.0ms ");
	free(text);
	gp_model_free(model);
}

/*
 * Of a process that Python was looked at, in load() before its first operation and in save() after
 * the last one.
 */
static char *print_sampled(uint64_t first_ns)
{
	struct gp_model *model = build_process(100, "300", first_ns, 1500 * MS);
	struct build b = {.model = model};
	struct gp_sample samples[] = {
		{.start_ns = 0, .end_ns = 700 * MS, .thread_id = 100, .count = 35},
		{.start_ns = 1100 * MS, .end_ns = 1500 * MS, .thread_id = 100, .count = 20},
	};
	char *text;

	samples[0].stack = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "load", 7);
	samples[1].stack = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "save", 9);
	build_stacks_end(&b);
	model->samples = samples;
	model->sample_count = 2;
	text = print(&model, 1);
	model->samples = NULL; /* our own */
	gp_model_free(model);
	return text;
}

/*
 * Its only operation ends at 1 s.  Where looks were as far apart before, nothing says that they
 * ended.
 */
static void looks_that_end_before_the_work_are_told_of(void **state)
{
	static const struct {
		uint64_t end_ms;
		uint32_t count;
		bool told;
	} cases[] = {{901, 45, false}, {899, 45, true}, {500, 5, true}, {500, 3, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *models[] = {
			build_process(42, "300", 150 * MS, 1001 * MS),
			build_process(43, "300", 150 * MS, 1001 * MS),
		};
		struct gp_sample sample = {.end_ns = cases[i].end_ms * MS,
					   .thread_id = 100,
					   .stack = GP_NONE,
					   .count = cases[i].count};
		char *text, said[256];

		models[1]->samples = &sample;
		models[1]->sample_count = 1;
		text = print(models, 2);
		snprintf(
			said, sizeof(said),
			" the last Python stack sample was taken at %d.0ms, the last GPU operation ended at 1.000s: Python activity in between is unknown (pid 43) ",
			(int)cases[i].end_ms);
		if (cases[i].told)
			expect(text, said);
		else
			expect_not(text, "the last look");
		free(text);
		models[1]->samples = NULL; /* our own */
		gp_model_free(models[0]);
		gp_model_free(models[1]);
	}
}

/* Where contexts are not most of it. */
static void python_is_told_of(void **state)
{
	char *text = print_sampled(800 * MS);

	expect(text,
	       "before the first operation: making contexts 100.0ms; Python was in load (train.py:7) for 800.0ms ");
	expect(text, "after the last operation; Python was in save (train.py:9) for 500.0ms ");
	free(text);
	text = print_sampled(150 * MS);
	expect(text, "before the first operation: making contexts 100.0ms ");
	expect_not(text, "in load");
	free(text);
}

/*
 * The only operation is behind the last call that was recorded: the time until it is no more than
 * all of it.
 */
static void no_end_is_more_than_all_of_the_time(void **state)
{
	struct gp_model *model = build_process(42, "200", 1002 * MS, 1001 * MS);
	char *text;

	model->ops[0].end_ns = 1003 * MS;
	text = print(&model, 1);
	expect(text, " start 1.002s (100.0 %) before the first operation");
	free(text);
	gp_model_free(model);
}

/* Where all callers of a failed call have no room, whole ones between the ends go. */
static void of_callers_without_room_those_between_go(void **state)
{
	struct build b = build_begin(42);
	uint32_t stack = BUILD_OUTERMOST;
	struct gp_model *model;
	char *text;

	build_device(&b, 0, "NVIDIA H200");
	for (uint8_t i = 0; i < 4; i++)
		stack = build_python(&b, stack, "/home/me/train.py", "a_function_of_a_long_name",
				     i + 1);
	build_call(&b, 100, BUILD_MALLOC, 0, 1000, 1)->status = 2;
	build_stack_of_last(&b, stack);
	build_stacks_end(&b);
	model = build_end(&b);
	text = print(&model, 1);
	expect(text,
	       " at a_function_of_a_long_name (train.py:4) < ... < a_function_of_a_long_name (train.py:1) ");
	free(text);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_time_is_that_of_the_process_that_took_longest),
		cmocka_unit_test(time_in_which_no_process_lived_does_not_count),
		cmocka_unit_test(what_is_not_told_chooses_no_process),
		cmocka_unit_test(one_process_is_not_named),
		cmocka_unit_test(time_in_no_call_is_told),
		cmocka_unit_test(the_end_of_a_short_run_is_told),
		cmocka_unit_test(a_process_without_any_operation_has_a_line),
		cmocka_unit_test(looks_that_end_before_the_work_are_told_of),
		cmocka_unit_test(python_is_told_of),
		cmocka_unit_test(no_end_is_more_than_all_of_the_time),
		cmocka_unit_test(of_callers_without_room_those_between_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
