/* Which iterations are warm-up, steady and slow, and the parts of the run around them. */
#include "report/analysis/loop/steps.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

#define MS 1000000ull

struct run {
	struct gp_model *model;
	struct gp_iteration rows[32];
	struct gp_iterations iterations;
	struct gp_steps steps;
};

/*
 * Steps of so many ms, one after the other from 5 ms on; after one of less than zero ms the loop is
 * left for so long.  The first call is at 1 ms, the last one ends 2 ms after the last step.
 */
static void open(struct run *run, const int *lengths_ms, uint32_t count)
{
	struct build b = build_begin(1);
	uint64_t at_ns = 5 * MS;

	*run = (struct run){.iterations = {.rows = run->rows}};
	build_call(&b, 100, BUILD_DEVICE_SYNC, MS, MS, 0);
	for (uint32_t i = 0; i < count; i++) {
		struct gp_iteration *row = &run->rows[run->iterations.count];

		if (lengths_ms[i] < 0) {
			row[-1].ends_stretch = true;
			at_ns += (uint64_t)-lengths_ms[i] * MS;
			continue;
		}
		row->start_ns = at_ns;
		at_ns += (uint64_t)lengths_ms[i] * MS;
		row->end_ns = at_ns;
		run->iterations.count++;
	}
	build_call(&b, 100, BUILD_DEVICE_SYNC, at_ns + MS, MS, 0);
	run->model = build_end(&b);
	assert_int_equal(gp_steps_of(&run->steps, &run->iterations, run->model), 0);
}

static void close_run(struct run *run)
{
	gp_steps_free(&run->steps);
	gp_model_free(run->model);
}

#define OPEN(run, ...)                                                                             \
	open(run, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static void check_part(const struct run *run, enum gp_run_part part, uint32_t steps, uint64_t ms)
{
	assert_int_equal(run->steps.counts[part], steps);
	assert_int_equal(run->steps.ns[part], ms * MS);
}

static void slow_steps_at_the_beginning_are_warm_up(void **state)
{
	struct run run;

	OPEN(&run, 90, 20, 10, 10, 30, 10, 12, 10, 10);
	assert_int_equal(run.steps.median_ns, 10 * MS);
	check_part(&run, GP_RUN_STARTUP, 0, 4);
	check_part(&run, GP_RUN_WARM_UP, 2, 110);
	check_part(&run, GP_RUN_STEADY, 6, 62);
	check_part(&run, GP_RUN_SLOW, 1, 30);
	check_part(&run, GP_RUN_BETWEEN, 0, 0);
	check_part(&run, GP_RUN_SHUTDOWN, 0, 2);
	assert_int_equal(run.steps.parts[4], GP_RUN_SLOW);
	assert_int_equal(run.steps.parts[6], GP_RUN_STEADY);
	assert_int_equal(gp_steps_recurring(&run.steps), 7);
	assert_int_equal(gp_steps_recurring_ns(&run.steps), 92 * MS);
	assert_int_equal(gp_steps_mean_ns(&run.steps), 92 * MS / 7);
	close_run(&run);
}

/* gpuprof itself held up the sixth step; the fifth is slow by itself. */
static void a_step_in_which_counters_were_read_is_not_slow(void **state)
{
	struct gp_hw_window window = {.start_ns = 78 * MS, .end_ns = 90 * MS};
	struct run run;

	OPEN(&run, 10, 10, 10, 10, 30, 30, 10, 10, 10, 10, 10, 10);
	assert_int_equal(run.steps.counts[GP_RUN_SLOW], 2);
	gp_steps_free(&run.steps);
	run.model->hw_windows = &window;
	run.model->hw_window_count = 1;
	assert_int_equal(gp_steps_of(&run.steps, &run.iterations, run.model), 0);
	assert_int_equal(run.steps.parts[4], GP_RUN_SLOW);
	assert_int_equal(run.steps.parts[5], GP_RUN_STEADY);
	run.model->hw_windows = NULL;
	run.model->hw_window_count = 0;
	close_run(&run);
}

/* Every third step takes twice as long, as it does for this loop; six times as long does none. */
static void long_steps_are_slow_where_many_are_longer_than_most(void **state)
{
	struct run run;

	OPEN(&run, 10, 10, 20, 10, 10, 20, 10, 10, 60, 10, 10, 20, 10, 10, 20, 10, 10, 20, 10);
	check_part(&run, GP_RUN_SLOW, 1, 60);
	assert_int_equal(run.steps.parts[8], GP_RUN_SLOW);
	assert_int_equal(run.steps.median_ns, 10 * MS);
	close_run(&run);
}

/* Without the warm-up and the slow step of 30 ms; the last one's length is not known. */
static void the_median_and_its_spread_are_of_steady_steps(void **state)
{
	struct run run;

	OPEN(&run, 90, 10, 11, 12, 13, 14, 15, 16, 30, 1);
	assert_int_equal(run.steps.median_ns, 13 * MS);
	assert_int_equal(run.steps.spread_ns, 4 * MS);
	close_run(&run);
}

static void slow_begins_at_1_3_times_the_median(void **state)
{
	struct run run;

	OPEN(&run, 100, 100, 100, 129, 130, 100, 100, 100);
	assert_int_equal(run.steps.parts[3], GP_RUN_STEADY);
	assert_int_equal(run.steps.parts[4], GP_RUN_SLOW);
	check_part(&run, GP_RUN_WARM_UP, 0, 0);
	close_run(&run);
}

/* The last steps of both stretches end early, with their own operations. */
static void the_time_between_stretches_is_of_no_step(void **state)
{
	struct run run;

	OPEN(&run, 10, 10, 10, 2, -500, 10, 10, 10, 2);
	assert_int_equal(run.steps.median_ns, 10 * MS);
	check_part(&run, GP_RUN_STEADY, 8, 64);
	check_part(&run, GP_RUN_BETWEEN, 0, 500);
	assert_int_equal(gp_steps_part_at(&run.steps, 5 * MS - 1), GP_RUN_STARTUP);
	assert_int_equal(gp_steps_part_at(&run.steps, 5 * MS), GP_RUN_STEADY);
	assert_int_equal(gp_steps_part_at(&run.steps, 37 * MS - 1), GP_RUN_STEADY);
	assert_int_equal(gp_steps_part_at(&run.steps, 37 * MS), GP_RUN_BETWEEN);
	assert_int_equal(gp_steps_part_at(&run.steps, 537 * MS), GP_RUN_STEADY);
	assert_int_equal(gp_steps_part_at(&run.steps, UINT64_MAX), GP_RUN_SHUTDOWN);
	close_run(&run);
}

/* Every third step does more: that is the loop. */
static void what_is_frequent_is_not_slow(void **state)
{
	struct run run;

	OPEN(&run, 10, 10, 30, 10, 10, 30, 10, 10, 30, 10, 10, 30);
	check_part(&run, GP_RUN_SLOW, 0, 0);
	check_part(&run, GP_RUN_STEADY, 12, 200);
	close_run(&run);
}

/* One gap may be the change to another phase; several are epochs, say. */
static void two_gaps_recur(void **state)
{
	struct run run;

	OPEN(&run, 10, 10, 10, 10, -500, 10, 10, 10, 10);
	assert_int_equal(gp_steps_recurring_ns(&run.steps), 80 * MS);
	close_run(&run);
	OPEN(&run, 10, 10, 10, 10, -500, 10, 10, 10, 10, -500, 10, 10);
	assert_int_equal(gp_steps_recurring_ns(&run.steps), 1100 * MS);
	assert_int_equal(gp_steps_recurring(&run.steps), 10);
	close_run(&run);
}

/* All slow, until it becomes faster in the end: that is no warm-up of the whole run. */
static void most_steps_are_never_warm_up(void **state)
{
	struct run run;

	OPEN(&run, 30, 30, 30, 30, 30, 10, 10);
	check_part(&run, GP_RUN_WARM_UP, 0, 0);
	check_part(&run, GP_RUN_STEADY, 7, 170);
	close_run(&run);
}

static void without_a_loop_there_are_no_parts(void **state)
{
	struct run run;

	open(&run, NULL, 0);
	assert_int_equal(run.steps.count, 0);
	assert_int_equal(gp_steps_recurring_ns(&run.steps), 0);
	assert_int_equal(gp_steps_part_at(&run.steps, 3 * MS), GP_RUN_STARTUP);
	close_run(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_steps_at_the_beginning_are_warm_up),
		cmocka_unit_test(a_step_in_which_counters_were_read_is_not_slow),
		cmocka_unit_test(long_steps_are_slow_where_many_are_longer_than_most),
		cmocka_unit_test(the_median_and_its_spread_are_of_steady_steps),
		cmocka_unit_test(slow_begins_at_1_3_times_the_median),
		cmocka_unit_test(the_time_between_stretches_is_of_no_step),
		cmocka_unit_test(what_is_frequent_is_not_slow),
		cmocka_unit_test(two_gaps_recur),
		cmocka_unit_test(most_steps_are_never_warm_up),
		cmocka_unit_test(without_a_loop_there_are_no_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
