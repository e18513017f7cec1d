/* Parquet files: their parts as the descriptions of Thrift and Parquet have them; e2e/parquet_test.py reads whole files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/codec/parquet.h"
#include "report/codec/parquet_encoding.h"
#include "report/codec/thrift.h"
#include "tests/unit.h"

static void assert_bytes(struct gp_protobuf *found, const void *bytes, size_t length)
{
	assert_int_equal(found->error, 0);
	assert_int_equal(found->used, length);
	assert_memory_equal(found->bytes, bytes, length);
	gp_protobuf_free(found);
}

static void test_fields_follow_the_last_id(void **state)
{
	struct gp_thrift thrift = {.depth = 0};

	gp_thrift_i32(&thrift, 1, 1);
	gp_thrift_i64(&thrift, 3, -1);
	gp_thrift_begin(&thrift, 5);
	gp_thrift_text(&thrift, 2, "ab");
	gp_thrift_end(&thrift);
	gp_thrift_list(&thrift, 6, GP_THRIFT_I32, 2);
	gp_thrift_element_i32(&thrift, 3);
	gp_thrift_element_i32(&thrift, -64);
	gp_thrift_end(&thrift);
	assert_bytes(&thrift.bytes,
		     "\x15\x02"
		     "\x26\x01"
		     "\x2c\x28\x02"
		     "ab\0"
		     "\x19\x25\x06\x7f"
		     "\0",
		     15);
}

static void test_long_lists(void **state)
{
	struct gp_thrift thrift = {.depth = 0};

	gp_thrift_list(&thrift, 1, GP_THRIFT_STRUCT, 200);
	assert_bytes(&thrift.bytes, "\x19\xfc\xc8\x01", 4);
}

static void test_packed_numbers(void **state)
{
	static const uint64_t values[] = {0, 1, 2, 3, 4, 5, 6, 7, 1};
	struct gp_protobuf page = {0};

	/* Parquet's own example, and a number in a second group of eight */
	gp_parquet_put_packed(&page, values, 9, 3);
	assert_bytes(&page, "\x05\x88\xc6\xfa\x01\0\0", 7);
	gp_parquet_put_run(&page, 1, 100);
	assert_bytes(&page, "\xc8\x01\x01", 3);
	assert_int_equal(gp_parquet_bits(0), 0);
	assert_int_equal(gp_parquet_bits(7), 3);
	assert_int_equal(gp_parquet_bits(UINT64_MAX), 64);
}

static void test_differences(void **state)
{
	/* Parquet's own examples: a constant difference needs no bits; 7, 5, 3, 1, 2, 3, 4, 5 two */
	static const uint64_t even[] = {1, 2, 3, 4, 5}, bent[] = {7, 5, 3, 1, 2, 3, 4, 5};
	struct gp_protobuf page = {0};

	gp_parquet_put_deltas(&page, even, 5);
	assert_bytes(&page, "\x80\x01\x04\x05\x02\x02\0\0\0\0", 10);
	gp_parquet_put_deltas(&page, bent, 8);
	/* 0, 0, 0, 3, 3, 3, 3, then 25 zeros of two bits each */
	assert_bytes(&page, "\x80\x01\x04\x08\x0e\x03\x02\0\0\0\xc0\x3f\0\0\0\0\0\0", 18);
	gp_parquet_put_deltas(&page, NULL, 0);
	assert_bytes(&page, "\x80\x01\x04\0\0", 5);
}

/* The largest numbers on both sides: their difference overflows. */
static void test_differences_of_any_size(void **state)
{
	static const uint64_t ends[] = {INT64_MAX, (uint64_t)INT64_MIN, INT64_MAX};
	struct gp_protobuf page = {0};

	gp_parquet_put_deltas(&page, ends, 3);
	/* the differences are 1 and -1, modulo 2^64 */
	assert_bytes(&page,
		     "\x80\x01\x04\x03\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
		     "\x01\x02\0\0\0\x02\0\0\0\0\0\0\0",
		     27);
}

static const struct gp_parquet_column columns[] = {{"number", GP_PARQUET_SIGNED},
						   {"text", GP_PARQUET_TEXT}};

/* The length of the metadata of a file with so many rows, in groups that end after so many. */
static uint32_t write_rows(uint32_t rows, uint32_t group)
{
	struct gp_parquet *file;
	char *bytes;
	size_t length;
	uint32_t footer_bytes;
	FILE *out = open_memstream(&bytes, &length);

	assert_int_equal(gp_parquet_open(&file, out, columns, 2), 0);
	for (uint32_t i = 0; i < rows; i++) {
		gp_parquet_put_whole(file, 0, i);
		gp_parquet_end_row(file);
		if ((i + 1) % group == 0)
			gp_parquet_end_group(file);
	}
	assert_int_equal(gp_parquet_close(file), 0);
	fclose(out);
	assert_memory_equal(bytes, "PAR1", 4);
	assert_memory_equal(bytes + length - 4, "PAR1", 4);
	memcpy(&footer_bytes, bytes + length - 8, sizeof(footer_bytes));
	assert_true(footer_bytes + 12 <= length);
	free(bytes);
	return footer_bytes;
}

static void test_groups(void **state)
{
	uint32_t none = write_rows(0, 1), one = write_rows(10, 20), two = write_rows(20, 10);

	assert_true(none < one && one < two);
	/* a group that is full ends by itself */
	assert_true(write_rows(GP_PARQUET_GROUP_ROWS + 1, UINT32_MAX) >
		    write_rows(GP_PARQUET_GROUP_ROWS, UINT32_MAX) + (two - one) / 2);
	assert_int_equal(write_rows(GP_PARQUET_GROUP_ROWS, GP_PARQUET_GROUP_ROWS),
			 write_rows(GP_PARQUET_GROUP_ROWS, UINT32_MAX));
}

static void test_a_full_disk(void **state)
{
	FILE *out = fopen("/dev/full", "w");
	struct gp_parquet *file;

	assert_non_null(out);
	setvbuf(out, NULL, _IONBF, 0);
	assert_int_equal(gp_parquet_open(&file, out, columns, 2), 0);
	gp_parquet_put_text(file, 1, "text");
	gp_parquet_end_row(file);
	assert_int_equal(gp_parquet_close(file), -EIO);
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_follow_the_last_id),
		cmocka_unit_test(test_long_lists),
		cmocka_unit_test(test_packed_numbers),
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_differences_of_any_size),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
