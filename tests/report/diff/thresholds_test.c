#include "tests/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/diff/thresholds.h"
#include "tests/lib/temporary.h"

static void read_text(struct gp_thresholds *thresholds, const char *text)
{
	char message[256] = "";

	gp_thresholds_open(thresholds);
	if (gp_thresholds_parse(thresholds, "file", text, message, sizeof(message)) != 0)
		fail_msg("%s", message);
}

static void assert_threshold(const struct gp_threshold *threshold, double share, double amount)
{
	assert_true(threshold->share == share);
	assert_true(threshold->amount == amount);
	assert_false(threshold->off);
}

static void what_is_not_named_has_its_default(void **state)
{
	struct gp_thresholds thresholds;

	read_text(&thresholds, "\n# nothing\n   \n");
	assert_threshold(&thresholds.metrics[GP_METRIC_LAUNCHES], 0, 0);
	assert_threshold(&thresholds.metrics[GP_METRIC_BYTES_PEAK], 0, 0);
	assert_threshold(&thresholds.metrics[GP_METRIC_WALL], GP_THRESHOLD_SHARE, GP_THRESHOLD_NS);
	assert_threshold(&thresholds.metrics[GP_METRIC_STEP_ENERGY], GP_THRESHOLD_SHARE, 0);
	assert_true(thresholds.metrics[GP_METRIC_GPU_IDLE].off);
	assert_true(thresholds.metrics[GP_METRIC_ENERGY].off);
	assert_threshold(gp_thresholds_of_kernel(&thresholds, "gemm"), GP_THRESHOLD_SHARE,
			 GP_THRESHOLD_NS);
	gp_thresholds_close(&thresholds);
}

static void a_line_says_share_amount_both_or_off(void **state)
{
	struct gp_thresholds thresholds;

	read_text(&thresholds, "wall 2.5% 1ms  # slow machine\n"
			       "gpu_idle\t10%\r\n"
			       "copy_time 100us\n"
			       "peak_bytes 1% 2MiB\n"
			       "leaked_bytes 4096\n"
			       "launches 3\n"
			       "step_energy 3% 500mJ\n"
			       "energy 2kJ\n"
			       "clocks_lowered 5\n"
			       "synchronizations off\n");
	assert_threshold(&thresholds.metrics[GP_METRIC_WALL], 0.025, 1e6);
	assert_threshold(&thresholds.metrics[GP_METRIC_GPU_IDLE], 0.1, 0);
	assert_threshold(&thresholds.metrics[GP_METRIC_COPY_TIME], 0, 1e5);
	assert_threshold(&thresholds.metrics[GP_METRIC_BYTES_PEAK], 0.01, 2 << 20);
	assert_threshold(&thresholds.metrics[GP_METRIC_BYTES_LEAKED], 0, 4096);
	assert_threshold(&thresholds.metrics[GP_METRIC_LAUNCHES], 0, 3);
	assert_threshold(&thresholds.metrics[GP_METRIC_STEP_ENERGY], 0.03, 0.5);
	assert_threshold(&thresholds.metrics[GP_METRIC_ENERGY], 0, 2000);
	assert_threshold(&thresholds.metrics[GP_METRIC_CLOCKS_LOWERED], 0, 5);
	assert_true(thresholds.metrics[GP_METRIC_SYNCS].off);
	assert_true(gp_threshold_margin(&thresholds.metrics[GP_METRIC_WALL], 1e9) == 25e6);
	assert_true(gp_threshold_margin(&thresholds.metrics[GP_METRIC_WALL], 1e6) == 1e6);
	gp_thresholds_close(&thresholds);
}

static void the_first_expression_that_fits_a_kernel_counts(void **state)
{
	struct gp_thresholds thresholds;

	read_text(&thresholds, "kernel /^void gemm<float, [0-9]+>/ 10%\n"
			       "kernel /a\\/b # c/ 20%   # a comment\n"
			       "kernel /gemm/ off\n"
			       "kernel 30% 1us\n");
	assert_threshold(gp_thresholds_of_kernel(&thresholds, "void gemm<float, 4>(int)"), 0.1, 0);
	assert_threshold(gp_thresholds_of_kernel(&thresholds, "a/b # c"), 0.2, 0);
	assert_true(gp_thresholds_of_kernel(&thresholds, "void gemm<double>()")->off);
	assert_threshold(gp_thresholds_of_kernel(&thresholds, "other"), 0.3, 1e3);
	gp_thresholds_close(&thresholds);
}

static void wrong_lines_are_named(void **state)
{
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{"wall 5% 1ms\nwalls 5%\n", "line 2: unknown metric (did you mean wall?): walls"},
		{"elapsed 5%\n", "line 1: unknown metric (gpuprof check --list"},
		{"wall\n", "line 1: after the name, write a share such as 5%, a time"},
		{"wall 5\n", "a time such as 100us"},
		{"wall -5%\n", "found: -5%"},
		{"wall nan%\n", "found: nan%"},
		{"wall 1e99%\n", "found: 1e99%"},
		{"wall 5% 1ms more\n", "found: more"},
		{"wall off 5%\n", "found: 5%"},
		{"peak_bytes 1ms\n", "a size such as 1MiB"},
		{"launches infinity\n", "found: infinity"},
		{"kernel /gemm 5%\n", "no / at its end"},
		{"kernel /(/ 5%\n", "invalid regular expression"},
		{"kernel /a/\n", "found: nothing"},
		{"kernel /\\", "no / at its end"},
	};

	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct gp_thresholds thresholds;
		char message[256] = "";

		gp_thresholds_open(&thresholds);
		assert_int_equal(gp_thresholds_parse(&thresholds, "file", wrong[i].text, message,
						     sizeof(message)),
				 -EINVAL);
		assert_non_null(strstr(message, "file, line "));
		if (!strstr(message, wrong[i].message))
			fail_msg("%s: %s", wrong[i].text, message);
		gp_thresholds_close(&thresholds);
	}
}

/* The file that is printed for a kernel fits that kernel and no other, whatever its name is. */
static void what_is_printed_can_be_read(void **state)
{
	static const char *const names[] = {
		"void gemm<float, 4>(float const*, int)",
		"a/b\\c [d] {2} ^$|? # e",
		"operator*(int)",
		"plain",
	};
	struct gp_thresholds thresholds;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	gp_thresholds_print(out, GP_METRIC_WALL, 0.0123, 10000);
	gp_thresholds_print(out, GP_METRIC_LAUNCHES, 0, 2);
	gp_thresholds_print(out, GP_METRIC_BYTES_PEAK, 0.5, 1 << 20);
	for (size_t i = 0; i < COUNT(names); i++)
		gp_thresholds_print_kernel(out, names[i], 0.01 * (double)(i + 1), 0);
	fclose(out);
	assert_non_null(strstr(text, "wall 1.23% 10us\n"));
	assert_non_null(strstr(text, "peak_bytes 50.00% 1MiB\n"));
	read_text(&thresholds, text);
	free(text);
	assert_threshold(&thresholds.metrics[GP_METRIC_LAUNCHES], 0, 2);
	for (size_t i = 0; i < COUNT(names); i++)
		assert_true(gp_thresholds_of_kernel(&thresholds, names[i])->share >
				    0.01 * (double)(i + 1) - 1e-9 &&
			    gp_thresholds_of_kernel(&thresholds, names[i])->share <
				    0.01 * (double)(i + 1) + 2e-4);
	assert_false(gp_thresholds_of_kernel(&thresholds, "plainer")->given);
	gp_thresholds_close(&thresholds);
}

static void files_that_are_none_are_refused(void **state)
{
	char path[] = "/tmp/gpuprof-thresholds-XXXXXX", message[256];
	struct gp_thresholds thresholds;
	int fd = temporary_file(path);
	FILE *file = fdopen(fd, "w");

	assert_non_null(file);
	fwrite("wall 5%\0\n", 1, 9, file);
	fclose(file);
	gp_thresholds_open(&thresholds);
	assert_int_equal(gp_thresholds_read(&thresholds, path, message, sizeof(message)), -EINVAL);
	assert_non_null(strstr(message, "it is not a text file"));
	assert_int_equal(gp_thresholds_read(&thresholds, "/tmp", message, sizeof(message)),
			 -EISDIR);
	assert_int_equal(gp_thresholds_read(&thresholds, "/dev/zero", message, sizeof(message)),
			 -EFBIG);
	remove(path);
	assert_int_equal(gp_thresholds_read(&thresholds, path, message, sizeof(message)), -ENOENT);
	assert_non_null(strstr(message, path));
	gp_thresholds_close(&thresholds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_named_has_its_default),
		cmocka_unit_test(a_line_says_share_amount_both_or_off),
		cmocka_unit_test(the_first_expression_that_fits_a_kernel_counts),
		cmocka_unit_test(wrong_lines_are_named),
		cmocka_unit_test(what_is_printed_can_be_read),
		cmocka_unit_test(files_that_are_none_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
