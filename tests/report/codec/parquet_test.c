/* Parquet files: their parts as the descriptions of Thrift and Parquet have them, and whole files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/codec/parquet.h"
#include "report/codec/parquet_encoding.h"
#include "report/codec/thrift.h"
#include "tests/report/parquet_reader.h"
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

/* ---- whole files ---- */

static const struct gp_parquet_column columns[] = {{"number", GP_PARQUET_SIGNED},
						   {"text", GP_PARQUET_TEXT},
						   {"address", GP_PARQUET_UNSIGNED},
						   {"part", GP_PARQUET_REAL}};

struct written {
	struct gp_parquet *file;
	FILE *out;
	char *bytes;
	size_t length;
};

static void begin(struct written *written)
{
	written->out = open_memstream(&written->bytes, &written->length);
	gp_parquet_open(&written->file, written->out, columns, 4);
}

/* What a reader finds in the file. */
static void end(struct written *written, const char *expected)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(gp_parquet_close(written->file), 0);
	fclose(written->out);
	parquet_print(out, written->bytes, written->length);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	free(written->bytes);
}

static void test_cells_of_all_types(void **state)
{
	struct written written;

	begin(&written);
	gp_parquet_put_whole(written.file, 0, (uint64_t)-7);
	gp_parquet_put_text(written.file, 1, "gemm");
	gp_parquet_put_whole(written.file, 2, 3);
	gp_parquet_put_real(written.file, 3, 0.5);
	gp_parquet_end_row(written.file);
	gp_parquet_put_text(written.file, 1, "");
	gp_parquet_put_whole(written.file, 2, UINT64_MAX);
	gp_parquet_put_real(written.file, 3, -2e9);
	gp_parquet_end_row(written.file);
	gp_parquet_put_whole(written.file, 0, 5);
	gp_parquet_put_text(written.file, 1, "not \xff UTF-8");
	gp_parquet_put_whole(written.file, 2, 1);
	gp_parquet_end_row(written.file);
	gp_parquet_put_text(written.file, 1, "gemm");
	gp_parquet_put_whole(written.file, 2, 2);
	gp_parquet_end_row(written.file);
	end(&written, "-- group of 4 rows\n"
		      "number: type 2, encoding 5, 0 texts, 2 null, -7 to 5\n"
		      "text: type 6, encoding 8, 3 texts, 0 null\n"
		      "address: type 2, encoding 5, 0 texts, 0 null, 0x1 to 0xffffffffffffffff\n"
		      "part: type 5, encoding 0, 0 texts, 2 null\n"
		      "-7|gemm|0x3|0.5\n"
		      "||0xffffffffffffffff|-2e+09\n"
		      "5|not \xef\xbf\xbd UTF-8|0x1|\n"
		      "|gemm|0x2|\n");
}

/* Each group has a dictionary and ranges of its own; a column may have no value at all. */
static void test_groups(void **state)
{
	static const char *const texts[] = {"a", "b", "c", "b", "d"};
	struct written written;

	begin(&written);
	for (uint32_t i = 0; i < 5; i++) {
		gp_parquet_put_whole(written.file, 0, 10 - i);
		gp_parquet_put_text(written.file, 1, texts[i]);
		gp_parquet_end_row(written.file);
		if (i == 2) {
			gp_parquet_end_group(written.file);
			gp_parquet_end_group(written.file); /* without rows: none */
		}
	}
	end(&written, "-- group of 3 rows\n"
		      "number: type 2, encoding 5, 0 texts, 0 null, 8 to 10\n"
		      "text: type 6, encoding 8, 3 texts, 0 null\n"
		      "address: type 2, encoding 5, 0 texts, 3 null\n"
		      "part: type 5, encoding 0, 0 texts, 3 null\n"
		      "10|a||\n9|b||\n8|c||\n"
		      "-- group of 2 rows\n"
		      "number: type 2, encoding 5, 0 texts, 0 null, 6 to 7\n"
		      "text: type 6, encoding 8, 2 texts, 0 null\n"
		      "address: type 2, encoding 5, 0 texts, 2 null\n"
		      "part: type 5, encoding 0, 0 texts, 2 null\n"
		      "7|b||\n6|d||\n");
	begin(&written);
	end(&written, "");
}

/* More than a block of differences, than a group of levels, and than a byte of dictionary. */
static void test_many_rows(void **state)
{
	struct written written;
	char *expected, text[16];
	size_t length;
	FILE *out = open_memstream(&expected, &length);

	begin(&written);
	fputs("-- group of 1000 rows\n"
	      "number: type 2, encoding 5, 0 texts, 334 null, 1 to 996004\n"
	      "text: type 6, encoding 8, 300 texts, 0 null\n"
	      "address: type 2, encoding 5, 0 texts, 1000 null\n"
	      "part: type 5, encoding 0, 0 texts, 999 null\n",
	      out);
	for (uint32_t i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "text %u", i % 300);
		if (i % 3 != 0) {
			gp_parquet_put_whole(written.file, 0, (uint64_t)i * i);
			fprintf(out, "%u", i * i);
		}
		gp_parquet_put_text(written.file, 1, text);
		if (i == 700)
			gp_parquet_put_real(written.file, 3, 3);
		gp_parquet_end_row(written.file);
		fprintf(out, "|%s||%s\n", text, i == 700 ? "3" : "");
	}
	fclose(out);
	end(&written, expected);
	free(expected);
}

/* Its length has more than 24 bits. */
static void test_a_long_text(void **state)
{
	const size_t length = ((size_t)1 << 24) + 5;
	char *text = malloc(length + 1), *expected;
	struct written written;

	assert_non_null(text);
	memset(text, 'x', length);
	text[length] = '\0';
	begin(&written);
	gp_parquet_put_text(written.file, 1, text);
	gp_parquet_end_row(written.file);
	assert_true(asprintf(&expected,
			     "-- group of 1 rows\n"
			     "number: type 2, encoding 5, 0 texts, 1 null\n"
			     "text: type 6, encoding 8, 1 texts, 0 null\n"
			     "address: type 2, encoding 5, 0 texts, 1 null\n"
			     "part: type 5, encoding 0, 0 texts, 1 null\n"
			     "|%s||\n",
			     text) > 0);
	end(&written, expected);
	free(expected);
	free(text);
}

static void test_full_groups_end(void **state)
{
	static const char second[] = "-- group of 1 rows\n";
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct written written;

	begin(&written);
	for (uint32_t i = 0; i <= GP_PARQUET_GROUP_ROWS; i++)
		gp_parquet_end_row(written.file);
	assert_int_equal(gp_parquet_close(written.file), 0);
	fclose(written.out);
	parquet_print(out, written.bytes, written.length);
	fclose(out);
	assert_memory_equal(text, "-- group of 262144 rows\n", 24);
	assert_non_null(strstr(text, second));
	free(text);
	free(written.bytes);
}

static void test_a_full_disk(void **state)
{
	FILE *out = fopen("/dev/full", "w");
	struct gp_parquet *file;

	assert_non_null(out);
	setvbuf(out, NULL, _IONBF, 0);
	gp_parquet_open(&file, out, columns, 4);
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
		cmocka_unit_test(test_cells_of_all_types),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_many_rows),
		cmocka_unit_test(test_a_long_text),
		cmocka_unit_test(test_full_groups_end),
		cmocka_unit_test(test_a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
