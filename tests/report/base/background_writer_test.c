/*
 * behind: what is given is in the file, in order and whole, and a write that fails is told; nothing
 * is begun where it is not worth it.
 */
#include "tests/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "report/base/background_writer.h"
#include "report/base/parallel.h"

#define BUFFER_BYTES 4096u
#define BUFFERS      200u /* many times as many as there are */

/* How much of buffer number i is used: from nothing to all. */
static size_t used_of(uint32_t i)
{
	return (size_t)i * 977 % (BUFFER_BYTES + 1);
}

static char letter_of(uint32_t i)
{
	return (char)('a' + i % 26);
}

/* Gives all of them; returns the error, if any. */
static int give_all(FILE *to)
{
	struct gp_background_writer *behind = gp_background_writer_begin(to, BUFFER_BYTES);
	char *buffer = malloc(BUFFER_BYTES);
	int error;

	assert_non_null(behind);
	for (uint32_t i = 0; i < BUFFERS; i++) {
		memset(buffer, letter_of(i), used_of(i));
		buffer = gp_background_writer_give(behind, buffer, used_of(i));
		assert_non_null(buffer);
	}
	error = gp_background_writer_error(behind);
	assert_true(error == 0 || error == EFBIG);
	error = gp_background_writer_end(behind);
	free(buffer);
	return error;
}

static void test_all_is_there_in_order(void **state)
{
	FILE *file = tmpfile();

	if (gp_core_count() < 2)
		skip();
	assert_int_equal(give_all(file), 0);
	rewind(file);
	for (uint32_t i = 0; i < BUFFERS; i++)
		for (size_t at = 0; at < used_of(i); at++)
			assert_int_equal(getc(file), letter_of(i));
	assert_int_equal(getc(file), EOF);
	fclose(file);
}

static void test_a_file_that_may_not_grow_is_told(void **state)
{
	struct rlimit before, limit;
	FILE *file = tmpfile();
	int error;

	if (gp_core_count() < 2)
		skip();
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){.rlim_cur = 10 * BUFFER_BYTES, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	error = give_all(file);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(error, EFBIG);
	fclose(file);
}

static void test_only_plain_files_are_worth_it(void **state)
{
	FILE *null = fopen("/dev/null", "w");
	size_t length;
	char *text;
	FILE *memory = open_memstream(&text, &length);

	assert_null(gp_background_writer_begin(null, BUFFER_BYTES));
	assert_null(gp_background_writer_begin(memory, BUFFER_BYTES));
	fclose(null);
	fclose(memory);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_is_there_in_order),
		cmocka_unit_test(test_a_file_that_may_not_grow_is_told),
		cmocka_unit_test(test_only_plain_files_are_worth_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
