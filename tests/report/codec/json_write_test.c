#include "tests/unit.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "report/codec/json_write.h"

/* What was written, as a string to free; the writer is closed. */
static char *finish(struct gp_json *json)
{
	char *text = malloc(json->used + 1);

	memcpy(text, json->buffer, json->used);
	text[json->used] = '\0';
	assert_int_equal(gp_json_close(json), 0);
	return text;
}

static char *write_string(const char *bytes, size_t length)
{
	struct gp_json json;

	assert_int_equal(gp_json_open(&json, NULL), 0);
	gp_json_string(&json, bytes, length);
	return finish(&json);
}

static void check_string(const char *bytes, const char *expected)
{
	char *text = write_string(bytes, strlen(bytes));

	assert_string_equal(text, expected);
	free(text);
}

static void strings_are_escaped_strictly(void **state)
{
	check_string("plain", "\"plain\"");
	check_string("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
	check_string("\x01\n\t\x1f\x7f", "\"\\u0001\\u000a\\u0009\\u001f\\u007f\"");
	check_string("\xc2\x9b\xe2\x80\xae\xf3\xa0\x80\x81", "\"\\u009b\\u202e\\\\u{e0001}\"");
	check_string("gr\xc3\xb6\xf0\x9f\x9a\x80", "\"gr\xc3\xb6\xf0\x9f\x9a\x80\"");
	check_string("\xff", "\"\xef\xbf\xbd\"");
	check_string("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	check_string("\xe6\xa0", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
}

/* Every byte value alone, and each pair of them, makes a string that a strict parser takes. */
static void every_byte_is_safe(void **state)
{
	for (int first = 0; first < 256; first++)
		for (int second = 0; second < 256; second++) {
			const char bytes[2] = {(char)first, (char)second};
			char *text = write_string(bytes, 2);
			json_t *parsed = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

			assert_non_null(parsed);
			if (first < 128 && second < 128)
				assert_memory_equal(json_string_value(parsed), bytes, 2);
			assert_null(strstr(text, "\\ud"));
			json_decref(parsed);
			free(text);
		}
}

/* Escaped in pieces: no character may be torn at their borders. */
static void long_strings_stay_whole(void **state)
{
	const size_t length = 30000;
	char *bytes = malloc(length + 1);

	for (size_t skew = 0; skew < 4; skew++) {
		char *text;
		json_t *parsed;

		memset(bytes, 'x', skew);
		for (size_t i = skew; i < length; i++)
			bytes[i] = "\xf0\x9f\x9a\x80"[(i - skew) % 4];
		bytes[length - (length - skew) % 4] = '\0';
		text = write_string(bytes, strlen(bytes));
		parsed = json_loads(text, JSON_DECODE_ANY, NULL);
		assert_string_equal(json_string_value(parsed), bytes);
		json_decref(parsed);
		free(text);
	}
	free(bytes);
}

static void numbers_are_exact(void **state)
{
	struct gp_json json;
	char *text;

	assert_int_equal(gp_json_open(&json, NULL), 0);
	for (uint64_t power = 1; power < UINT64_MAX / 10; power *= 10) {
		char expected[64];

		json.used = 0;
		gp_json_unsigned(&json, power - 1);
		gp_json_text(&json, " ");
		gp_json_unsigned(&json, power);
		snprintf(expected, sizeof(expected), "%llu %llu", (unsigned long long)power - 1,
			 (unsigned long long)power);
		assert_int_equal(json.used, strlen(expected));
		assert_memory_equal(json.buffer, expected, json.used);
	}
	json.used = 0;
	gp_json_unsigned(&json, UINT64_MAX);
	gp_json_text(&json, " ");
	gp_json_signed(&json, INT64_MIN);
	gp_json_text(&json, " ");
	gp_json_us(&json, 0);
	gp_json_text(&json, " ");
	gp_json_us(&json, 7032212001049007);
	gp_json_text(&json, " ");
	gp_json_ratio(&json, 2, 3);
	gp_json_text(&json, " ");
	gp_json_ratio(&json, UINT64_MAX, UINT64_MAX - 1);
	gp_json_text(&json, " ");
	gp_json_address(&json, 0x7f0000001000);
	text = finish(&json);
	assert_string_equal(
		text,
		"18446744073709551615 -9223372036854775808 0.000 7032212001049.007 0.666666 1.000000 \"0x7f0000001000\"");
	free(text);
}

static void count_calls(void *context)
{
	++*(int *)context;
}

/* In a file, of which a thread writes most, there is what is in memory. */
static void a_long_file_is_whole(void **state)
{
	struct gp_json in_file, in_memory;
	FILE *file = tmpfile();

	assert_int_equal(gp_json_open(&in_file, file), 0);
	assert_int_equal(gp_json_open(&in_memory, NULL), 0);
	for (uint64_t i = 0; i < 1000000; i++) {
		gp_json_unsigned(&in_file, i);
		gp_json_unsigned(&in_memory, i);
	}
	assert_int_equal(gp_json_close(&in_file), 0);
	rewind(file);
	for (size_t at = 0; at < in_memory.used; at++)
		assert_int_equal(getc(file), in_memory.buffer[at]);
	assert_int_equal(getc(file), EOF);
	fclose(file);
	assert_int_equal(gp_json_close(&in_memory), 0);
}

/* Whoever wrote it, errno says why. */
static void a_file_that_may_not_grow_is_reported(void **state)
{
	struct rlimit before, limit;
	struct gp_json json;
	FILE *file = tmpfile();
	int result;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){.rlim_cur = 3 << 20, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(gp_json_open(&json, file), 0);
	for (uint64_t i = 0; i < 1000000; i++)
		gp_json_unsigned(&json, i);
	result = gp_json_close(&json);
	assert_int_equal(errno, EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(result, -EIO);
	fclose(file);
}

static void a_full_disk_is_reported(void **state)
{
	FILE *full = fopen("/dev/full", "w");
	struct gp_json json;
	int calls = 0;

	if (!full)
		skip();
	assert_int_equal(gp_json_open(&json, full), 0);
	json.progress = count_calls;
	json.progress_context = &calls;
	for (int i = 0; i < 400000; i++)
		gp_json_text(&json, "0123456789");
	assert_int_equal(gp_json_close(&json), -EIO);
	assert_true(calls >= 4);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_are_escaped_strictly),
		cmocka_unit_test(every_byte_is_safe),
		cmocka_unit_test(long_strings_stay_whole),
		cmocka_unit_test(numbers_are_exact),
		cmocka_unit_test(a_long_file_is_whole),
		cmocka_unit_test(a_file_that_may_not_grow_is_reported),
		cmocka_unit_test(a_full_disk_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
