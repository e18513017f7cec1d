#include "tests/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/codec/output_file.h"
#include "tests/lib/sanitizer.h"
#include "tests/lib/temporary.h"

struct scene {
	char folder[32], path[64], temporary[64], other[64];
	char message[256];
	struct gp_output_file file;
};

static void write_file(const char *path, const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fchmod(fileno(file), mode), 0);
	fclose(file);
}

static void assert_file(const char *path, const char *text)
{
	char read[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	read[fread(read, 1, sizeof(read) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(read, text);
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return status.st_mode & 0777;
}

static void begin(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	strcpy(s->folder, "/tmp/gpuprof-test-XXXXXX");
	assert_non_null(temporary_folder(s->folder));
	snprintf(s->path, sizeof(s->path), "%s/out", s->folder);
	snprintf(s->temporary, sizeof(s->temporary), "%s/out.tmp", s->folder);
	snprintf(s->other, sizeof(s->other), "%s/other", s->folder);
}

static const char *in_folder_of(const struct scene *s, const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%s", s->folder, name);
	return path;
}

static void end(struct scene *s)
{
	unlink(s->path);
	unlink(s->temporary);
	unlink(s->other);
	assert_int_equal(rmdir(s->folder), 0); /* nothing else was left */
}

static int write_output(struct scene *s, const char *text, int result)
{
	int opened = gp_output_file_open(&s->file, s->path, NULL, s->message, sizeof(s->message));

	if (opened != 0)
		return opened;
	fputs(text, s->file.stream);
	return gp_output_file_close(&s->file, result, s->message, sizeof(s->message));
}

static void test_it_is_there_as_a_whole_for_its_owner(void **state)
{
	struct scene s;

	begin(&s);
	assert_int_equal(write_output(&s, "new", 0), 0);
	assert_file(s.path, "new");
	assert_int_equal(mode_of(s.path), 0600);
	end(&s);
}

static void test_who_may_read_the_old_file_may_read_the_new_one(void **state)
{
	struct scene s;

	begin(&s);
	write_file(s.path, "old", 0666);
	assert_int_equal(write_output(&s, "new", 0), 0);
	assert_file(s.path, "new");
	assert_int_equal(mode_of(s.path), 0644);
	end(&s);
}

static void test_what_fails_leaves_what_was_there(void **state)
{
	struct scene s;

	begin(&s);
	write_file(s.path, "old", 0644);
	assert_int_not_equal(write_output(&s, "new", -EIO), 0);
	assert_file(s.path, "old");
	assert_int_equal(access(s.temporary, F_OK), -1);
	end(&s);
}

/* As `ulimit -f` has it: no signal ends us. */
static void test_a_file_that_may_not_grow_is_told(void **state)
{
	struct rlimit before, limit;
	struct scene s;
	int result;

	begin(&s);
	write_file(s.path, "old", 0644);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){.rlim_cur = 2, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	result = write_output(&s, "new", 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(result, -EFBIG);
	assert_non_null(strstr(s.message, "/out: "));
	assert_file(s.path, "old");
	end(&s);
}

/* Whoever may write to the folder may have put a file of his own there, or a second name of one. */
/* The writer went on to calls that fail for other reasons. */
static void test_the_reason_is_that_of_the_write(void **state)
{
	struct rlimit before, limit;
	struct scene s;

	begin(&s);
	assert_int_equal(gp_output_file_open(&s.file, s.path, NULL, s.message, sizeof(s.message)),
			 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){64, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 100; i++)
		fputs("more than the limit", s.file.stream);
	assert_int_equal(fflush(s.file.stream), EOF);
	assert_int_equal(access("/nowhere/at/all", F_OK), -1);
	assert_int_equal(gp_output_file_close(&s.file, 0, s.message, sizeof(s.message)), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_non_null(strstr(s.message, "ulimit -f"));
	end(&s);
}

static void test_a_file_in_the_way_is_not_written_to(void **state)
{
	struct scene s;

	begin(&s);
	write_file(s.other, "other", 0666);
	assert_int_equal(link(s.other, s.temporary), 0);
	assert_int_equal(write_output(&s, "new", 0), 0);
	assert_file(s.other, "other");
	assert_file(s.path, "new");
	assert_int_equal(mode_of(s.path), 0600);
	end(&s);
}

static void test_a_folder_in_the_way_is_told(void **state)
{
	struct scene s;

	begin(&s);
	assert_int_equal(mkdir(s.temporary, 0700), 0);
	assert_int_not_equal(write_output(&s, "new", 0), 0);
	assert_non_null(strstr(s.message, "/out: "));
	assert_int_equal(rmdir(s.temporary), 0);
	end(&s);
}

static void test_a_summary_is_written_over(void **state)
{
	struct scene s;

	begin(&s);
	write_file(s.path, "gpuprof: app, pid 1\n", 0600);
	assert_int_equal(write_output(&s, "new", 0), 0);
	assert_file(s.path, "new");
	end(&s);
}

static int write_compressed(struct scene *s)
{
	int opened = gp_output_file_open(&s->file, s->path, NULL, s->message, sizeof(s->message));

	assert_int_equal(opened, 0);
	assert_int_equal(gp_output_file_compress(&s->file), 0);
	fputs("new", s->file.stream);
	return gp_output_file_close(&s->file, 0, s->message, sizeof(s->message));
}

static void test_a_compressed_file_is_whole_or_not_there(void **state)
{
	struct rlimit before, limit;
	struct scene s;
	int result;

	begin(&s);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){.rlim_cur = 2, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	result = write_compressed(&s);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(result, -EFBIG);
	assert_int_equal(access(s.path, F_OK), -1);
	assert_int_equal(write_compressed(&s), 0);
	assert_file(s.path, "\x1f\x8b\x08");
	end(&s);
}

/* Its owner leads the folder's name elsewhere while the output is written, or the trace is read. */
static void test_a_folder_is_swapped(void **state)
{
	char run[64], trace[64], path[80], in_other[80];
	struct scene s;

	begin(&s);
	snprintf(run, sizeof(run), "%s/run", s.folder);
	snprintf(trace, sizeof(trace), "%s/run/t.gpuprof", s.folder);
	snprintf(path, sizeof(path), "%s/run/t.json", s.folder);
	snprintf(in_other, sizeof(in_other), "%s/t.json", s.other);
	assert_int_equal(mkdir(run, 0700) | mkdir(s.other, 0700), 0);
	write_file(trace, "trace", 0600);
	write_file(in_other, "mine", 0600);
	for (int is_late = 1; is_late >= 0; is_late--) {
		if (is_late)
			assert_int_equal(gp_output_file_open(&s.file, path, trace, s.message,
							     sizeof(s.message)),
					 0);
		assert_int_equal(rename(run, s.path), 0);
		assert_int_equal(symlink(s.other, run), 0);
		if (is_late)
			assert_int_equal(
				gp_output_file_close(&s.file, 0, s.message, sizeof(s.message)), 0);
		else
			assert_int_equal(gp_output_file_open(&s.file, path, trace, s.message,
							     sizeof(s.message)),
					 -ESTALE);
		gp_output_file_clean(path, trace);
		assert_int_equal(unlink(run) | rename(s.path, run), 0);
		assert_file(in_other, "mine");
		assert_int_equal(access(path, F_OK), is_late ? 0 : -1);
		unlink(path);
	}
	assert_int_equal(unlink(trace) | rmdir(run) | unlink(in_other) | rmdir(s.other), 0);
	end(&s);
}

/* Its first bytes tell, whatever its name, and also at the end of a link. */
static void test_a_trace_is_not_written_over(void **state)
{
	struct scene s;

	begin(&s);
	write_file(s.other, "gpuprof\1Gchk", 0600);
	assert_int_equal(symlink("other", s.path), 0);
	assert_int_equal(write_output(&s, "new", 0), -EEXIST);
	assert_non_null(
		strstr(s.message, "/out is a trace, and gpuprof does not overwrite traces"));
	assert_file(s.other, "gpuprof\1Gchk");
	assert_int_equal(unlink(s.path), 0);
	write_file(s.path, "gpuprof\1Gchk", 0600);
	assert_int_equal(write_output(&s, "new", 0), -EEXIST);
	assert_file(s.path, "gpuprof\1Gchk");
	end(&s);
}

static volatile size_t too_many_bytes = SIZE_MAX / 2;

/* Of three files, the one that is complete stays. */
static void test_no_temporary_file_is_left_without_memory(void **state)
{
	struct gp_output_file third;
	struct scene s;
	int status;
	pid_t child;

	if (UNDER_ASAN || UNDER_TSAN) /* their malloc() ends the program at once */
		skip();
	begin(&s);
	child = fork();
	if (child == 0) {
		struct gp_output_file first;

		gp_output_file_open(&first, s.other, NULL, s.message, sizeof(s.message));
		gp_output_file_open(&s.file, s.path, NULL, s.message, sizeof(s.message));
		gp_output_file_open(&third, in_folder_of(&s, "third"), NULL, s.message,
				    sizeof(s.message));
		fputs("text", s.file.stream);
		gp_output_file_close(&s.file, 0, s.message, sizeof(s.message));
		free(malloc(too_many_bytes));
		_exit(99);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_file(s.path, "text");
	assert_int_equal(unlink(s.path), 0);
	assert_int_equal(rmdir(s.folder), 0); /* it is empty */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_is_there_as_a_whole_for_its_owner),
		cmocka_unit_test(test_who_may_read_the_old_file_may_read_the_new_one),
		cmocka_unit_test(test_what_fails_leaves_what_was_there),
		cmocka_unit_test(test_a_file_that_may_not_grow_is_told),
		cmocka_unit_test(test_the_reason_is_that_of_the_write),
		cmocka_unit_test(test_a_file_in_the_way_is_not_written_to),
		cmocka_unit_test(test_a_folder_in_the_way_is_told),
		cmocka_unit_test(test_a_trace_is_not_written_over),
		cmocka_unit_test(test_a_folder_is_swapped),
		cmocka_unit_test(test_a_summary_is_written_over),
		cmocka_unit_test(test_a_compressed_file_is_whole_or_not_there),
		cmocka_unit_test(test_no_temporary_file_is_left_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
