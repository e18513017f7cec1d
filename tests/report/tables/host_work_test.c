#include "tests/unit.h"

#include <stdlib.h>

#include "report/analysis/host/python_samples.h"
#include "report/tables/host_work.h"
#include "tests/report/stack_builder.h"

#define MS      1000000u
#define LIBRARY "/v/lib/python3.12/"

static struct scene {
	struct build b;
	struct gp_host_places *places;
	struct gp_tally tally;
	uint32_t first, line, third, other; /* line and third are other ones of first() */
	uint32_t log, encode, embed;        /* a library's, called by first, and by line */
} scene;

static int set_up(void **state)
{
	scene.b = build_begin(1);
	scene.places = gp_host_places_new();
	scene.first = build_python(&scene.b, BUILD_OUTERMOST, "/home/me/train.py", "first", 1);
	scene.line = build_python(&scene.b, BUILD_OUTERMOST, "/home/me/train.py", "first", 5);
	scene.other = build_python(&scene.b, BUILD_OUTERMOST, "/home/me/train.py", "other", 2);
	scene.third = build_python(&scene.b, BUILD_OUTERMOST, "/home/me/train.py", "first", 9);
	scene.log = build_python(&scene.b, scene.first, LIBRARY "l.py", "log", 1);
	scene.encode = build_python(&scene.b, scene.line, LIBRARY "e.py", "encode", 1);
	scene.embed = build_python(&scene.b, scene.line, LIBRARY "e.py", "embed", 9);
	build_stacks_end(&scene.b);
	scene.b.model->pid = 100;
	return scene.places ? 0 : -1;
}

static int tear_down(void **state)
{
	gp_host_places_free(scene.places);
	gp_tally_free(&scene.tally);
	scene.tally = (struct gp_tally){0};
	scene.b.model->samples = NULL; /* the tests' own */
	gp_model_free(scene.b.model);
	return 0;
}

static void set_samples(struct gp_sample *samples, uint32_t count)
{
	scene.b.model->samples = samples;
	scene.b.model->sample_count = count;
}

static bool add_as(enum gp_host_weight weight, uint64_t sum, uint32_t thread, uint64_t start_ms,
		   uint64_t end_ms)
{
	const struct gp_host_window window = {
		&scene.tally, sum, scene.places, scene.b.model, start_ms * MS, end_ms * MS, weight};

	return gp_host_work_add(&window, thread);
}

static bool add(uint64_t sum, uint32_t thread, uint64_t start_ms, uint64_t end_ms)
{
	return add_as(GP_HOST_TIMES, sum, thread, start_ms, end_ms);
}

/* The function of that rank in a sum. */
static void assert_function(uint64_t sum, uint32_t rank, const char *own, uint64_t total_ms,
			    uint64_t samples)
{
	uint32_t count;
	struct gp_host_function *functions =
		gp_host_work_functions(&scene.tally, sum, scene.places, &count);

	assert_non_null(functions);
	assert_true(rank < count);
	assert_string_equal(gp_host_places_at(scene.places, functions[rank].place).own, own);
	assert_int_equal(functions[rank].total_ns, total_ms * MS);
	assert_int_equal(functions[rank].samples, samples);
	free(functions);
}

static void assert_count(uint64_t sum, uint32_t expected)
{
	uint32_t count;

	free(gp_host_work_functions(&scene.tally, sum, scene.places, &count));
	assert_int_equal(count, expected);
}

static void a_look_reaches_half_way_to_the_next(void **state)
{
	struct gp_sample samples[] = {build_sample(100, scene.first, 10, 10),
				      build_sample(100, scene.other, 30, 70),
				      build_sample(100, scene.first, 90, 90)};

	set_samples(samples, 3);
	assert_true(add(0, 100, 0, 100));
	assert_function(0, 0, "other (train.py:2)", 60, 2);
	assert_function(0, 1, "first (train.py:1)", 20, 2);
	assert_int_equal(gp_python_sample_time(scene.b.model, 0).end_ns, 20 * MS);
	assert_int_equal(gp_python_sample_time(scene.b.model, 1).start_ns, 20 * MS);
	assert_int_equal(gp_python_sample_time(scene.b.model, 1).end_ns, 80 * MS);
	/* what is outside of the time counts for nothing, nor do the samples of a run that are */
	assert_true(add(1, 100, 0, 25));
	assert_function(1, 0, "first (train.py:1)", 10, 1);
	assert_function(1, 1, "other (train.py:2)", 5, 0);
}

static void times_of_one_sum_are_added_by_function(void **state)
{
	struct gp_sample samples[] = {
		build_sample(100, scene.first, 0, 30), build_sample(100, scene.other, 30, 70),
		build_sample(100, scene.first, 100, 130), build_sample(100, scene.line, 130, 150),
		build_sample(100, scene.other, 1000, 1045)};

	set_samples(samples, 5);
	assert_true(add(7, 100, 0, 70));
	assert_true(add(7, 100, 100, 150));
	/* first() is longest by its two lines together, and named by the one with more */
	assert_function(7, 0, "first (train.py:1)", 80, 6);
	assert_function(7, 1, "other (train.py:2)", 40, 2);
	assert_count(7, 2);
	assert_count(8, 0);
}

/* However often was looked, the same time is what they stand for. */
static void sums_are_the_same_for_any_period(void **state)
{
	static const uint64_t periods_ms[] = {5, 20};

	for (uint64_t sum = 0; sum < 2; sum++) {
		struct gp_sample samples[81];
		uint32_t count = 0;

		for (uint64_t ms = 0; ms <= 400; ms += periods_ms[sum])
			samples[count++] = build_sample(
				100, ms % 200 < 120 ? scene.first : scene.other, ms, ms);
		set_samples(samples, count);
		assert_true(add(sum, 100, 0, 400));
		assert_count(sum, 2);
	}
	assert_function(0, 0, "first (train.py:1)", 240, 48);
	assert_function(1, 0, "first (train.py:1)", 240, 12);
}

static void what_is_far_from_any_look_is_not_known(void **state)
{
	struct gp_sample samples[] = {build_sample(100, scene.first, 1000, 1000),
				      build_sample(100, scene.other, 3000, 3000)};

	set_samples(samples, 2);
	assert_true(add(0, 100, 1000, 3000));
	assert_function(0, 0, "first (train.py:1)", 125, 1);
	assert_function(0, 1, "other (train.py:2)", 125, 0);
	assert_false(add(1, 100, 1500, 2500));
	assert_count(1, 0);
}

static void the_thread_that_was_asked_for(void **state)
{
	struct gp_sample samples[] = {build_sample(100, scene.first, 10, 50),
				      build_sample(101, scene.other, 10, 20)};

	set_samples(samples, 2);
	assert_true(add(0, 101, 0, 100));
	assert_function(0, 0, "other (train.py:2)", 10, 2);
	assert_false(add(1, 102, 0, 100));
	assert_count(1, 0);
	gp_host_work_add_all(&scene.tally, 2, scene.places, scene.b.model);
	assert_function(2, 0, "first (train.py:1)", 40, 2);
	assert_function(2, 1, "other (train.py:2)", 10, 2);
	set_samples(samples, 0);
	assert_false(add(3, 101, 0, 100));
}

/* "in a (x.py:1) for ..." of the function of that rank. */
static void assert_told(uint64_t sum, uint32_t rank, const char *expected)
{
	uint32_t count;
	struct gp_host_function *functions =
		gp_host_work_functions(&scene.tally, sum, scene.places, &count);
	char text[256] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_true(functions && out && rank < count);
	gp_host_function_print_time(out, scene.places, &functions[rank]);
	fclose(out);
	assert_string_equal(text, expected);
	free(functions);
}

static void assert_line(uint64_t sum, uint32_t rank, const char *own, uint64_t total_ms)
{
	uint32_t count;
	struct gp_host_function *lines =
		gp_host_work_lines(&scene.tally, sum, scene.places, &count);

	assert_true(lines && rank < count);
	assert_string_equal(gp_host_places_at(scene.places, lines[rank].place).own, own);
	assert_int_equal(lines[rank].total_ns, total_ms * MS);
	free(lines);
}

static void assert_spot(uint64_t sum, const char *text, bool is_line, uint64_t ns_in_ms)
{
	struct gp_host_spot spot = gp_host_work_spot(&scene.tally, sum, scene.places);

	assert_string_equal(spot.text, text);
	assert_int_equal(spot.is_line, is_line);
	assert_int_equal(spot.ns, ns_in_ms * MS);
}

/* A line that calls several functions of a library has the time of all of them. */
static void a_line_has_what_all_did_that_it_calls(void **state)
{
	struct gp_sample samples[] = {
		build_sample(100, scene.encode, 0, 30), build_sample(100, scene.log, 30, 70),
		build_sample(100, scene.embed, 70, 100), build_sample(100, scene.other, 100, 110)};

	set_samples(samples, 4);
	assert_true(add(0, 100, 0, 100));
	assert_told(0, 0, "in first (train.py:5) for 60.00ms (all lines: 100.0ms)");
	assert_line(0, 0, "first (train.py:5)", 60);
	assert_line(0, 1, "first (train.py:1)", 40);
	assert_spot(0, "first (train.py:5)", true, 60);
	assert_true(add(1, 100, 0, 70));
	assert_told(1, 0, "in log (l.py) < first (train.py:1) for 40.00ms (all lines: 70.00ms)");
}

/* No line has half: the function is named without. */
static void of_many_lines_none_is_named(void **state)
{
	struct gp_sample samples[] = {
		build_sample(100, scene.first, 0, 30), build_sample(100, scene.line, 30, 70),
		build_sample(100, scene.third, 70, 100), build_sample(100, scene.other, 100, 180)};

	set_samples(samples, 4);
	assert_true(add(0, 100, 0, 100));
	assert_told(0, 0, "in first (train.py) for 100.0ms");
	assert_spot(0, "first (train.py)", false, 100);
	assert_true(add(1, 100, 0, 180));
	assert_spot(1, "first (train.py)", false, 100);
	assert_true(add(2, 100, 40, 180));
	assert_told(2, 0, "in other (train.py:2) for 80.00ms");
	assert_told(2, 1, "in first (train.py:5) for 30.00ms (all lines: 60.00ms)");
	assert_spot(2, "other (train.py:2)", true, 80);
	assert_spot(3, "", false, 0);
}

/* Each counts, and none in part: of a run of equal ones those within. */
static void samples_within_a_time_are_counted(void **state)
{
	struct gp_sample samples[] = {build_sample(100, scene.first, 0, 80),
				      build_sample(100, scene.other, 100, 100)};
	static const struct {
		uint64_t start_ms, end_ms, samples;
	} cases[] = {{0, 90, 5}, {0, 70, 4}, {10, 70, 3}, {21, 39, 0}, {20, 40, 1}, {0, 120, 6}};

	samples[0].count = 5;
	set_samples(samples, 2);
	for (uint64_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		add_as(GP_HOST_LOOKS, i, 100, cases[i].start_ms, cases[i].end_ms);
		assert_int_equal(gp_host_work_spot(&scene.tally, i, scene.places).all_ns,
				 cases[i].samples * GP_PYTHON_SAMPLE);
	}
}

/* What it did then is that call's; of a run of equal samples those that fell into none count. */
static void samples_in_calls_are_left_out(void **state)
{
	struct gp_sample samples[] = {build_sample(100, scene.first, 0, 80),
				      build_sample(100, scene.other, 100, 100)};

	samples[0].count = 5;
	build_api(&scene.b, 31, "cudaMemcpy", GP_API_COPY);
	build_call(&scene.b, 99, 31, 0, 200 * MS, 0); /* another thread's */
	build_call(&scene.b, 100, 31, 15 * MS, 10 * MS, 0);
	build_call(&scene.b, 100, 31, 16 * MS, MS, 0); /* in the one before */
	build_call(&scene.b, 100, 31, 95 * MS, 10 * MS, 0);
	set_samples(samples, 2);
	assert_true(add_as(GP_HOST_TIMES_OUTSIDE_CALLS, 0, 100, 0, 90));
	assert_function(0, 0, "first (train.py:1)", 72, 4);
	assert_false(add_as(GP_HOST_TIMES_OUTSIDE_CALLS, 1, 100, 95, 120));
	assert_count(1, 0);
}

/* As a thread that waits for a day has them, or a damaged trace. */
static void of_many_samples_some_are_looked_up(void **state)
{
	struct gp_sample sample = build_sample(100, scene.first, 0, 4000);
	struct gp_host_function *functions;
	uint32_t count;

	sample.count = 1000000000;
	build_api(&scene.b, 31, "cudaMemcpy", GP_API_COPY);
	build_call(&scene.b, 100, 31, 1000 * MS, 1000 * MS, 0);
	set_samples(&sample, 1);
	assert_true(add_as(GP_HOST_TIMES_OUTSIDE_CALLS, 0, 100, 0, 4000));
	functions = gp_host_work_functions(&scene.tally, 0, scene.places, &count);
	assert_int_equal(count, 1);
	assert_in_range(functions[0].total_ns, 2998 * MS, 3002 * MS);
	assert_in_range(functions[0].samples, 749500000, 750500000);
	free(functions);
}

/* Of 30 ms of first and 10 ms of other, twice a usual 10 ms of first is left out, and no more than all. */
static void usual_work_is_taken_out(void **state)
{
	struct gp_tally usual = {0};
	struct gp_host_window window = {&usual, 0,       scene.places, scene.b.model,
					0,      10 * MS, GP_HOST_LOOKS};
	struct gp_sample samples[] = {{.start_ns = 0,
				       .end_ns = 9 * MS,
				       .thread_id = 100,
				       .stack = scene.first,
				       .count = 10},
				      {.start_ns = 20 * MS,
				       .end_ns = 49 * MS,
				       .thread_id = 100,
				       .stack = scene.first,
				       .count = 30},
				      {.start_ns = 50 * MS,
				       .end_ns = 59 * MS,
				       .thread_id = 100,
				       .stack = scene.other,
				       .count = 10}};

	set_samples(samples, 3);
	assert_true(gp_host_work_add(&window, 100));
	assert_true(add_as(GP_HOST_LOOKS, 1, 100, 20, 60));
	assert_true(add_as(GP_HOST_LOOKS, 2, 100, 20, 60));
	gp_host_work_subtract(&scene.tally, 1, &usual, 2);
	assert_function(1, 0, "first (train.py:1)", 10, 10);
	assert_function(1, 1, "other (train.py:2)", 10, 10);
	assert_function(2, 0, "first (train.py:1)", 30, 30);
	gp_host_work_subtract(&scene.tally, 2, &usual, 4);
	assert_function(2, 0, "other (train.py:2)", 10, 10);
	gp_tally_free(&usual);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_look_reaches_half_way_to_the_next, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(times_of_one_sum_are_added_by_function, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(sums_are_the_same_for_any_period, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_far_from_any_look_is_not_known, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_line_has_what_all_did_that_it_calls, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(of_many_lines_none_is_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(samples_within_a_time_are_counted, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(samples_in_calls_are_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_many_samples_some_are_looked_up, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_thread_that_was_asked_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(usual_work_is_taken_out, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
