#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/finish/finish.h"
#include "report/codec/output_file.h"
#include "tests/lib/temporary.h"
#include "tests/report/trace_builder.h"
#include "tests/unit.h"

struct scene {
	struct gp_builder b;
	char folder[32];
	char summary[64], chrome[64];
	char *trace;
	struct gp_finish_options options;
};

static void set_up(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	strcpy(s->folder, "/tmp/gpuprof-test-XXXXXX");
	assert_non_null(temporary_folder(s->folder));
	snprintf(s->summary, sizeof(s->summary), "%s/summary", s->folder);
	snprintf(s->chrome, sizeof(s->chrome), "%s/app.json", s->folder);
	gp_builder_init(&s->b);
	gp_builder_start(&s->b);
	gp_builder_chunk(&s->b, 1, 100);
	gp_builder_call(&s->b, GP_TEST_LAUNCH, 1, 1000, 50);
	gp_builder_kernel(&s->b, 1, 1100, 1200);
	gp_builder_end(&s->b, 2000);
	assert_true(asprintf(&s->trace, "%s/app.gpuprof", s->folder) > 0);
	assert_int_equal(rename(gp_builder_save(&s->b), s->trace), 0);
	s->options = (struct gp_finish_options){
		.summary = s->summary, .chrome = "json", .progress_fd = -1};
}

static void tear_down(struct scene *s)
{
	gp_builder_free(&s->b);
	unlink(s->trace);
	unlink(s->summary);
	unlink(s->chrome);
	assert_int_equal(rmdir(s->folder), 0); /* nothing else is left */
	free(s->trace);
}

static char *read_file(const char *path)
{
	static char text[1 << 16];
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static unsigned count(const char *text, const char *part)
{
	unsigned found = 0;

	for (text = strstr(text, part); text; text = strstr(text + 1, part))
		found++;
	return found;
}

static void test_summary_and_chrome_trace(void **state)
{
	struct scene s;
	const char *text;

	set_up(&s);
	assert_int_equal(gp_finish(&s.trace, 1, &s.options), 0);
	assert_non_null(strstr(read_file(s.chrome), "cudaLaunchKernel"));
	text = read_file(s.summary);
	assert_non_null(strstr(text, "cudaLaunchKernel"));
	assert_non_null(strstr(text, s.chrome));
	assert_non_null(strstr(text, "perfetto"));
	tear_down(&s);
}

static void test_summaries_are_appended_and_the_chrome_trace_is_replaced(void **state)
{
	struct scene s;

	set_up(&s);
	for (int i = 0; i < 2; i++)
		assert_int_equal(gp_finish(&s.trace, 1, &s.options), 0);
	assert_int_equal(count(read_file(s.summary), "perfetto"), 2);
	assert_int_equal(count(read_file(s.chrome), "\"traceEvents\""), 1);
	tear_down(&s);
}

static void test_nothing_wanted(void **state)
{
	struct scene s;

	set_up(&s);
	s.options.chrome = "none";
	s.options.summary = "none";
	assert_int_equal(gp_finish(&s.trace, 1, &s.options), 0);
	assert_int_equal(access(s.chrome, F_OK), -1);
	s.options.quiet = true;
	s.options.summary = s.summary;
	assert_int_equal(gp_finish(&s.trace, 1, &s.options), 0);
	assert_int_equal(access(s.summary, F_OK), -1);
	s.options.chrome = "jsn";
	assert_int_equal(gp_finish(&s.trace, 1, &s.options), -EINVAL);
	tear_down(&s);
}

static void test_second_one_is_harmless(void **state)
{
	struct scene s;
	int lock;

	set_up(&s);
	s.options.quiet = true;
	lock = open(s.trace, O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(lock, LOCK_EX), 0);
	assert_int_equal(gp_finish(&s.trace, 1, &s.options), -EBUSY);
	assert_int_equal(access(s.chrome, F_OK), -1);
	close(lock);
	assert_int_equal(gp_finish(&s.trace, 1, &s.options), 0);
	tear_down(&s);
}

/* One bad trace does not keep the others from their summary. */
static void test_bad_trace_among_good_ones(void **state)
{
	char bad[] = "/tmp/gpuprof-test-no-such.gpuprof";
	struct scene s;
	int silence, saved = dup(STDERR_FILENO);

	set_up(&s);
	silence = open("/dev/null", O_WRONLY | O_CLOEXEC);
	dup2(silence, STDERR_FILENO);
	assert_int_equal(gp_finish((char *[]){bad, s.trace}, 2, &s.options), -ENOENT);
	dup2(saved, STDERR_FILENO);
	close(silence);
	close(saved);
	assert_non_null(strstr(read_file(s.summary), "cudaLaunchKernel"));
	tear_down(&s);
}

static void test_progress_is_shown(void **state)
{
	struct scene s;
	char byte;
	int pipe_fds[2];

	set_up(&s);
	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	s.options.progress_fd = pipe_fds[1];
	assert_int_equal(gp_finish(&s.trace, 1, &s.options), 0);
	close(pipe_fds[1]);
	assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
	close(pipe_fds[0]);
	tear_down(&s);
}

/* ---- output files ---- */

static void test_output_is_whole_or_not_there(void **state)
{
	struct gp_output_file file;
	struct scene s;
	char message[256];

	set_up(&s);
	assert_int_equal(gp_output_file_open(&file, s.chrome, s.trace, message, sizeof(message)),
			 0);
	fputs("text", file.stream);
	assert_int_equal(access(s.chrome, F_OK), -1);
	assert_int_equal(gp_output_file_close(&file, 0, message, sizeof(message)), 0);
	assert_string_equal(read_file(s.chrome), "text");

	assert_int_equal(gp_output_file_open(&file, s.chrome, s.trace, message, sizeof(message)),
			 0);
	fputs("half a", file.stream);
	assert_int_equal(gp_output_file_close(&file, -ENOMEM, message, sizeof(message)), -ENOMEM);
	assert_string_equal(read_file(s.chrome), "text");
	tear_down(&s);
}

static void test_output_that_cannot_be_written(void **state)
{
	struct gp_output_file file;
	char message[256] = "";

	assert_int_equal(
		gp_output_file_open(&file, "/no/such/folder/x", NULL, message, sizeof(message)),
		-ENOENT);
	assert_non_null(strstr(message, "/no/such/folder/x: "));
	assert_int_equal(gp_output_file_open(&file, "/dev/full", NULL, message, sizeof(message)),
			 0);
	fputs("text", file.stream);
	assert_int_equal(gp_output_file_close(&file, 0, message, sizeof(message)), -ENOSPC);
	assert_non_null(strstr(message, "free disk space"));
	assert_int_equal(access("/dev/full", F_OK), 0);
}

static void test_output_path(void **state)
{
	static const struct {
		const char *trace, *path;
	} paths[] = {
		{"app.gpuprof", "app.json"},
		{"/x.gpuprof/app.gpuprof.2.gpuprof", "/x.gpuprof/app.gpuprof.2.json"},
		{"odd", "odd.json"},
		{".gpuprof", ".gpuprof.json"},
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		char *path = gp_output_path(paths[i].trace, ".json");

		assert_string_equal(path, paths[i].path);
		free(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary_and_chrome_trace),
		cmocka_unit_test(test_summaries_are_appended_and_the_chrome_trace_is_replaced),
		cmocka_unit_test(test_nothing_wanted),
		cmocka_unit_test(test_second_one_is_harmless),
		cmocka_unit_test(test_bad_trace_among_good_ones),
		cmocka_unit_test(test_progress_is_shown),
		cmocka_unit_test(test_output_is_whole_or_not_there),
		cmocka_unit_test(test_output_that_cannot_be_written),
		cmocka_unit_test(test_output_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
