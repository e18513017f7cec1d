/*
 * gzip: what is written comes back by zlib's own reader, whole, as one member, whatever the pieces
 * it was written in.
 */
#include "tests/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report/codec/gzip.h"

#define MOST_BYTES (40u << 20) /* more than all blocks together */
#define ANY_HEADER (15 + 16)   /* zlib's way to ask for a gzip header */

static unsigned char text[MOST_BYTES];

static void make_text(void)
{
	uint32_t state = 1;

	for (size_t i = 0; i < sizeof(text); i++) {
		state = state * 1664525u + 1013904223u;
		text[i] = i % 3000 < 2000 ? (unsigned char)('a' + i % 23)
					  : (unsigned char)(state >> 24);
	}
}

static char *pack(size_t length, size_t piece, size_t *packed_bytes)
{
	char *packed = NULL;
	FILE *to = open_memstream(&packed, packed_bytes);
	FILE *stream = gp_gzip_open(to);

	assert_non_null(stream);
	for (size_t at = 0; at < length; at += piece) {
		size_t part = length - at < piece ? length - at : piece;

		assert_int_equal(fwrite(text + at, 1, part, stream), part);
	}
	assert_int_equal(fclose(stream), 0);
	assert_int_equal(fclose(to), 0);
	return packed;
}

static void assert_comes_back(size_t length, size_t piece)
{
	size_t packed_bytes;
	char *packed = pack(length, piece, &packed_bytes);
	unsigned char *back = malloc(length + 1);
	z_stream zip = {.next_in = (unsigned char *)packed,
			.avail_in = (uInt)packed_bytes,
			.next_out = back,
			.avail_out = (uInt)length + 1};

	assert_int_equal(inflateInit2(&zip, ANY_HEADER), Z_OK);
	assert_int_equal(inflate(&zip, Z_FINISH), Z_STREAM_END); /* sums are right, too */
	assert_int_equal(zip.avail_in, 0);
	assert_int_equal(zip.total_out, length);
	assert_memory_equal(back, text, length);
	inflateEnd(&zip);
	free(back);
	free(packed);
}

static void test_it_comes_back(void **state)
{
	make_text();
	assert_comes_back(0, 1);
	assert_comes_back(1, 1);
	assert_comes_back(100000, 7);
	assert_comes_back(1u << 20, 1u << 20);
	assert_comes_back((1u << 20) + 1, 1u << 18);
	assert_comes_back(MOST_BYTES - 5, 300000);
}

static void test_a_full_disk_is_told(void **state)
{
	FILE *to = fopen("/dev/full", "w");
	FILE *stream = gp_gzip_open(to);

	assert_non_null(stream);
	make_text();
	setvbuf(to, NULL, _IONBF, 0);
	fwrite(text, 1, sizeof(text), stream);
	errno = 0;
	assert_int_equal(fclose(stream), EOF);
	assert_int_equal(errno, ENOSPC);
	fclose(to);
}

static void test_a_name_says_it(void **state)
{
	assert_true(gp_gzip_is_meant("folder/app.json.gz"));
	assert_false(gp_gzip_is_meant("app.json"));
	assert_false(gp_gzip_is_meant(".gz"));
	assert_false(gp_gzip_is_meant("-"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_comes_back),
		cmocka_unit_test(test_a_full_disk_is_told),
		cmocka_unit_test(test_a_name_says_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
