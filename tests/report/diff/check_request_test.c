/* check_request: the gate from files to exit statuses, and the files that it writes. */
#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "gpuprof/count.h"
#include "report/diff/check.h"
#include "report/diff/check_request.h"
#include "report/diff/rank.h"
#include "tests/lib/temporary.h"
#include "tests/report/expect.h"
#include "tests/report/trace_builder.h"

#define US UINT64_C(1000)

static char folder[] = "/tmp/gpuprof-check-XXXXXX", home[4096];
static int kept_stderr, said_fd;

/* A run of some launches of kernels, with options and a GPU, and with an end or without one. */
struct run {
	uint32_t launches;
	uint64_t kernel_us;
	const char *options, *gpu;
	bool is_partial;
};

static const struct run whole = {.launches = 5, .kernel_us = 900};

/* Becomes NAME in the current folder. */
static void write_run(const char *name, const struct run *run)
{
	struct gp_builder b;

	gp_builder_init(&b);
	gp_builder_start(&b);
	if (run->options)
		gp_builder_string(&b, GP_STRING_INFO, GP_INFO_OPTIONS, 0, run->options);
	gp_builder_add(&b, &(struct gp_record_device){.kind = GP_RECORD_DEVICE});
	gp_builder_string(&b, GP_STRING_DEVICE, 0, 0, run->gpu ? run->gpu : "GPU A");
	gp_builder_chunk(&b, 1, 100);
	for (uint32_t i = 0; i < run->launches; i++) {
		uint64_t at_ns = (i + 1) * 1000 * US;

		gp_builder_call(&b, GP_TEST_LAUNCH, i + 1, at_ns, 5 * US);
		gp_builder_kernel(&b, i + 1, at_ns + 10 * US, at_ns + (10 + run->kernel_us) * US);
	}
	gp_builder_call(&b, GP_TEST_SYNC, 0, 20000 * US, 5 * US);
	if (!run->is_partial)
		gp_builder_end(&b, 20100 * US);
	assert_int_equal(rename(gp_builder_save(&b), name), 0);
	gp_builder_free(&b);
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/* What was printed on stderr since the last time. */
static const char *said(void)
{
	static char text[8192];
	ssize_t length;

	fflush(stderr);
	length = pread(said_fd, text, sizeof(text) - 1, 0);
	assert_true(length >= 0);
	text[length] = '\0';
	assert_int_equal(ftruncate(said_fd, 0), 0);
	assert_int_equal(lseek(said_fd, 0, SEEK_SET), 0);
	return text;
}

/* A baseline of three runs in an empty folder, with stderr in memory. */
static int enter(void **state)
{
	char *runs[] = {"a.gpuprof", "b.gpuprof", "c.gpuprof"};

	(void)state;
	strcpy(folder, "/tmp/gpuprof-check-XXXXXX");
	if (!getcwd(home, sizeof(home)) || !temporary_folder(folder) || chdir(folder) != 0)
		return -1;
	said_fd = memfd_create("stderr", MFD_CLOEXEC);
	fflush(stderr);
	kept_stderr = dup(STDERR_FILENO);
	dup2(said_fd, STDERR_FILENO);
	for (size_t i = 0; i < COUNT(runs); i++)
		write_run(runs[i], &whole);
	return gp_check_write_baseline("base.json", runs, COUNT(runs));
}

static int leave(void **state)
{
	char command[128];

	(void)state;
	fflush(stderr);
	dup2(kept_stderr, STDERR_FILENO);
	close(kept_stderr);
	close(said_fd);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return chdir(home) == 0 ? system(command) : -1;
}

static int check_run(const struct run *run, struct gp_check_request request)
{
	static char *const runs[] = {"now.gpuprof"};

	write_run(runs[0], run);
	request.baseline = request.baseline ? request.baseline : "base.json";
	request.runs = runs;
	request.run_count = 1;
	return gp_check_run(&request);
}

static void the_status_tells_the_verdict(void **state)
{
	static const struct {
		struct run run;
		struct gp_check_request request;
		int status;
	} cases[] = {
		{{5, 900, NULL, NULL, false}, {.all = true}, 0},
		{{6, 900, NULL, NULL, false}, {.strict = true}, GP_CHECK_EXIT_REGRESSION},
		{{6, 900, NULL, NULL, false}, {.all = true}, GP_CHECK_EXIT_REGRESSION},
		/* one run says nothing of times */
		{{5, 990, NULL, NULL, false}, {.strict = true}, GP_CHECK_EXIT_INCONCLUSIVE},
		{{5, 990, NULL, NULL, false}, {.strict = false}, 0},
		{{5, 900, NULL, NULL, true}, {.strict = false}, GP_CHECK_EXIT_FAILED},
		{{5, 900, "TRACE=gpu", NULL, false}, {.strict = false}, GP_CHECK_EXIT_USAGE},
		{{5, 900, NULL, "GPU B", false}, {.strict = false}, GP_CHECK_EXIT_USAGE},
		{{5, 900, NULL, "GPU B", false}, {.any_device = true}, 0},
		{{5, 900, "TRACE=gpu", NULL, false}, {.any_device = true}, GP_CHECK_EXIT_USAGE},
		{{5, 900, NULL, NULL, false}, {.baseline = "none.json"}, GP_CHECK_EXIT_USAGE},
		{{5, 900, NULL, NULL, false}, {.baseline = "now.gpuprof"}, GP_CHECK_EXIT_USAGE},
		{{5, 900, NULL, NULL, false}, {.thresholds = "none"}, GP_CHECK_EXIT_USAGE},
		{{5, 900, NULL, NULL, false}, {.json = "none/out.json"}, GP_CHECK_EXIT_FAILED},
		{{5, 900, NULL, NULL, false}, {.junit = "none/out.xml"}, GP_CHECK_EXIT_FAILED},
		{{5, 900, NULL, NULL, false}, {.markdown = "none/out.md"}, GP_CHECK_EXIT_FAILED},
	};

	(void)state;
	said();
	for (size_t i = 0; i < COUNT(cases); i++) {
		int status = check_run(&cases[i].run, cases[i].request);
		const char *text = said();

		bool is_told = status == GP_CHECK_EXIT_USAGE || status == GP_CHECK_EXIT_FAILED;

		if (status != cases[i].status || (*text != '\0') != is_told)
			fail_msg("case %zu: status %d, not %d: %s", i, status, cases[i].status,
				 text);
	}
}

static void all_reports_are_written(void **state)
{
	(void)state;
	assert_int_equal(check_run(&whole, (struct gp_check_request){.json = "out.json",
								     .junit = "out.xml",
								     .markdown = "out.md"}),
			 0);
	assert_true(exists("out.json") && exists("out.xml") && exists("out.md"));
}

/* The file of that name has this text somewhere. */
static bool has_text(const char *path, const char *words)
{
	static char text[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = read(fd, text, sizeof(text) - 1);

	assert_true(length >= 0);
	text[length] = '\0';
	close(fd);
	return strstr(text, words) != NULL;
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* Another GPU, and thresholds of no kernel. */
static void doubtful_conditions_are_noted(void **state)
{
	struct gp_check_request request = {
		.thresholds = "limits", .any_device = true, .json = "out.json"};
	struct run other = whole;

	(void)state;
	other.gpu = "GPU B";
	write_text("limits", "kernel /none/ 5% 1ms\nkernel /kern/ 5% 1ms\n");
	assert_int_equal(check_run(&other, request), 0);
	assert_true(has_text("out.json", "GPU A"));
	assert_true(has_text("out.json", "matches /none/"));
	assert_false(has_text("out.json", "matches /kern/"));
	assert_int_equal(check_run(&whole, request), 0);
	assert_false(has_text("out.json", "GPU A"));
	write_text("limits", "nothing 5%\n");
	assert_int_equal(check_run(&whole, request), GP_CHECK_EXIT_USAGE);
}

static void inputs_are_checked_before_the_runs(void **state)
{
	(void)state;
	write_text("limits", "launches 2\n");
	assert_int_equal(gp_check_inputs(&(struct gp_check_request){.baseline = "base.json",
								    .thresholds = "limits"}),
			 0);
	assert_int_equal(gp_check_inputs(&(struct gp_check_request){.baseline = "base.json",
								    .thresholds = "none"}),
			 GP_CHECK_EXIT_USAGE);
	assert_int_equal(gp_check_inputs(&(struct gp_check_request){.baseline = "none.json"}),
			 GP_CHECK_EXIT_USAGE);
}

/* Tolerated, one launch more is no regression. */
static void thresholds_are_those_of_the_file(void **state)
{
	struct run more = whole;

	(void)state;
	more.launches++;
	write_text("limits", "launches 1\nkernels 1\nkernel_time off\nkernel off\n");
	assert_int_equal(check_run(&more, (struct gp_check_request){.thresholds = "limits"}), 0);
	write_text("limits", "launches 0\nkernels 1\n");
	assert_int_equal(check_run(&more, (struct gp_check_request){.thresholds = "limits"}),
			 GP_CHECK_EXIT_REGRESSION);
}

/* ---- baselines and thresholds ---- */

/* Runs 0 to count - 1, in a folder of their own. */
static char **write_runs(const char *under, uint32_t count, bool is_last_partial)
{
	char **runs = calloc(count, sizeof(*runs));

	assert_non_null(runs);
	if (!exists(under))
		assert_int_equal(mkdir(under, 0700), 0);
	for (uint32_t i = 0; i < count; i++) {
		struct run run = whole;

		run.kernel_us += i;
		run.is_partial = is_last_partial && i == count - 1;
		assert_true(asprintf(&runs[i], "%s/%u.gpuprof", under, i) > 0);
		write_run(runs[i], &run);
	}
	return runs;
}

static void free_runs(char **runs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		free(runs[i]);
	free(runs);
}

/* Of whole runs of one kind; and the next command is said. */
static void a_baseline_is_of_whole_runs(void **state)
{
	char **runs = write_runs("runs", 3, true);
	char *others[] = {"a.gpuprof", "other.gpuprof"};
	struct run other = whole;

	(void)state;
	expect(said(), "; next: gpuprof-run --runs 7 --check base.json -- PROGRAM\n");
	assert_int_equal(gp_check_write_baseline("new.json", runs, 3), GP_CHECK_EXIT_FAILED);
	assert_false(exists("new.json"));
	expect(said(), "runs/2.gpuprof is incomplete");
	assert_int_equal(gp_check_write_baseline("new.json", runs, 2), 0);
	assert_true(exists("new.json"));
	expect(said(), "new.json from 2 runs; next: ");
	assert_int_equal(gp_check_write_baseline("none/new.json", runs, 2), GP_CHECK_EXIT_FAILED);
	other.options = "TRACE=gpu";
	write_run(others[1], &other);
	assert_int_equal(gp_check_write_baseline("x.json", others, 2), GP_CHECK_EXIT_USAGE);
	others[1] = "none.gpuprof";
	assert_int_equal(gp_check_write_baseline("x.json", others, 2), GP_CHECK_EXIT_FAILED);
	free_runs(runs, 3);
}

/* Few runs are enough for counts: more are proposed for times. */
static void few_runs_are_enough_for_counts(void **state)
{
	char **runs = write_runs("runs", GP_CHECK_GOOD_BASELINE, false);

	(void)state;
	assert_int_equal(gp_check_write_baseline("one.json", runs, 1), 0);
	expect(said(), ": 1 run is enough for counts and bytes, but too few to judge times: 20 are "
		       "enough; type: gpuprof-run --runs 20 -o baseline-runs -- PROGRAM && gpuprof "
		       "check --write-baseline one.json baseline-runs/*\n");
	assert_int_equal(gp_check_write_baseline("all.json", runs, GP_CHECK_GOOD_BASELINE), 0);
	expect_not(said(), "too few");
	free_runs(runs, GP_CHECK_GOOD_BASELINE);
}

static void thresholds_need_five_runs(void **state)
{
	char **runs = write_runs("runs", 5, false);

	(void)state;
	said();
	assert_int_equal(gp_check_calibrate("limits", runs, 4), GP_CHECK_EXIT_USAGE);
	assert_false(exists("limits"));
	expect(said(),
	       "at least 5 runs; type: gpuprof-run --runs 20 -o baseline-runs -- PROGRAM && "
	       "gpuprof check --calibrate limits baseline-runs/*\n");
	assert_int_equal(gp_check_calibrate("limits", runs, 5), 0);
	assert_true(has_text("limits", "kernel_time"));
	/* all of a folder by a pattern, unless the folder has more */
	expect(said(), "limits from 5 runs; next: gpuprof check --write-baseline "
		       "gpuprof-baseline.json runs/* && gpuprof-run --runs 7 --check "
		       "gpuprof-baseline.json --thresholds limits -- PROGRAM\n");
	write_text("runs/more", "");
	assert_int_equal(gp_check_calibrate("limits", runs, 5), 0);
	expect(said(), " gpuprof-baseline.json runs/0.gpuprof runs/1.gpuprof runs/2.gpuprof "
		       "runs/3.gpuprof runs/4.gpuprof && ");
	free(runs[4]);
	runs[4] = strdup("runs/in/4.gpuprof");
	assert_int_equal(mkdir("runs/in", 0700), 0);
	write_run(runs[4], &whole);
	assert_int_equal(unlink("runs/more") + unlink("runs/4.gpuprof"), 0);
	assert_int_equal(gp_check_calibrate("limits", runs, 5), 0);
	expect(said(), " runs/3.gpuprof runs/in/4.gpuprof && ");
	write_text("gpuprof-baseline.json", "");
	assert_int_equal(gp_check_calibrate("limits", runs, 5), 0);
	expect(said(), "limits from 5 runs; next: gpuprof-run --runs 7 --check ");
	free_runs(runs, 5);
}

static void the_number_of_runs_is_limited(void **state)
{
	char *runs[GP_RANK_MOST + 1];

	(void)state;
	for (size_t i = 0; i < COUNT(runs); i++)
		runs[i] = "a.gpuprof";
	assert_int_equal(gp_check_write_baseline("many.json", runs, GP_RANK_MOST + 1),
			 GP_CHECK_EXIT_USAGE);
	assert_int_equal(gp_check_write_baseline("many.json", runs, GP_RANK_MOST), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_status_tells_the_verdict, enter, leave),
		cmocka_unit_test_setup_teardown(all_reports_are_written, enter, leave),
		cmocka_unit_test_setup_teardown(doubtful_conditions_are_noted, enter, leave),
		cmocka_unit_test_setup_teardown(inputs_are_checked_before_the_runs, enter, leave),
		cmocka_unit_test_setup_teardown(thresholds_are_those_of_the_file, enter, leave),
		cmocka_unit_test_setup_teardown(a_baseline_is_of_whole_runs, enter, leave),
		cmocka_unit_test_setup_teardown(few_runs_are_enough_for_counts, enter, leave),
		cmocka_unit_test_setup_teardown(thresholds_need_five_runs, enter, leave),
		cmocka_unit_test_setup_teardown(the_number_of_runs_is_limited, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
