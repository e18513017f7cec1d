#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/host_work.h"
#include "tests/report/stack_builder.h"

#define MS 1000000u

static struct scene {
	struct build b;
	struct gp_host_places *places;
	uint32_t first, other;
} scene;

static int set_up(void **state)
{
	(void)state;
	scene.b = build_begin(1);
	scene.places = gp_host_places_new();
	scene.first = build_python(&scene.b, BUILD_OUTERMOST, "/home/me/train.py", "first", 1);
	scene.other = build_python(&scene.b, BUILD_OUTERMOST, "/home/me/train.py", "other", 2);
	build_stacks_end(&scene.b);
	scene.b.model->pid = 100;
	return scene.places ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	gp_host_places_free(scene.places);
	scene.b.model->samples = NULL; /* the tests' own */
	gp_model_free(scene.b.model);
	return 0;
}

static struct gp_host_work ask(struct gp_sample *samples, uint32_t count, uint32_t thread,
			       uint64_t start_ms, uint64_t end_ms)
{
	scene.b.model->samples = samples;
	scene.b.model->sample_count = count;
	return gp_host_work_of(scene.places, scene.b.model, thread, start_ms * MS, end_ms * MS);
}

static struct gp_sample sample(uint32_t thread, uint32_t stack, uint64_t start_ms, uint64_t end_ms)
{
	return (struct gp_sample){.start_ns = start_ms * MS,
				  .end_ns = end_ms * MS,
				  .thread_id = thread,
				  .stack = stack,
				  .count = end_ms > start_ms ? 2 : 1};
}

static void assert_work(const struct gp_host_work *work, const char *own, uint64_t place_ms,
			uint64_t known_ms, uint64_t looks)
{
	assert_string_equal(gp_host_places_at(scene.places, work->place).own, own);
	assert_int_equal(work->place_ns, place_ms * MS);
	assert_int_equal(work->known_ns, known_ms * MS);
	assert_int_equal(work->looks, looks);
}

static void a_look_reaches_half_way_to_the_next(void **state)
{
	struct gp_sample samples[] = {sample(100, scene.first, 10, 10),
				      sample(100, scene.other, 30, 70),
				      sample(100, scene.first, 90, 90)};
	struct gp_host_work work = ask(samples, 3, 100, 0, 100);

	(void)state;
	assert_work(&work, "other (train.py:2)", 60, 80, 4);
	/* what is outside of the time counts for nothing, nor do the looks of a run that are */
	work = ask(samples, 3, 100, 0, 25);
	assert_work(&work, "first (train.py:1)", 10, 15, 2);
}

static void what_is_far_from_any_look_is_not_known(void **state)
{
	struct gp_sample samples[] = {sample(100, scene.first, 1000, 1000),
				      sample(100, scene.other, 3000, 3000)};
	struct gp_host_work work = ask(samples, 2, 100, 1000, 3000);

	(void)state;
	assert_work(&work, "first (train.py:1)", 125, 250, 2);
	work = ask(samples, 2, 100, 1500, 2500);
	assert_int_equal(work.place, UINT32_MAX);
	assert_int_equal(work.looks, 0);
}

static void the_thread_that_was_asked_for_else_the_main_one(void **state)
{
	struct gp_sample samples[] = {sample(100, scene.first, 10, 50),
				      sample(101, scene.other, 10, 20)};
	struct gp_host_work work = ask(samples, 2, 101, 0, 100);

	(void)state;
	assert_work(&work, "other (train.py:2)", 10, 10, 2);
	work = ask(samples, 2, 102, 0, 100);
	assert_work(&work, "first (train.py:1)", 40, 40, 2);
	work = ask(samples, 0, 101, 0, 100);
	assert_int_equal(work.place, UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_look_reaches_half_way_to_the_next, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_far_from_any_look_is_not_known, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_thread_that_was_asked_for_else_the_main_one,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
