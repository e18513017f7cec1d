/* Trace files that were named on a command line, each once. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include "report/load/command.h"
#include "report/load/trace_files.h"
#include "report/load/traces.h"
#include "tests/lib/temporary.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

#define NAME_BYTES 64

static void files_are_kept_where_they_were_named_first(void **state)
{
	char folder[] = "/tmp/traces-XXXXXX", a[NAME_BYTES], b[NAME_BYTES], link[NAME_BYTES];
	char missing[] = "/nowhere/a", *paths[] = {b, a, link, missing, b, missing, a};
	size_t count = sizeof(paths) / sizeof(paths[0]);

	assert_non_null(temporary_folder(folder));
	snprintf(a, sizeof(a), "%s/a", folder);
	snprintf(b, sizeof(b), "%s/b", folder);
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(fclose(fopen(a, "w")), 0);
	assert_int_equal(fclose(fopen(b, "w")), 0);
	assert_int_equal(symlink(a, link), 0);
	assert_int_equal(gp_traces_name_once(paths, &count), 0);
	/* what is not there is no file: whoever opens it says so each time */
	assert_int_equal(count, 4);
	assert_ptr_equal(paths[0], b);
	assert_ptr_equal(paths[1], a);
	assert_ptr_equal(paths[2], missing);
	assert_ptr_equal(paths[3], missing);
	remove(link);
	remove(a);
	remove(b);
	remove(folder);
}

/* A look at each for each of them would be more than a milliard. */
static void each_of_many_files_is_looked_at_once(void **state)
{
	enum { FILES = 50000, MOST_SECONDS = 60 };
	static char names[FILES][NAME_BYTES], *paths[FILES];
	size_t count = FILES;

	for (unsigned i = 0; i < FILES; i++) {
		snprintf(names[i], sizeof(names[i]), "/nowhere/%u", i);
		paths[i] = names[i];
	}
	limit_processor_s(MOST_SECONDS);
	assert_int_equal(gp_traces_name_once(paths, &count), 0);
	limit_processor_s(0);
	assert_int_equal(count, FILES);
}

static void make_file(const char *folder, const char *name)
{
	char path[2 * NAME_BYTES];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(fclose(fopen(path, "w")), 0);
}

/* Its traces of gpuprof; without those, what may be another profiler's. */
static void a_folder_stands_for_its_traces(void **state)
{
	static const struct {
		const char *made, *found[3];
		bool may_be_none;
	} steps[] = {
		{"notes.txt", {NULL}, false},
		{"b.json.gz", {"b.json.gz"}, true},
		{"a.sqlite", {"a.sqlite", "b.json.gz"}, true},
		{"z.gpuprof", {"z.gpuprof"}, false},
		{"c.gpuprof", {"c.gpuprof", "z.gpuprof"}, false},
	};
	char folder[] = "/tmp/traces-XXXXXX", with_slash[NAME_BYTES], path[2 * NAME_BYTES];
	char message[256];

	assert_non_null(temporary_folder(folder));
	snprintf(with_slash, sizeof(with_slash), "%s//", folder);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct gp_trace_files files = {0};
		uint32_t count = 0;

		make_file(folder, steps[i].made);
		while (steps[i].found[count])
			count++;
		assert_int_equal(gp_trace_files_add(&files, with_slash, message, sizeof(message)),
				 count > 0 ? 0 : -ENODATA);
		assert_int_equal(files.count, count);
		for (uint32_t k = 0; k < count; k++) {
			snprintf(path, sizeof(path), "%s/%s", folder, steps[i].found[k]);
			assert_string_equal(files.files[k].path, path);
			assert_int_equal(files.files[k].may_be_none, steps[i].may_be_none);
		}
		gp_trace_files_free(&files);
	}
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, steps[i].made);
		remove(path);
	}
	remove(folder);
}

static struct gp_model *run_of(uint32_t pid, bool is_export)
{
	struct build b = build_begin(pid);

	build_call(&b, 100, BUILD_LAUNCH, 1000, 50, 0);
	b.model->recorder = is_export ? "gpuprof" : NULL;
	return build_end(&b);
}

/* Two traces of gpuprof are two runs, whatever they have in common. */
static void an_export_is_of_the_run_of_its_trace(void **state)
{
	struct gp_model *models[] = {run_of(7, false), run_of(8, false)};
	static const struct {
		uint32_t pid;
		bool is_export, is_known;
	} cases[] = {{8, true, true}, {9, true, false}, {8, false, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model = run_of(cases[i].pid, cases[i].is_export);

		assert_int_equal(gp_traces_have_run(models, 2, model), cases[i].is_known);
		gp_model_free(model);
	}
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/* The text that reaches stderr. */
static void read_stderr(bool is_printed, char text[NAME_BYTES])
{
	int kept = dup(STDERR_FILENO), ends[2];
	ssize_t bytes;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	gp_command_hold();
	assert_int_equal(gp_command_fail(3, "a %s", "line"), 3);
	gp_command_release(is_printed);
	assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
	close(kept);
	close(ends[1]);
	bytes = read(ends[0], text, NAME_BYTES - 1);
	assert_true(bytes >= 0);
	text[bytes] = '\0';
	close(ends[0]);
}

static void held_lines_are_printed_or_dropped(void **state)
{
	char text[NAME_BYTES];

	read_stderr(true, text);
	assert_string_equal(text, "gpuprof: a line\n");
	read_stderr(false, text);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_kept_where_they_were_named_first),
		cmocka_unit_test(each_of_many_files_is_looked_at_once),
		cmocka_unit_test(a_folder_stands_for_its_traces),
		cmocka_unit_test(an_export_is_of_the_run_of_its_trace),
		cmocka_unit_test(held_lines_are_printed_or_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
