#include "tests/unit.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff/check_report.h"
#include "run_builder.h"
#include "tests/report/expect.h"

/*
 * What a program may call its kernels, as the reader hands it on: control characters are written
 * out already.
 */
#define NASTY "<b>|`x`|</b>\"'&amp; =cmd()"

struct scene {
	struct gp_run_set baseline, now;
	struct gp_thresholds thresholds;
	struct gp_check check;
	struct gp_check_report report;
};

static void judge(struct scene *scene)
{
	gp_check_judge(&scene->baseline, &scene->now, &scene->thresholds, &scene->check);
	scene->report = (struct gp_check_report){.check = &scene->check,
						 .baseline = &scene->baseline,
						 .now = &scene->now,
						 .names = gp_names_new()};
}

/* One count too many, a new kernel with a bad name, one run partial, a time of too few runs. */
static void begin(struct scene *scene)
{
	static char *const notes[] = {"driver for CUDA: 13.0; baseline: 12.9"};
	struct gp_named_figure *kernel;

	*scene = (struct scene){.baseline = runs_make(2, 1), .now = runs_make(2, 2)};
	for (uint32_t i = 0; i < scene->now.count; i++) {
		kernel = &scene->now.runs[i].figures.named[GP_NAMED_KERNEL].rows[1];
		free(kernel->name);
		kernel->name = strdup(NASTY);
		gp_named_sort(&scene->now.runs[i].figures.named[GP_NAMED_KERNEL]);
	}
	scene->now.runs[1].partial = strdup("its process was killed; `" NASTY "`");
	runs_set(&scene->baseline, GP_METRIC_LAUNCHES, 1000);
	runs_set(&scene->now, GP_METRIC_LAUNCHES, 1500);
	runs_set(&scene->baseline, GP_METRIC_WALL, 1e9);
	runs_set(&scene->now, GP_METRIC_WALL, 1e9);
	gp_thresholds_open(&scene->thresholds);
	judge(scene);
	scene->report.notes = notes;
	scene->report.note_count = 1;
}

static void end(struct scene *scene)
{
	gp_names_free(scene->report.names);
	gp_check_close(&scene->check);
	gp_thresholds_close(&scene->thresholds);
	gp_run_set_free(&scene->baseline);
	gp_run_set_free(&scene->now);
}

static char *write_report(int (*write)(FILE *out, const struct gp_check_report *report),
			  const struct scene *scene)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(write(out, &scene->report), 0);
	fclose(out);
	return text;
}

static void text_says_the_verdict_first_and_why(void **state)
{
	struct scene scene;
	char *text;

	begin(&scene);
	text = write_report(gp_check_report_text, &scene);
	assert_int_equal(strncmp(text, "gpuprof check: regression: 2 of ", 32), 0);
	expect(text, "; 1 run, compared with 2 of the baseline; 1 run was left out as incomplete");
	expect(text, "+50.0 %");
	expect(text, "  run is incomplete: its process was killed");
	expect(text, "  driver for CUDA: 13.0; baseline: 12.9");
	expect(text, "  new kernel: " NASTY);
	expect(text,
	       "  1 run and 2 of the baseline are too few to judge times (1 of them): 7 runs ");
	assert_null(strstr(text, " pass "));
	free(text);
	scene.report.all = true;
	text = write_report(gp_check_report_text, &scene);
	expect(text, "  pass ");
	free(text);
	end(&scene);
}

static void markdown_shows_names_as_plain_text(void **state)
{
	struct scene scene;
	char *text;

	begin(&scene);
	text = write_report(gp_check_report_markdown, &scene);
	assert_int_equal(strncmp(text, "## gpuprof check: regression\n\n", 30), 0);
	expect(text, "- new kernel\\: \\<b\\>\\|\\`x\\`\\|\\</b\\>\\\"\\'\\&amp; \\=cmd\\(\\)\n");
	assert_null(strstr(text, "<b>"));
	free(text);
	end(&scene);
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
		count++;
	return count;
}

static void junit_has_a_case_for_each_metric(void **state)
{
	struct scene scene;
	char *text;

	begin(&scene);
	text = write_report(gp_check_report_junit, &scene);
	assert_int_equal(count_of(text, "<testcase "), scene.check.count + 1);
	assert_int_equal(count_of(text, "<failure "), 2);
	assert_int_equal(count_of(text, "<skipped "), 2);
	expect(text, "failures=\"2\" errors=\"0\" skipped=\"2\"");
	expect(text, "`&lt;b&gt;|`x`|&lt;/b&gt;&quot;&apos;&amp;amp; =cmd()`");
	expect(text, "<failure message=\"1,500, was 1,000: +50.0 %, but nothing is tolerated\"/>");
	free(text);
	scene.report.strict = true;
	text = write_report(gp_check_report_junit, &scene);
	assert_int_equal(count_of(text, "<failure "), 4);
	expect(text, "failures=\"4\" errors=\"0\" skipped=\"0\"");
	free(text);
	end(&scene);
}

static void json_has_raw_values(void **state)
{
	struct scene scene;
	const json_t *finding = NULL, *value;
	json_t *root;
	size_t index;
	char *text;

	begin(&scene);
	text = write_report(gp_check_report_json, &scene);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	assert_string_equal(json_string_value(json_object_get(root, "verdict")), "regression");
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(root, "new_kernels"), 0)), NASTY);
	assert_int_equal(json_array_size(json_object_get(root, "partial")), 1);
	json_array_foreach(json_object_get(root, "findings"), index, value)
	{
		if (strcmp(json_string_value(json_object_get(value, "metric")), "launches") == 0)
			finding = value;
	}
	assert_non_null(finding);
	assert_int_equal(json_integer_value(json_object_get(finding, "now")), 1500);
	assert_true(json_is_true(json_object_get(finding, "exact")));
	json_decref(root);
	free(text);
	end(&scene);
}

static void set_leaks(struct gp_run_set *set, uint32_t sites)
{
	for (uint32_t i = 0; i < set->count; i++) {
		struct gp_named_list *list = &set->runs[i].figures.named[GP_NAMED_LEAK];

		list->rows = run_memory(sites, sizeof(*list->rows));
		for (; list->count < sites; list->count++) {
			struct gp_named_figure *row = &list->rows[list->count];

			row->name = run_memory(16, 1);
			snprintf(row->name, 16, "f (a.cu:%u)", list->count % 10);
			row->count = 1;
			row->total_ns = 1024.0 * (list->count + 1);
		}
	}
	runs_set(set, GP_METRIC_BYTES_LEAKED, 10240);
}

static void what_leaks_has_its_call_sites(void **state)
{
	static const char expected[] =
		"never freed: 4.000KiB at f (a.cu:3), 3.000KiB at f (a.cu:2), 2.000KiB at f (a.cu:1), and at 1 more";
	struct scene scene = {.baseline = runs_make(2, 0), .now = runs_make(1, 0)};
	char *text, line[256];

	set_leaks(&scene.now, 4);
	gp_thresholds_open(&scene.thresholds);
	judge(&scene);
	text = write_report(gp_check_report_text, &scene);
	snprintf(line, sizeof(line), "\n  leaked_bytes: %s\n", expected);
	expect(text, line);
	free(text);
	text = write_report(gp_check_report_junit, &scene);
	snprintf(line, sizeof(line), "but nothing is tolerated; %s\"/>", expected);
	expect(text, line);
	free(text);
	end(&scene);
}

/*
 * A gate that passes whatever is not half as much again says so, of what is judged by share; not of
 * a time of microseconds, which has an amount.
 */
static void what_is_judged_beyond_a_large_change_alone_is_named(void **state)
{
	struct scene scene = {.baseline = runs_make(10, 0), .now = runs_make(7, 0)};
	json_t *root, *finding = NULL, *value;
	size_t index;
	char *text;

	for (uint32_t i = 0; i < 10; i++)
		scene.baseline.runs[i].figures.values[GP_METRIC_WALL] = 1e9 + i * 1e6;
	runs_set(&scene.baseline, GP_METRIC_GPU_BUSY, 1e8);
	runs_set(&scene.baseline, GP_METRIC_COPY_TIME, 20000);
	runs_set(&scene.now, GP_METRIC_WALL, 1.4e9);
	runs_set(&scene.now, GP_METRIC_GPU_BUSY, 1e8);
	runs_set(&scene.now, GP_METRIC_COPY_TIME, 20000);
	gp_thresholds_open(&scene.thresholds);
	scene.thresholds.metrics[GP_METRIC_WALL].share = 0.5435;
	judge(&scene);
	text = write_report(gp_check_report_text, &scene);
	expect(text, "gpuprof check: pass: ");
	expect(text, " 10 of the baseline; large changes tolerated: wall (54.4 %)\n");
	free(text);
	text = write_report(gp_check_report_markdown, &scene);
	expect(text, "large changes tolerated: wall (54.4 %)\n");
	free(text);
	text = write_report(gp_check_report_junit, &scene);
	expect(text,
	       "name=\"wall\">\n      <system-out>tolerates 54.4 % more; now +39.4 %</system-out>\n    </testcase>\n");
	assert_int_equal(count_of(text, "</testcase>"), 1);
	free(text);
	text = write_report(gp_check_report_json, &scene);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	json_array_foreach(json_object_get(root, "findings"), index, value)
	{
		if (strcmp(json_string_value(json_object_get(value, "metric")), "wall") == 0)
			finding = value;
	}
	assert_string_equal(json_string_value(json_object_get(finding, "reason")),
			    "tolerates 54.4 % more; now +39.4 %");
	json_decref(root);
	free(text);
	end(&scene);
}

/* First in text and markdown; the reason of its metric in JUnit and JSON, also if it passed. */
static void the_step_time_has_a_verdict_in_each_format(void **state)
{
	static const struct {
		double now_ns;
		const char *end;
	} cases[] = {
		{25.1e6, ": 10.1 % slower; limit 5.0 %: failed"},
		{22.8e6, ": no change; limit 5.0 %: passed"},
		{(double)NAN, "step time is not compared. It needs 5 steps"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene scene = {.baseline = runs_make(20, 0), .now = runs_make(7, 0)};
		char *text;

		gp_thresholds_open(&scene.thresholds);
		runs_set(&scene.baseline, GP_METRIC_STEP, 22.8e6);
		runs_set(&scene.now, GP_METRIC_STEP, cases[i].now_ns);
		judge(&scene);
		assert_int_equal(scene.check.verdict, i == 0   ? GP_VERDICT_REGRESSION
						      : i == 1 ? GP_VERDICT_PASS
							       : GP_VERDICT_INCONCLUSIVE);
		text = write_report(gp_check_report_text, &scene);
		expect(text, cases[i].end);
		assert_int_equal(count_of(text, "The step time") + count_of(text, "The step takes"),
				 1);
		free(text);
		text = write_report(gp_check_report_markdown, &scene);
		expect(text, strrchr(cases[i].end, ' '));
		free(text);
		text = write_report(gp_check_report_json, &scene);
		expect(text, cases[i].end);
		free(text);
		text = write_report(gp_check_report_junit, &scene);
		expect(text, "name=\"step_time\"");
		expect(text, cases[i].end);
		free(text);
		end(&scene);
	}
}

/* Kernels like metrics, also where a pattern names one, and with the names of all metrics. */
static void what_thresholds_switch_off_is_named_in_each_format(void **state)
{
	static const char one[] = "kernel /kernel_00/ off\nwall off\n", all[] = "kernel off\n";
	struct scene scene = {.baseline = runs_make(2, 3), .now = runs_make(1, 3)};
	char *text, message[256];
	json_t *root, *off;

	gp_thresholds_open(&scene.thresholds);
	assert_int_equal(gp_thresholds_parse(&scene.thresholds, "t", one, message, sizeof(message)),
			 0);
	judge(&scene);
	text = write_report(gp_check_report_text, &scene);
	expect(text, "of the baseline; switched off by the thresholds: wall, 1 kernel\n");
	free(text);
	text = write_report(gp_check_report_junit, &scene);
	assert_int_equal(count_of(text, "<testcase "), scene.check.count + 2);
	expect(text, "failures=\"0\" errors=\"0\" skipped=\"2\"");
	expect(text, "name=\"wall\">\n      <skipped message=\"switched off by the thresholds\"/>");
	expect(text, "name=\"kernel kernel_00\">\n      <skipped message=\"switched off by");
	free(text);
	text = write_report(gp_check_report_json, &scene);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	off = json_object_get(root, "not_judged");
	assert_int_equal(json_array_size(off), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(off, 0), "metric")),
			    "wall");
	assert_string_equal(json_string_value(json_object_get(json_array_get(off, 1), "kernel")),
			    "kernel_00");
	json_decref(root);
	free(text);
	assert_int_equal(gp_thresholds_parse(&scene.thresholds, "t", all, message, sizeof(message)),
			 0);
	for (int i = 0; i < GP_METRICS; i++)
		scene.thresholds.metrics[i].off = true;
	gp_check_close(&scene.check);
	gp_names_free(scene.report.names);
	judge(&scene);
	text = write_report(gp_check_report_markdown, &scene);
	expect(text, ", step_energy, 3 kernels\n");
	free(text);
	end(&scene);
}

static void a_full_disk_is_an_error(void **state)
{
	struct scene scene;
	FILE *full = fopen("/dev/full", "w");

	if (!full)
		skip();
	begin(&scene);
	setvbuf(full, NULL, _IONBF, 0);
	assert_true(gp_check_report_text(full, &scene.report) < 0);
	assert_true(gp_check_report_markdown(full, &scene.report) < 0);
	assert_true(gp_check_report_junit(full, &scene.report) < 0);
	assert_true(gp_check_report_json(full, &scene.report) < 0);
	fclose(full);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_says_the_verdict_first_and_why),
		cmocka_unit_test(markdown_shows_names_as_plain_text),
		cmocka_unit_test(junit_has_a_case_for_each_metric),
		cmocka_unit_test(json_has_raw_values),
		cmocka_unit_test(what_leaks_has_its_call_sites),
		cmocka_unit_test(what_is_judged_beyond_a_large_change_alone_is_named),
		cmocka_unit_test(the_step_time_has_a_verdict_in_each_format),
		cmocka_unit_test(what_thresholds_switch_off_is_named_in_each_format),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
