/*
 * pack: what goes in comes back as the page reads it: base64, one member of gzip, planes of bytes.
 */
#include "tests/unit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report/html/pack.h"

#define ANY_HEADER (15 + 16)
#define MOST_BYTES (4u << 20)

static unsigned char packed[MOST_BYTES], unpacked[MOST_BYTES];

static int digit_of(char c)
{
	if (isupper((unsigned char)c))
		return c - 'A';
	if (islower((unsigned char)c))
		return c - 'a' + 26;
	if (isdigit((unsigned char)c))
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static size_t read_base64(const char *text, size_t length)
{
	uint32_t bits = 0, count = 0;
	size_t used = 0;

	assert_int_equal(length % 4, 0);
	for (size_t i = 0; i < length && text[i] != '='; i++) {
		assert_true(digit_of(text[i]) >= 0);
		bits = bits << 6 | (uint32_t)digit_of(text[i]);
		count += 6;
		if (count >= 8) {
			count -= 8;
			packed[used++] = (unsigned char)(bits >> count);
		}
	}
	return used;
}

/*
 * The content of the element that *text begins with, which it is moved behind; its tag must begin
 * so.
 */
static size_t read_element(char **text, const char *tag)
{
	char *start = strchr(*text, '>'), *end = strstr(*text, "</script>\n");
	z_stream zip = {.next_in = packed, .next_out = unpacked, .avail_out = MOST_BYTES};

	assert_non_null(start);
	assert_non_null(end);
	assert_memory_equal(*text, tag, strlen(tag));
	zip.avail_in = (uInt)read_base64(start + 1, (size_t)(end - start - 1));
	assert_int_equal(inflateInit2(&zip, ANY_HEADER), Z_OK);
	assert_int_equal(inflate(&zip, Z_FINISH), Z_STREAM_END);
	assert_int_equal(zip.avail_in, 0);
	inflateEnd(&zip);
	*text = end + strlen("</script>\n");
	return zip.total_out;
}

static void test_text_of_every_length_comes_back(void **state)
{
	static const char words[] = "</script><img src=x onerror=alert(1)>\xff";

	for (size_t length = 0; length < sizeof(words); length++) {
		char *text = NULL, *at;
		size_t text_bytes;
		FILE *out = open_memstream(&text, &text_bytes);

		assert_int_equal(gp_html_put_text(out, "about", words, length), 0);
		fclose(out);
		assert_null(strstr(text, "<img"));
		at = text;
		assert_int_equal(
			read_element(
				&at,
				"<script type=application/octet-stream data-k=about data-f=0 data-n=0 data-p=0>"),
			length);
		assert_memory_equal(unpacked, words, length);
		assert_int_equal(*at, '\0');
		free(text);
	}
}

static uint64_t value_of(uint32_t row, uint32_t column)
{
	static const uint64_t most[] = {0, 0xff, 0x1234, UINT64_C(0x1fffffffffffff)};

	return column == 3 && row % 1000 > 0
		       ? row
		       : most[column] & (row * UINT64_C(2654435761) | most[column]);
}

static uint64_t plane_value(const unsigned char *planes, uint32_t count, uint32_t planes_count,
			    uint32_t row)
{
	uint64_t value = 0;

	for (uint32_t plane = 0; plane < planes_count; plane++)
		value |= (uint64_t)planes[(size_t)plane * count + row] << (8 * plane);
	return value;
}

static void check_block(uint32_t first, uint32_t count)
{
	const uint32_t planes[] = {0, 1, 2, 7};
	const unsigned char *at = unpacked;

	for (uint32_t column = 0; column < 4; column++) {
		for (uint32_t row = 0; row < count; row++)
			assert_int_equal(plane_value(at, count, planes[column], row),
					 value_of(first + row, column));
		at += (size_t)count * planes[column];
	}
}

/* The next element has those rows, whatever the elements before it were. */
static void check_element(char **at, uint32_t first, uint32_t count)
{
	char tag[128];

	snprintf(
		tag, sizeof(tag),
		"<script type=application/octet-stream data-k=events data-f=%u data-n=%u data-p=0,1,2,7>",
		first, count);
	assert_int_equal(read_element(at, tag), count * 10u);
	check_block(first, count);
}

static void test_columns_are_cut_into_blocks_that_double(void **state)
{
	const uint32_t rows = 2 * GP_HTML_BLOCK + 1000;
	struct gp_html_columns columns;
	char *text = NULL, *at;
	size_t text_bytes;
	FILE *out = open_memstream(&text, &text_bytes);
	uint32_t first = GP_HTML_BLOCK_FIRST;

	assert_int_equal(gp_html_columns_open(&columns, out, "events", 4), 0);
	for (uint32_t i = 0; i < rows; i++) {
		assert_int_equal(gp_html_columns_at_block(&columns),
				 i % GP_HTML_BLOCK_FIRST == 0 &&
					 (i % GP_HTML_BLOCK == 0 ||
					  (i < GP_HTML_BLOCK && (i & (i - 1)) == 0)));
		gp_html_columns_add(&columns, (uint64_t[]){value_of(i, 0), value_of(i, 1),
							   value_of(i, 2), value_of(i, 3)});
	}
	assert_int_equal(gp_html_columns_close(&columns), 0);
	fclose(out);
	at = text;
	for (check_element(&at, 0, first); first < GP_HTML_BLOCK; first *= 2)
		check_element(&at, first, first);
	check_element(&at, GP_HTML_BLOCK, GP_HTML_BLOCK);
	check_element(&at, 2 * GP_HTML_BLOCK, 1000);
	assert_int_equal(*at, '\0');
	free(text);
}

static void test_no_rows_are_no_element(void **state)
{
	struct gp_html_columns columns;
	char *text = NULL;
	size_t text_bytes;
	FILE *out = open_memstream(&text, &text_bytes);

	assert_int_equal(gp_html_columns_open(&columns, out, "events", 1), 0);
	assert_int_equal(gp_html_columns_close(&columns), 0);
	fclose(out);
	assert_int_equal(text_bytes, 0);
	free(text);
}

static void test_differences_are_small_numbers(void **state)
{
	assert_int_equal(gp_html_zigzag(0), 0);
	assert_int_equal(gp_html_zigzag(-1), 1);
	assert_int_equal(gp_html_zigzag(1), 2);
	assert_int_equal(gp_html_zigzag(-1000), 1999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_of_every_length_comes_back),
		cmocka_unit_test(test_columns_are_cut_into_blocks_that_double),
		cmocka_unit_test(test_no_rows_are_no_element),
		cmocka_unit_test(test_differences_are_small_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
