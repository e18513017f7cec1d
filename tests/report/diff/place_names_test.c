/* Phases and leaks of two sets of runs are matched although lines moved. */
#include "report/diff/place_names.h"

#include "report/diff/step_change.h"
#include "run_builder.h"
#include "tests/unit.h"
#include "tests/report/expect.h"

static double value_of(const struct gp_run_set *set, enum gp_named_kind kind, const char *name)
{
	const struct gp_named_figure *row = gp_named_find(&set->runs[0].figures.named[kind], name);

	return row ? row->total_ns : -1;
}

struct scene {
	struct gp_run_set a, b;
};

static void begin(struct scene *scene)
{
	scene->a = runs_make(1, 0);
	scene->b = runs_make(1, 0);
}

static void match(struct scene *scene)
{
	gp_place_names_match(&scene->a, &scene->b);
}

static void end(struct scene *scene)
{
	gp_run_set_free(&scene->a);
	gp_run_set_free(&scene->b);
}

static void moved_phases_and_leaks_get_their_lines_now(void **state)
{
	struct scene scene;
	char text[512];

	begin(&scene);
	runs_set(&scene.a, GP_METRIC_STEP, 100);
	runs_set(&scene.b, GP_METRIC_STEP, 120);
	runs_name(&scene.a, GP_NAMED_PHASE, "World::step (nn.cu:19)", 300, 20);
	runs_name(&scene.a, GP_NAMED_PHASE, "World::step (nn.cu:22)", 300, 50);
	runs_name(&scene.a, GP_NAMED_PHASE, "upload (nn.cu)", 300, 30);
	runs_name(&scene.a, GP_NAMED_LEAK, "World::step (nn.cu:23)", 30, 4096);
	runs_name(&scene.a, GP_NAMED_LINE, "main (nn.cu:31)", 1, 0);
	runs_name(&scene.b, GP_NAMED_PHASE, "World::step (nn.cu:20)", 300, 21);
	runs_name(&scene.b, GP_NAMED_PHASE, "World::step (nn.cu:23)", 300, 69);
	runs_name(&scene.b, GP_NAMED_PHASE, "upload (nn.cu)", 300, 30);
	runs_name(&scene.b, GP_NAMED_LEAK, "World::step (nn.cu:24)", 30, 4096);
	runs_name(&scene.b, GP_NAMED_LINE, "main (nn.cu:32)", 1, 0);
	match(&scene);
	assert_int_equal(value_of(&scene.a, GP_NAMED_PHASE, "World::step (nn.cu:20)"), 20);
	assert_int_equal(value_of(&scene.a, GP_NAMED_PHASE, "World::step (nn.cu:23)"), 50);
	assert_int_equal(value_of(&scene.a, GP_NAMED_PHASE, "upload (nn.cu)"), 30);
	assert_int_equal(value_of(&scene.a, GP_NAMED_LEAK, "World::step (nn.cu:24)"), 4096);
	assert_int_equal(gp_step_change_say(&scene.a, &scene.b, text, sizeof(text)), 0);
	expect(text, "World::step (nn.cu:23) changed most: 69ns, 50ns before");
	end(&scene);
}

/* Never one row for two places, because one has now the number that the other had. */
static void a_line_that_is_gone_keeps_a_row(void **state)
{
	struct scene scene;

	begin(&scene);
	runs_name(&scene.a, GP_NAMED_LEAK, "load (a.py:10)", 1, 1000);
	runs_name(&scene.a, GP_NAMED_LEAK, "load (a.py:15)", 1, 1500);
	runs_name(&scene.a, GP_NAMED_LINE, "load (a.py:8)", 1, 0);
	runs_name(&scene.a, GP_NAMED_LINE, "<module> (a.py:40)", 1, 0);
	runs_name(&scene.b, GP_NAMED_LEAK, "load (a.py:15)", 1, 1);
	runs_name(&scene.b, GP_NAMED_LINE, "load (a.py:13)", 1, 0);
	runs_name(&scene.b, GP_NAMED_LINE, "<module> (a.py:45)", 1, 0);
	match(&scene);
	assert_int_equal(value_of(&scene.a, GP_NAMED_LEAK, "load (a.py:15)"), 1000);
	assert_int_equal(value_of(&scene.a, GP_NAMED_LEAK, "load (a.py:15 in A)"), 1500);
	end(&scene);
}

static void ambiguous_places_stay_apart(void **state)
{
	struct scene scene;

	begin(&scene);
	runs_name(&scene.a, GP_NAMED_LEAK, "load (a.py:10)", 1, 1000);
	runs_name(&scene.b, GP_NAMED_LEAK, "load (a.py:20)", 1, 1);
	runs_name(&scene.b, GP_NAMED_LEAK, "load (a.py:23)", 1, 2);
	match(&scene);
	assert_int_equal(value_of(&scene.a, GP_NAMED_LEAK, "load (a.py:10)"), 1000);
	end(&scene);
}

/* A shift is that of one file. */
static void files_are_apart(void **state)
{
	struct scene scene;

	begin(&scene);
	runs_name(&scene.a, GP_NAMED_LEAK, "load (a.py:10)", 1, 1000);
	runs_name(&scene.a, GP_NAMED_LEAK, "load (b.py:10)", 1, 2000);
	runs_name(&scene.a, GP_NAMED_LEAK, "load (c.py:10)", 1, 3000);
	runs_name(&scene.b, GP_NAMED_LEAK, "load (a.py:10)", 1, 1);
	runs_name(&scene.b, GP_NAMED_LEAK, "load (b.py:12)", 1, 2);
	runs_name(&scene.b, GP_NAMED_LEAK, "load (d.py:10)", 1, 4);
	match(&scene);
	assert_int_equal(value_of(&scene.a, GP_NAMED_LEAK, "load (a.py:10)"), 1000);
	assert_int_equal(value_of(&scene.a, GP_NAMED_LEAK, "load (b.py:12)"), 2000);
	assert_int_equal(value_of(&scene.a, GP_NAMED_LEAK, "load (c.py:10)"), 3000);
	end(&scene);
}

static void runs_without_places_stay_so(void **state)
{
	struct scene scene;

	begin(&scene);
	match(&scene);
	runs_name(&scene.a, GP_NAMED_PHASE, "forward", 5, 7);
	match(&scene);
	assert_int_equal(value_of(&scene.a, GP_NAMED_PHASE, "forward"), 7);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moved_phases_and_leaks_get_their_lines_now),
		cmocka_unit_test(a_line_that_is_gone_keeps_a_row),
		cmocka_unit_test(ambiguous_places_stay_apart),
		cmocka_unit_test(files_are_apart),
		cmocka_unit_test(runs_without_places_stay_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
