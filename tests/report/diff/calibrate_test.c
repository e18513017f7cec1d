#include "tests/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff/calibrate.h"
#include "report/diff/thresholds.h"
#include "run_builder.h"

static void noise_is_the_upper_bound_of_the_deviation(void **state)
{
	const double equal[] = {5, 5, 5}, two[] = {-1, 1}, same[] = {9, 11};
	double many[64];

	for (int i = 0; i < 64; i++)
		many[i] = i % 2 ? 101 : 99;
	assert_true(gp_noise_of(equal, 3) == 0);
	assert_true(fabs(gp_noise_of(two, 2) - sqrt(2) * (1 + 1.645 / sqrt(2))) < 1e-12);
	assert_true(fabs(gp_noise_of(same, 2) - gp_noise_of(two, 2)) < 1e-12);
	/* the more runs, the less may have been missed */
	assert_true(gp_noise_of(many, 64) > 1 && gp_noise_of(many, 64) < 1.2);
	assert_true(gp_noise_of(many, 10) > gp_noise_of(many, 64));
}

static void set_kernel(struct gp_run_set *set, uint32_t run, uint32_t kernel, double total_ns)
{
	set->runs[run].figures.named[GP_NAMED_KERNEL].rows[kernel].total_ns = total_ns;
}

static void what_varies_gets_a_threshold(void **state)
{
	struct gp_run_set set = runs_make(10, 3);
	struct gp_thresholds thresholds;
	struct gp_calibration calibration;
	char *text = NULL, message[256];
	size_t length;
	FILE *out = open_memstream(&text, &length);

	runs_set(&set, GP_METRIC_LAUNCHES, 7);
	runs_set(&set, GP_METRIC_BYTES_LEAKED, (double)NAN);
	runs_set(&set, GP_METRIC_KERNEL_TIME, 1e9);
	for (uint32_t i = 0; i < set.count; i++) {
		set.runs[i].figures.values[GP_METRIC_WALL] = 1e9 + 1e7 * (i % 3);
		set.runs[i].figures.values[GP_METRIC_GPU_IDLE] = 1e8 * i;
		set.runs[i].figures.values[GP_METRIC_COPY_TIME] = 1e9 + i;
		set_kernel(&set, i, 0, 5e8 + 1e6 * i);
		set_kernel(&set, i, 1, 1e6 + 1e5 * i); /* less than 1 % of all kernels */
		set_kernel(&set, i, 2, 2e8);           /* does not vary */
	}
	assert_non_null(out);
	gp_calibrate(out, &set, &calibration);
	fclose(out);
	assert_int_equal(calibration.thresholds, 3);
	assert_int_equal(calibration.useless, 0);
	assert_null(strstr(text, "USELESS"));
	gp_thresholds_open(&thresholds);
	assert_int_equal(gp_thresholds_parse(&thresholds, "file", text, message, sizeof(message)),
			 0);
	assert_true(thresholds.metrics[GP_METRIC_WALL].given);
	assert_true(thresholds.metrics[GP_METRIC_WALL].share > 0.016);
	assert_true(thresholds.metrics[GP_METRIC_WALL].share < 0.03);
	assert_true(thresholds.metrics[GP_METRIC_COPY_TIME].share == GP_CALIBRATE_SHARE);
	assert_false(thresholds.metrics[GP_METRIC_LAUNCHES].given);
	assert_false(thresholds.metrics[GP_METRIC_BYTES_LEAKED].given);
	assert_false(thresholds.metrics[GP_METRIC_GPU_IDLE].given);
	assert_int_equal(thresholds.kernel_count, 1);
	assert_true(gp_thresholds_of_kernel(&thresholds, "kernel_00")->given);
	gp_thresholds_close(&thresholds);
	free(text);
	gp_run_set_free(&set);
}

/* It is still a file of thresholds, which says what of it to do without. */
static void what_varies_too_much_is_said(void **state)
{
	struct gp_run_set set = runs_make(10, 0);
	struct gp_thresholds thresholds;
	struct gp_calibration calibration;
	char *text = NULL, message[256];
	size_t length;
	FILE *out = open_memstream(&text, &length);

	for (uint32_t i = 0; i < set.count; i++) {
		set.runs[i].figures.values[GP_METRIC_WALL] = 1e9 * (1 + i % 3);
		set.runs[i].figures.values[GP_METRIC_COPY_TIME] = 1e9 + 1e6 * i;
	}
	assert_non_null(out);
	gp_calibrate(out, &set, &calibration);
	fclose(out);
	assert_int_equal(calibration.thresholds, 2);
	assert_int_equal(calibration.useless, 1);
	assert_non_null(strstr(text, "%: USELESS, see the end\nwall "));
	assert_non_null(strstr(text, "# 1 of these 2 thresholds are above 50.0 %: "));
	gp_thresholds_open(&thresholds);
	assert_int_equal(gp_thresholds_parse(&thresholds, "file", text, message, sizeof(message)),
			 0);
	assert_true(thresholds.metrics[GP_METRIC_WALL].share > GP_CALIBRATE_USELESS);
	gp_thresholds_close(&thresholds);
	free(text);
	gp_run_set_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_is_the_upper_bound_of_the_deviation),
		cmocka_unit_test(what_varies_gets_a_threshold),
		cmocka_unit_test(what_varies_too_much_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
