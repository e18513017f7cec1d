/* The clause on the step time: times, their spread, the phase that changed most, and the unknown. */
#include "report/diff/step_change.h"

#include <math.h>

#include "run_builder.h"
#include "tests/unit.h"
#include "tests/report/expect.h"

struct scene {
	struct gp_run_set before, now;
	char text[512];
};

static void begin(struct scene *scene, double before_ns, double now_ns)
{
	*scene = (struct scene){.before = runs_make(2, 0), .now = runs_make(3, 0)};
	runs_set(&scene->before, GP_METRIC_STEP, before_ns);
	runs_set(&scene->before, GP_METRIC_STEP_SPREAD, 4e5);
	runs_set(&scene->now, GP_METRIC_STEP, now_ns);
	runs_set(&scene->now, GP_METRIC_STEP_SPREAD, 5e5);
}

static void say(struct scene *scene)
{
	assert_int_equal(
		gp_step_change_say(&scene->before, &scene->now, scene->text, sizeof(scene->text)),
		0);
}

static void end(struct scene *scene)
{
	gp_run_set_free(&scene->before);
	gp_run_set_free(&scene->now);
}

static void both_times_their_spread_and_the_change_are_told(void **state)
{
	struct scene scene;

	begin(&scene, 22.8e6, 25.1e6);
	say(&scene);
	assert_string_equal(
		scene.text,
		"The step takes 25.10ms (the middle half of the steps spans 500.0us), 22.80ms before (400.0us): 10.1 % slower");
	runs_set(&scene.now, GP_METRIC_STEP, 11.4e6);
	say(&scene);
	expect(scene.text, ": 50.0 % faster");
	runs_set(&scene.now, GP_METRIC_STEP, 22.801e6);
	say(&scene);
	expect(scene.text, ": no change");
	end(&scene);
}

/* A phase that few steps have is no part of the usual step. */
static void the_phase_that_changed_most_is_named(void **state)
{
	struct scene scene;

	begin(&scene, 20e6, 22e6);
	runs_name(&scene.now, GP_NAMED_PHASE, "forward", 60, 10e6);
	runs_name(&scene.now, GP_NAMED_PHASE, "clipping", 60, 1e6);
	runs_name(&scene.now, GP_NAMED_PHASE, "checkpoint", 2, 9e6);
	say(&scene);
	assert_null(strstr(scene.text, "changed most")); /* the other side has no phases */
	runs_name(&scene.before, GP_NAMED_PHASE, "forward", 60, 9.5e6);
	runs_name(&scene.before, GP_NAMED_PHASE, "checkpoint", 2, 100e6);
	say(&scene);
	expect(scene.text, "; clipping changed most: 1.000ms, 0ns before");
	end(&scene);
}

static void a_phase_of_another_name_did_not_change(void **state)
{
	struct scene scene;

	begin(&scene, 20e6, 22e6);
	runs_name(&scene.before, GP_NAMED_PHASE, "solve", 60, 15e6);
	runs_name(&scene.before, GP_NAMED_PHASE, "copy", 60, 1e6);
	runs_name(&scene.now, GP_NAMED_PHASE, "Solver.run", 60, 16e6);
	runs_name(&scene.now, GP_NAMED_PHASE, "copy", 60, 1.5e6);
	say(&scene);
	expect(scene.text, "; copy changed most: 1.500ms, 1.000ms before");
	end(&scene);
}

/* A step of the one is ten iterations of the other. */
static void steps_of_other_work_do_not_compare(void **state)
{
	struct scene scene;
	bool is_other;

	begin(&scene, 1e6, 10e6);
	runs_set(&scene.before, GP_METRIC_LAUNCHES, 5000);
	runs_set(&scene.now, GP_METRIC_LAUNCHES, 4000);
	runs_set(&scene.before, GP_METRIC_STEP_MEAN, 1.5e6);
	runs_set(&scene.now, GP_METRIC_STEP_MEAN, 11e6);
	for (uint32_t i = 0; i < scene.before.count; i++)
		scene.before.runs[i].figures.step_count = 1000;
	for (uint32_t i = 0; i < scene.now.count; i++)
		scene.now.runs[i].figures.step_count = 100;
	say(&scene);
	expect(scene.text,
	       " are not compared: 100 steps of 10.00ms, 1,000 of 1.000ms before. All steps together take 1.100s, 1.500s before");
	gp_step_change_is_other_work(&scene.before, &scene.now, &is_other);
	assert_true(is_other);
	runs_set(&scene.now, GP_METRIC_LAUNCHES, 500); /* it ran for a tenth of the steps */
	say(&scene);
	expect(scene.text, ": 900.0 % slower");
	for (uint32_t i = 0; i < scene.before.count; i++) /* as of a baseline */
		scene.before.runs[i].figures.step_count = 0;
	say(&scene);
	expect(scene.text, ": 900.0 % slower");
	end(&scene);
}

static void an_unknown_step_is_neither_zero_nor_equal(void **state)
{
	struct scene scene;

	begin(&scene, 22.8e6, 25.1e6);
	scene.now.runs[1].figures.values[GP_METRIC_STEP] = (double)NAN;
	say(&scene);
	expect(scene.text, "; 1 of 3 runs have fewer. ");
	scene.before.runs[1].figures.values[GP_METRIC_STEP] = (double)NAN;
	say(&scene);
	assert_string_equal(
		scene.text,
		"The step time is not compared. It needs 5 steps after the warm-up; 1 of 3 runs have fewer, and 1 of 2 runs before have fewer. Record more steps; if they are not found, mark each with a range");
	runs_set(&scene.now, GP_METRIC_STEP, (double)NAN);
	runs_set(&scene.before, GP_METRIC_STEP, (double)NAN);
	say(&scene);
	assert_string_equal(scene.text, "");
	end(&scene);
}

/* Of one run it is known how many steps it has. */
static void a_run_of_few_steps_is_named(void **state)
{
	struct gp_run_set before = runs_make(1, 0), now = runs_make(1, 0);
	char text[512];

	runs_set(&before, GP_METRIC_STEP, 20e6);
	runs_set(&now, GP_METRIC_STEP, (double)NAN);
	now.runs[0].figures.step_count = 3;
	assert_int_equal(gp_step_change_say(&before, &now, text, sizeof(text)), 0);
	expect(text, "; this run has 3 in all. ");
	assert_int_equal(gp_step_change_say(&now, &before, text, sizeof(text)), 0);
	expect(text, "; the run before has 3 in all. ");
	now.runs[0].figures.step_count = 0;
	assert_int_equal(gp_step_change_say(&before, &now, text, sizeof(text)), 0);
	expect(text, "; no main loop was found in this run. ");
	gp_run_set_free(&before);
	gp_run_set_free(&now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_times_their_spread_and_the_change_are_told),
		cmocka_unit_test(the_phase_that_changed_most_is_named),
		cmocka_unit_test(a_phase_of_another_name_did_not_change),
		cmocka_unit_test(steps_of_other_work_do_not_compare),
		cmocka_unit_test(an_unknown_step_is_neither_zero_nor_equal),
		cmocka_unit_test(a_run_of_few_steps_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
