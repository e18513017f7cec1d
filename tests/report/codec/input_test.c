#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "report/codec/input.h"
#include "tests/lib/temporary.h"
#include "tests/unit.h"

static char path[] = "/tmp/gpuprof-input-XXXXXX";

static int make_path(void **state)
{
	int fd = temporary_file(strcpy(path, "/tmp/gpuprof-input-XXXXXX"));

	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	return unlink(path);
}

/* mode: "a" as it is (T), compressed; each is a member of its own. */
static void append(const char *text, const char *mode)
{
	gzFile file = gzopen(path, mode);

	assert_non_null(file);
	assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), (int)strlen(text));
	assert_int_equal(gzclose(file), Z_OK);
}

static void assert_reads(const char *expected)
{
	struct gp_input *input;
	char found[256];
	size_t length = 0;
	ssize_t got;

	assert_int_equal(gp_input_open(path, &input), 0);
	while ((got = gp_input_read(input, found + length, 7)) > 0)
		length += (size_t)got;
	gp_input_close(input);
	assert_int_equal(got, 0);
	found[length] = '\0';
	assert_string_equal(found, expected);
}

static void a_file_is_read_as_it_is(void **state)
{
	uint8_t head[64];

	assert_reads("");
	append("plain text of some length", "aT");
	assert_reads("plain text of some length");
	assert_false(gp_input_is_compressed(path));
	assert_int_equal(gp_input_head(path, head, 5), 5);
	assert_memory_equal(head, "plain", 5);
	assert_int_equal(gp_input_head(path, head, sizeof(head)), 25);
}

static void a_compressed_file_is_uncompressed(void **state)
{
	uint8_t head[5];

	append("one, ", "a");
	append("two", "a");
	assert_reads("one, two");
	assert_true(gp_input_is_compressed(path));
	assert_int_equal(gp_input_head(path, head, sizeof(head)), 5);
	assert_memory_equal(head, "one, ", 5);
}

/* Bytes of one value: they unpack to a thousand times what the file has. */
static void append_bomb(size_t bytes, const char *mode)
{
	static char block[1 << 20];
	gzFile file = gzopen(path, mode);

	assert_non_null(file);
	memset(block, ' ', sizeof(block));
	for (; bytes > 0; bytes -= sizeof(block))
		assert_int_equal(gzwrite(file, block, sizeof(block)), sizeof(block));
	assert_int_equal(gzclose(file), Z_OK);
}

static ssize_t read_all(size_t *length)
{
	static char block[1 << 16];
	struct gp_input *input;
	ssize_t got;

	*length = 0;
	assert_int_equal(gp_input_open(path, &input), 0);
	while ((got = gp_input_read(input, block, sizeof(block))) > 0)
		*length += (size_t)got;
	gp_input_close(input);
	return got;
}

static void a_file_that_unpacks_to_far_more_is_refused(void **state)
{
	const size_t small = 60 << 20, large = 200 << 20;
	size_t length;

	append_bomb(small, "w");
	assert_int_equal(read_all(&length), 0);
	assert_int_equal(length, small);
	append_bomb(large, "w");
	assert_int_equal(read_all(&length), -EFBIG);
	assert_true(length < 70 << 20);
	append_bomb(large, "wT");
	assert_int_equal(read_all(&length), 0);
	assert_int_equal(length, large);
}

static void what_is_no_file_is_not_opened(void **state)
{
	struct gp_input *input;
	uint8_t head[5];

	assert_int_equal(unlink(path), 0);
	assert_int_equal(gp_input_open(path, &input), -ENOENT);
	assert_int_equal(gp_input_head(path, head, sizeof(head)), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(gp_input_open(path, &input), -ESPIPE);
	assert_int_equal(gp_input_open("/tmp", &input), -EISDIR);
}

#define T(name) cmocka_unit_test_setup_teardown(name, make_path, remove_file)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_file_is_read_as_it_is),
		T(a_compressed_file_is_uncompressed),
		T(a_file_that_unpacks_to_far_more_is_refused),
		T(what_is_no_file_is_not_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
