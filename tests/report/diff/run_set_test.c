#include "tests/unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpuprof/count.h"
#include "gpuprof/counter.h"
#include "report/diff/run_set.h"
#include "report/model/losses.h"
#include "tests/lib/temporary.h"
#include "tests/report/trace_builder.h"

/* Two launches and their kernels, each of 100 ns; no end yet. */
static void begin(struct gp_builder *b)
{
	gp_builder_init(b);
	gp_builder_start(b);
	gp_builder_chunk(b, 1, 100);
	for (uint32_t i = 1; i <= 2; i++) {
		gp_builder_call(b, GP_TEST_LAUNCH, i, 1000 * i, 50);
		gp_builder_kernel(b, i, 1000 * i + 100, 1000 * i + 200);
	}
}

static void add_counter(struct gp_builder *b, enum gp_counter counter, uint64_t value)
{
	gp_builder_chunk(b, 0, 0);
	gp_builder_add(b, &(struct gp_record_counter){.kind = GP_RECORD_COUNTER,
						      .counter = (uint16_t)counter,
						      .value = value,
						      .ticks = GP_TEST_AT_TICK(5000)});
}

static const char *save(struct gp_builder *b)
{
	gp_builder_end(b, 10000);
	return gp_builder_save(b);
}

static void load(struct gp_run_set *set, const char *path)
{
	char message[4352] = "", *paths[] = {(char *)path};

	if (gp_run_set_load(set, paths, 1, message, sizeof(message)) != 0)
		fail_msg("%s", message);
}

static void a_whole_trace_is_a_run(void **state)
{
	struct gp_run_set set = {0};
	struct gp_builder b;
	double values[1];

	begin(&b);
	load(&set, save(&b));
	assert_int_equal(set.count, 1);
	assert_null(set.runs[0].partial);
	gp_run_set_metric(&set, GP_METRIC_LAUNCHES, values);
	assert_true(values[0] == 2);
	gp_run_set_free(&set);
	gp_builder_free(&b);
}

static void assert_partial(const char *path, const char *why)
{
	struct gp_run_set set = {0};

	load(&set, path);
	assert_non_null(set.runs[0].partial);
	if (!strstr(set.runs[0].partial, why) || !strstr(set.runs[0].partial, "gpuprof summary"))
		fail_msg("%s", set.runs[0].partial);
	gp_run_set_free(&set);
}

static void what_is_lost_makes_a_run_partial(void **state)
{
	static const enum gp_counter losses[] = {
		GP_COUNTER_LOST_CUPTI,          GP_COUNTER_LOST_NO_BUFFER,
		GP_COUNTER_UNKNOWN_RECORDS,     GP_COUNTER_LOST_BUFFER_ENDS,
		GP_COUNTER_LOST_RING_FULL,      GP_COUNTER_LOST_NESTED,
		GP_COUNTER_LOST_DISK_FULL,      GP_COUNTER_LOST_MAX_FILE,
		GP_COUNTER_EXIT_FLUSH_TIMEOUTS, GP_COUNTER_EXIT_FLUSHES_REFUSED,
		GP_COUNTER_LEFT_OUT_OLD,
	};

	for (size_t i = 0; i < COUNT(losses); i++) {
		struct gp_builder b;

		begin(&b);
		gp_builder_call(&b, GP_TEST_LAUNCH, 3, 3000,
				50); /* whose record is what was lost */
		add_counter(&b, losses[i], 3);
		assert_partial(save(&b), losses[i] == GP_COUNTER_LEFT_OUT_OLD
						 ? "(--keep-last)"
						 : gp_loss_table[losses[i]].sentence);
		gp_builder_free(&b);
	}
}

static void a_trace_without_end_or_kernels_is_partial(void **state)
{
	struct gp_builder b;

	begin(&b);
	assert_partial(gp_builder_save(&b), "killed or crashed");
	gp_builder_free(&b);
	begin(&b);
	gp_builder_call(&b, GP_TEST_LAUNCH, 3, 3000, 50);
	assert_partial(save(&b), "1 launch without GPU record");
	gp_builder_free(&b);
}

static void a_folder_is_one_run_of_all_its_traces(void **state)
{
	char folder[] = "/tmp/gpuprof-runs-XXXXXX", path[64], message[4352], *paths[] = {folder};
	struct gp_run_set set = {0};
	struct gp_builder b[2];
	double values[1];

	assert_non_null(temporary_folder(folder));
	assert_int_equal(gp_run_set_load(&set, paths, 1, message, sizeof(message)), -ENODATA);
	assert_non_null(strstr(message, "has no trace"));
	for (int i = 0; i < 2; i++) {
		begin(&b[i]);
		snprintf(path, sizeof(path), "%s/%d.gpuprof", folder, i);
		assert_int_equal(symlink(save(&b[i]), path), 0);
	}
	snprintf(path, sizeof(path), "%s/0.json",
		 folder); /* a Chrome trace beside its own is not read */
	assert_int_equal(symlink("/dev/null", path), 0);
	load(&set, folder);
	unlink(path);
	assert_int_equal(set.count, 1);
	gp_run_set_metric(&set, GP_METRIC_LAUNCHES, values);
	assert_true(values[0] == 4);
	gp_run_set_free(&set);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%d.gpuprof", folder, i);
		unlink(path);
		gp_builder_free(&b[i]);
	}
	rmdir(folder);
}

static void runs_of_other_options_are_no_set(void **state)
{
	struct gp_run_set set = {0};
	struct gp_builder one, other;
	char message[4352];
	char *paths[2];

	begin(&one);
	begin(&other);
	gp_builder_string(&other, GP_STRING_INFO, GP_INFO_OPTIONS, 0,
			  "OUTPUT=elsewhere\nGRAPHS=graph");
	paths[0] = (char *)save(&one);
	paths[1] = (char *)save(&other);
	assert_int_equal(gp_run_set_load(&set, paths, 2, message, sizeof(message)), -EXDEV);
	assert_non_null(strstr(message, "recording options: the default and GRAPHS=graph"));
	gp_run_set_free(&set);
	/* where the files go is no difference */
	gp_builder_free(&other);
	begin(&other);
	gp_builder_string(&other, GP_STRING_INFO, GP_INFO_OPTIONS, 0, "OUTPUT=elsewhere");
	paths[1] = (char *)save(&other);
	assert_int_equal(gp_run_set_load(&set, paths, 2, message, sizeof(message)), 0);
	gp_run_set_free(&set);
	gp_builder_free(&one);
	gp_builder_free(&other);
}

static void what_is_no_trace_is_said(void **state)
{
	char message[4352], *paths[] = {"/dev/null"};
	struct gp_run_set set = {0};

	assert_true(gp_run_set_load(&set, paths, 1, message, sizeof(message)) < 0);
	assert_non_null(strstr(message, "/dev/null"));
	gp_run_set_free(&set);
}

static void a_median_is_the_middle(void **state)
{
	double odd[] = {3, 1, 2}, even[] = {4, 1, 2, 3}, unknown[] = {1, (double)NAN};

	assert_true(gp_median(odd, 3) == 2);
	assert_true(gp_median(even, 4) == 2.5);
	assert_true(isnan(gp_median(unknown, 2)));
	assert_true(isnan(gp_median(odd, 0)));
}

static const char *middle_of(const double *walls, uint32_t count)
{
	static struct gp_run_figures runs[4];
	static char names[][2] = {"a", "b", "c", "d"};
	const struct gp_run_set set = {.runs = runs, .count = count};

	for (uint32_t i = 0; i < count; i++) {
		runs[i].name = names[i];
		runs[i].figures.values[GP_METRIC_WALL] = walls[i];
	}
	return gp_run_set_middle(&set)->name;
}

static void the_middle_run_is_by_wall_time(void **state)
{
	assert_string_equal(middle_of((const double[]){7}, 1), "a");
	assert_string_equal(middle_of((const double[]){9, 5, 7}, 3), "c");
	assert_string_equal(middle_of((const double[]){5, 5, 5}, 3), "b");
	assert_string_equal(middle_of((const double[]){8, 2, 6, 4}, 4), "d");
	assert_string_equal(middle_of((const double[]){NAN, NAN}, 2), "a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_middle_run_is_by_wall_time),
		cmocka_unit_test(a_whole_trace_is_a_run),
		cmocka_unit_test(what_is_lost_makes_a_run_partial),
		cmocka_unit_test(a_trace_without_end_or_kernels_is_partial),
		cmocka_unit_test(a_folder_is_one_run_of_all_its_traces),
		cmocka_unit_test(runs_of_other_options_are_no_set),
		cmocka_unit_test(what_is_no_trace_is_said),
		cmocka_unit_test(a_median_is_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
