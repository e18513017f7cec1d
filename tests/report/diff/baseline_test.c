#include "tests/unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/diff/baseline.h"
#include "run_builder.h"
#include "tests/lib/temporary.h"

static char *text_of(const struct gp_run_set *set)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(gp_baseline_write(out, set), 0);
	fclose(out);
	return text;
}

static struct gp_run_set some_runs(void)
{
	struct gp_run_set set = runs_make(3, 4);

	runs_fact(&set, GP_MACHINE_GPUS, "A \"GPU\", 132 SMs");
	runs_fact(&set, GP_MACHINE_DRIVER, "13.0");
	runs_set(&set, GP_METRIC_LAUNCHES, 12);
	runs_set(&set, GP_METRIC_BYTES_LEAKED, (double)NAN);
	set.runs[1].figures.values[GP_METRIC_WALL] = 1234567.5;
	set.runs[2].figures.named[GP_NAMED_KERNEL].rows[3].total_ns = 4321;
	/* the last kernel is missing in the first run */
	free(set.runs[0].figures.named[GP_NAMED_KERNEL].rows[3].name);
	set.runs[0].figures.named[GP_NAMED_KERNEL].count = 3;
	return set;
}

static void what_is_written_can_be_read(void **state)
{
	struct gp_run_set set = some_runs(), read;
	char *text = text_of(&set), message[256] = "";
	const struct gp_named_figure *kernel;

	assert_int_equal(gp_baseline_parse(&read, "base", text, message, sizeof(message)), 0);
	assert_int_equal(read.count, 3);
	assert_string_equal(gp_machine_fact(&read.machine, GP_MACHINE_GPUS), "A \"GPU\", 132 SMs");
	assert_string_equal(gp_machine_fact(&read.machine, GP_MACHINE_OPTIONS), "");
	assert_true(read.runs[2].figures.values[GP_METRIC_LAUNCHES] == 12);
	assert_true(isnan(read.runs[0].figures.values[GP_METRIC_BYTES_LEAKED]));
	assert_true(read.runs[1].figures.values[GP_METRIC_WALL] == 1234567.5);
	assert_null(gp_named_find(&read.runs[0].figures.named[GP_NAMED_KERNEL], "kernel_03"));
	kernel = gp_named_find(&read.runs[2].figures.named[GP_NAMED_KERNEL], "kernel_03");
	assert_non_null(kernel);
	assert_true(kernel->total_ns == 4321 && kernel->count == 1);
	free(text);
	gp_run_set_free(&read);
	gp_run_set_free(&set);
}

/* What gpuprof came to count later is not known of it, and what it no longer counts is left out. */
static void a_baseline_of_an_older_gpuprof_is_read(void **state)
{
	struct gp_run_set set = some_runs(), read;
	char *text = text_of(&set), *name = strstr(text, "idle_dependency"), message[256] = "";

	assert_non_null(name);
	memcpy(name, "idle_of_long_ag", strlen("idle_dependency"));
	assert_int_equal(gp_baseline_parse(&read, "base", text, message, sizeof(message)), 0);
	assert_true(isnan(read.runs[0].figures.values[GP_METRIC_IDLE_DEPENDENCY]));
	assert_true(read.runs[0].figures.values[GP_METRIC_LAUNCHES] == 12);
	free(text);
	gp_run_set_free(&read);
	gp_run_set_free(&set);
}

static void a_file_is_read_or_refused(void **state)
{
	char path[] = "/tmp/gpuprof-baseline-XXXXXX", message[256] = "";
	struct gp_run_set set = some_runs(), read;
	char *text = text_of(&set);
	int fd = temporary_file(path);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(gp_baseline_read(&read, path, message, sizeof(message)), 0);
	assert_int_equal(read.count, 3);
	gp_run_set_free(&read);
	close(fd);
	unlink(path);
	assert_int_equal(gp_baseline_read(&read, path, message, sizeof(message)), -ENOENT);
	assert_non_null(strstr(message, "No such file"));
	assert_int_equal(read.count, 0);
	free(text);
	gp_run_set_free(&set);
}

/* Baselines of earlier versions are judged like those of today. */
static void earlier_names_are_read(void **state)
{
	struct gp_run_set set = some_runs(), read;
	char *text = text_of(&set), message[256] = "";
	char *name = strstr(text, "\"synchronizations\"");

	assert_non_null(name);
	memcpy(name, "\"synchronisations\"", 18);
	assert_int_equal(gp_baseline_parse(&read, "base", text, message, sizeof(message)), 0);
	assert_true(read.runs[0].figures.values[GP_METRIC_SYNCS] ==
		    set.runs[0].figures.values[GP_METRIC_SYNCS]);
	free(text);
	gp_run_set_free(&read);
	gp_run_set_free(&set);
}

static void assert_refused(const char *text, const char *why)
{
	struct gp_run_set set;
	char message[512] = "";

	assert_int_equal(gp_baseline_parse(&set, "base", text, message, sizeof(message)), -EINVAL);
	assert_int_equal(set.count, 0);
	if (!strstr(message, why) || !strstr(message, "base is not a baseline"))
		fail_msg("%s", message);
}

static void other_files_are_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{"", "it is empty"},
		{"[]", "another kind of file"},
		{"{\"gpuprof_baseline\": \"1\"}", "another kind of file"},
		{"{\"gpuprof_baseline\": 2}", "another version"},
		{"{\"gpuprof_baseline\": 1}", "no runs"},
		{"{\"gpuprof_baseline\": 1, \"runs\": -1}", "no runs"},
		{"{\"gpuprof_baseline\": 1, \"runs\": 1000000000}", "too many"},
		{"{\"gpuprof_baseline\": 1, \"runs\": 1}", "not name the machine"},
		{"{\"gpuprof_baseline\": 1, \"runs\": 1, \"machine\": {}}", "no metrics"},
		{"{\"gpuprof_baseline\": 1, \"runs\": 1, \"machine\": {\"gpus\": 7}, \"metrics\": {}}",
		 "no kernels"},
		{"{\"gpuprof_baseline\": 1, \"runs\": 1, \"machine\": {}, \"metrics\": {\"wall\": []}}",
		 "wall"},
		{"{\"gpuprof_baseline\": 1, \"runs\": 1, \"machine\": {}, \"metrics\": {\"wall\": [-1]}}",
		 "wall"},
		{"{\"gpuprof_baseline\": 1, \"runs\": 1, \"machine\": {}, \"metrics\": {\"wall\": [1e300]}}",
		 "wall"},
		{"{\"gpuprof_baseline\": 1, \"runs\": 1, \"machine\": {}, \"metrics\": {\"wall\": [true]}}",
		 "wall"},
		{"{\"gpuprof_baseline\": 1, \"runs\": 1, \"machine\": {}, \"metrics\": {}, \"kernels\": {\"k\": []}}",
		 "a kernel does not have"},
		{"{\"gpuprof_baseline\": 1, \"runs\": 1, \"machine\": {}, \"metrics\": {}, \"kernels\": {\"k\": {\"count\": [1], \"total_ns\": [null]}}}",
		 "has no time"},
	};

	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_refused(wrong[i].text, wrong[i].why);
}

static void a_cut_file_is_refused_wherever_it_is_cut(void **state)
{
	struct gp_run_set set = some_runs();
	char *text = text_of(&set);
	size_t length = strlen(text);

	/* the last byte ends the line */
	for (size_t i = length - 1; i-- > 0;) {
		text[i] = '\0';
		assert_refused(text, "line ");
	}
	free(text);
	gp_run_set_free(&set);
}

/* A byte changed is another baseline or none, never a crash. */
static void any_byte_may_be_another(void **state)
{
	struct gp_run_set set = some_runs();
	char *text = text_of(&set), message[512];
	size_t length = strlen(text);

	for (size_t i = 0; i < length; i++) {
		static const char others[] = "\"{}[],:0-\\n\x80";
		char old = text[i];

		for (size_t k = 0; k < sizeof(others) - 1; k++) {
			struct gp_run_set read;
			int result;

			text[i] = others[k];
			result = gp_baseline_parse(&read, "base", text, message, sizeof(message));
			assert_true(result == 0 || result == -EINVAL);
			gp_run_set_free(&read);
		}
		text[i] = old;
	}
	free(text);
	gp_run_set_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_can_be_read),
		cmocka_unit_test(a_baseline_of_an_older_gpuprof_is_read),
		cmocka_unit_test(a_file_is_read_or_refused),
		cmocka_unit_test(earlier_names_are_read),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(a_cut_file_is_refused_wherever_it_is_cut),
		cmocka_unit_test(any_byte_may_be_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
