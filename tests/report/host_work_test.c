#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "report/host_looks.h"
#include "report/host_work.h"
#include "tests/report/stack_builder.h"

#define MS 1000000u

static struct scene {
	struct build b;
	struct gp_host_places *places;
	struct gp_tally tally;
	uint32_t first, line, other; /* line is another one of first() */
} scene;

static int set_up(void **state)
{
	(void)state;
	scene.b = build_begin(1);
	scene.places = gp_host_places_new();
	scene.first = build_python(&scene.b, BUILD_OUTERMOST, "/home/me/train.py", "first", 1);
	scene.line = build_python(&scene.b, BUILD_OUTERMOST, "/home/me/train.py", "first", 5);
	scene.other = build_python(&scene.b, BUILD_OUTERMOST, "/home/me/train.py", "other", 2);
	build_stacks_end(&scene.b);
	scene.b.model->pid = 100;
	return scene.places ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
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

static bool add(uint64_t sum, uint32_t thread, uint64_t start_ms, uint64_t end_ms)
{
	return gp_host_work_add(&scene.tally, sum, scene.places, scene.b.model, &thread,
				start_ms * MS, end_ms * MS);
}

/* The function of that rank in a sum. */
static void assert_function(uint64_t sum, uint32_t rank, const char *own, uint64_t total_ms,
			    uint64_t looks)
{
	uint32_t count;
	struct gp_host_function *functions =
		gp_host_work_functions(&scene.tally, sum, scene.places, &count);

	assert_non_null(functions);
	assert_true(rank < count);
	assert_string_equal(gp_host_places_at(scene.places, functions[rank].place).own, own);
	assert_int_equal(functions[rank].total_ns, total_ms * MS);
	assert_int_equal(functions[rank].looks, looks);
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

	(void)state;
	set_samples(samples, 3);
	assert_true(add(0, 100, 0, 100));
	assert_function(0, 0, "other (train.py:2)", 60, 2);
	assert_function(0, 1, "first (train.py:1)", 20, 2);
	assert_int_equal(gp_host_look_time(scene.b.model, 0).end_ns, 20 * MS);
	assert_int_equal(gp_host_look_time(scene.b.model, 1).start_ns, 20 * MS);
	assert_int_equal(gp_host_look_time(scene.b.model, 1).end_ns, 80 * MS);
	/* what is outside of the time counts for nothing, nor do the looks of a run that are */
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

	(void)state;
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

	(void)state;
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

	(void)state;
	set_samples(samples, 2);
	assert_true(add(0, 100, 1000, 3000));
	assert_function(0, 0, "first (train.py:1)", 125, 1);
	assert_function(0, 1, "other (train.py:2)", 125, 0);
	assert_false(add(1, 100, 1500, 2500));
	assert_count(1, 0);
}

static void the_thread_that_was_asked_for_else_the_main_one(void **state)
{
	struct gp_sample samples[] = {build_sample(100, scene.first, 10, 50),
				      build_sample(101, scene.other, 10, 20)};

	(void)state;
	set_samples(samples, 2);
	assert_true(add(0, 101, 0, 100));
	assert_function(0, 0, "other (train.py:2)", 10, 2);
	assert_true(add(1, 102, 0, 100));
	assert_function(1, 0, "first (train.py:1)", 40, 2);
	gp_host_work_add_all(&scene.tally, 2, scene.places, scene.b.model);
	assert_function(2, 0, "first (train.py:1)", 40, 2);
	assert_function(2, 1, "other (train.py:2)", 10, 2);
	set_samples(samples, 0);
	assert_false(add(3, 101, 0, 100));
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
		cmocka_unit_test_setup_teardown(the_thread_that_was_asked_for_else_the_main_one,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
