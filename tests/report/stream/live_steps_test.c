/* live_steps: the step of a program is found by the kernels that repeat until now. */
#include "tests/unit.h"

#include <string.h>

#include "report/stream/live_steps.h"

#define MS UINT64_C(1000000)

struct scene {
	struct gp_live_steps steps;
	uint64_t now_ns;
};

/* Kernels that are named by letters, 1 ms apart; a blank is 10 ms without any. */
static void run(struct scene *scene, const char *kernels, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++)
		for (const char *at = kernels; *at; at++) {
			scene->now_ns += *at == ' ' ? 10 * MS : MS;
			if (*at != ' ')
				assert_int_equal(gp_live_steps_take(&scene->steps, 1, 7,
								    (uint32_t)*at, scene->now_ns),
						 0);
		}
}

static uint64_t step_of(struct scene *scene)
{
	uint64_t step_ns;

	assert_int_equal(gp_live_steps_find(&scene->steps, &step_ns), 0);
	gp_live_steps_free(&scene->steps);
	return step_ns;
}

static void the_step_is_what_repeats(void **state)
{
	static const struct {
		const char *before, *step;
		uint32_t times;
		const char *after;
		uint64_t step_ns;
	} cases[] = {
		{"", "abc", 4, "", 3 * MS},
		{"xyzzy", "abc", 4, "ab", 3 * MS},        /* a warm-up; in the middle of a step */
		{"", "lmlmlmlmo ", 3, "", 19 * MS},       /* layers are no step */
		{"", "lmlmlmlmo", 3, "lmlmlm", 9 * MS},   /* nor are they at the end */
		{"", "aaaa", 3, "", MS},                  /* all alike */
		{"abcdefghijklmnop", "q", 1, "", 0},      /* nothing repeats */
		{"abcdefghijklmnopqrst", "uv", 3, "", 0}, /* too little repeats */
		{"", "ab", 1, "", 0},
		{"", "", 0, "", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene scene = {0};

		run(&scene, cases[i].before, 1);
		run(&scene, cases[i].step, cases[i].times);
		run(&scene, cases[i].after, 1);
		assert_int_equal(step_of(&scene), cases[i].step_ns);
	}
}

/* One of four steps takes longer by 10 ms. */
static void a_slow_step_does_not_count(void **state)
{
	struct scene scene = {0};

	(void)state;
	run(&scene, "abc", 3);
	run(&scene, "a bc", 1);
	run(&scene, "abc", 3);
	assert_int_equal(step_of(&scene), 3 * MS);
}

static void the_last_kernels_of_many_are_kept(void **state)
{
	struct scene scene = {0};

	(void)state;
	run(&scene, "abcde", GP_LIVE_STEPS_KERNELS);
	run(&scene, "fg ", GP_LIVE_STEPS_KERNELS);
	assert_int_equal(step_of(&scene), 12 * MS);
}

/* Its own kernels repeat; those of the other stream, in between, are fewer. */
static void the_stream_with_most_kernels_counts(void **state)
{
	struct scene scene = {0};

	(void)state;
	assert_int_equal(gp_live_steps_take(&scene.steps, 1, 20, 1, 0), 0);
	for (uint32_t i = 0; i < 20; i++) {
		run(&scene, "abc", 1);
		assert_int_equal(gp_live_steps_take(&scene.steps, 1, 20, i, scene.now_ns), 0);
	}
	assert_int_equal(step_of(&scene), 3 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_step_is_what_repeats),
		cmocka_unit_test(a_slow_step_does_not_count),
		cmocka_unit_test(the_last_kernels_of_many_are_kept),
		cmocka_unit_test(the_stream_with_most_kernels_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
