/* small_file: what is read, and each reason why it is not. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/codec/small_file.h"
#include "tests/lib/temporary.h"
#include "tests/unit.h"

#define ORIGIN "gpuprof makes such files"

static char message[256];

static int read_file(const char *path, size_t most_bytes, char **text)
{
	return gp_small_file_read(path, most_bytes, ORIGIN, text, message, sizeof(message));
}

static void check_refused(const char *path, size_t most_bytes, int error, const char *why)
{
	char *text, line[256];

	assert_int_equal(read_file(path, most_bytes, &text), error);
	free(text);
	snprintf(line, sizeof(line), "cannot read %s: %s; " ORIGIN, path, why);
	assert_string_equal(message, line);
}

static void write_file(const char *path, const char *bytes, size_t count)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, count, file), count);
	assert_int_equal(fclose(file), 0);
}

static void a_text_is_read_as_it_is(void **state)
{
	char *text;

	write_file("text", "two\nlines", 9);
	assert_int_equal(read_file("text", 9, &text), 0);
	assert_string_equal(text, "two\nlines");
	free(text);
	write_file("empty", "", 0);
	assert_int_equal(read_file("empty", 9, &text), 0);
	assert_string_equal(text, "");
	free(text);
}

/* And nobody is waited for. */
static void what_is_no_small_text_is_refused(void **state)
{
	write_file("text", "two\nlines", 9);
	write_file("bytes", "a\0b", 3);
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_int_equal(mkdir("folder", 0700), 0);
	check_refused("text", 8, -EFBIG, "it is too large");
	check_refused("bytes", 9, -EINVAL, "it is not a text file");
	check_refused("pipe", 9, -ENODATA, "no program writes to this pipe");
	check_refused("folder", 9, -EISDIR, "Is a directory");
	check_refused("missing", 9, -ENOENT, "No such file or directory");
}

static int enter_folder(void **state)
{
	static char folder[] = "/tmp/gpuprof-small-XXXXXX";

	*state = temporary_folder(folder);
	return *state ? chdir(folder) : -1;
}

static int leave_folder(void **state)
{
	static const char *const files[] = {"text", "empty", "bytes", "pipe"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(files[i]);
	rmdir("folder");
	return chdir("/") != 0 || rmdir(*state) != 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_is_read_as_it_is),
		cmocka_unit_test(what_is_no_small_text_is_refused),
	};

	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
