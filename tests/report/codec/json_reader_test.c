#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "report/codec/json_reader.h"
#include "tests/unit.h"

/* A text that is handed out in pieces of a size. */
struct source {
	const char *text;
	size_t left, piece;
	int error; /* in place of the end */
};

static ssize_t give(void *context, void *buffer, size_t bytes)
{
	struct source *s = context;
	size_t count = s->left < s->piece ? s->left : s->piece;

	if (count == 0)
		return s->error;
	assert_true(count <= bytes);
	memcpy(buffer, s->text, count);
	s->text += count;
	s->left -= count;
	return (ssize_t)count;
}

/* What all tokens are, a letter each, with the texts of those that have one. */
static void spell(struct gp_json_reader *pull, char *out, size_t room)
{
	static const char letters[] = "{}[]k\"0w.!?E";
	size_t used = 0, bytes;

	for (;;) {
		enum gp_json_reader_token token = gp_json_reader_next(pull);
		int text = token >= GP_JSON_KEY && token <= GP_JSON_WORD;

		used += (size_t)snprintf(out + used, room - used, "%c%s", letters[token],
					 text ? gp_json_reader_text(pull, &bytes) : "");
		if (text)
			assert_int_equal(bytes, strlen(gp_json_reader_text(pull, &bytes)));
		assert_true(used < room);
		if (token >= GP_JSON_END)
			break;
	}
	assert_int_equal(gp_json_reader_next(pull), gp_json_reader_next(pull));
}

/* Whatever the pieces in which the text comes. */
static void assert_spelt(const char *text, const char *expected)
{
	for (size_t piece = 1; piece < 8; piece += 3) {
		struct source source = {text, strlen(text), piece, 0};
		struct gp_json_reader *pull = gp_json_reader_new(give, &source);
		char found[512];

		assert_non_null(pull);
		spell(pull, found, sizeof(found));
		assert_string_equal(found, expected);
		gp_json_reader_free(pull);
	}
}

static void values_come_one_by_one(void **state)
{
	assert_spelt("{}", "{}.");
	assert_spelt(" [ ]\n", "[].");
	assert_spelt("{\"a\": [1, -2.5e3, true, null], \"b\":{\"c\" : \"d\"}}",
		     "{ka[010-2.5e3wtruewnull]kb{kc\"d}}.");
	assert_spelt("\"x\"", "\"x.");
}

static void escapes_become_what_they_stand_for(void **state)
{
	assert_spelt("[\"\\\"\\\\\\/\\n\\t\\u0041\\u00e4\\u20ac\"]",
		     "[\"\"\\/\n\tA\xc3\xa4\xe2\x82\xac].");
	assert_spelt("[\"\\ud83d\\ude00\"]", "[\"\xf0\x9f\x98\x80].");
	/* half a pair, and the NUL, are no characters */
	assert_spelt("[\"\\ud83dx\\ude00\"]", "[\"\xef\xbf\xbdx\xef\xbf\xbd].");
	assert_spelt("[\"\\ud83d\\ud83d\\ude00\"]", "[\"\xef\xbf\xbd\xf0\x9f\x98\x80].");
	assert_spelt("[\"\\u0000\"]", "[\"\xef\xbf\xbd].");
}

static void a_little_more_than_json_is_taken(void **state)
{
	assert_spelt("[1,]", "[01].");
	assert_spelt("{\"a\":1,}", "{ka01}.");
	assert_spelt("[NaN,-Infinity]", "[wNaNw-Infinity].");
	assert_spelt("{} and more", "{}.");
	assert_spelt("[\"C:\\Users\\x\", \"C:\\users\"]", "[\"C:\\Users\\x\"C:\\users].");
}

static void the_end_of_the_input_is_told_from_damage(void **state)
{
	static const char whole[] = "{\"a\": [1, \"b\\u0041\", {\"c\": true}]}";

	for (size_t length = 0; length < sizeof(whole) - 1; length++) {
		struct source source = {whole, length, 5, 0};
		struct gp_json_reader *pull = gp_json_reader_new(give, &source);
		char found[512];

		spell(pull, found, sizeof(found));
		assert_int_equal(found[strlen(found) - 1], '!');
		gp_json_reader_free(pull);
	}
	assert_spelt("{1}", "{?");
	assert_spelt("{\"a\" 1}", "{?");
	assert_spelt("{\"a\":}", "{ka?");
	assert_spelt("[1 2]", "[01?");
	assert_spelt("[1}", "[01?");
	assert_spelt("]", "?");
	assert_spelt("[\"\\u12g4\"]", "[?");
	assert_spelt("[,1]", "[?");
}

static void what_reading_fails_with_is_kept(void **state)
{
	struct source source = {"[1, ", 4, 4, -EIO};
	struct gp_json_reader *pull = gp_json_reader_new(give, &source);
	char found[64];

	spell(pull, found, sizeof(found));
	assert_string_equal(found, "[01E");
	assert_int_equal(gp_json_reader_error(pull), -EIO);
	gp_json_reader_free(pull);
}

static void a_value_is_skipped_whole(void **state)
{
	static const char text[] = "{\"a\": {\"b\": [1, {}]}, \"c\": 2, \"d\": [[]]}";
	struct source source = {text, sizeof(text) - 1, 3, 0};
	struct gp_json_reader *pull = gp_json_reader_new(give, &source);

	assert_int_equal(gp_json_reader_next(pull), GP_JSON_OBJECT);
	for (const char *key = "acd"; *key; key++) {
		assert_int_equal(gp_json_reader_next(pull), GP_JSON_KEY);
		assert_true(gp_json_reader_is(pull, (const char[]){*key, '\0'}));
		assert_true(gp_json_reader_skip(pull, GP_JSON_KEY));
	}
	assert_int_equal(gp_json_reader_next(pull), GP_JSON_OBJECT_END);
	assert_int_equal(gp_json_reader_next(pull), GP_JSON_END);
	gp_json_reader_free(pull);
}

static void depth_is_bounded(void **state)
{
	char text[GP_JSON_DEPTH + 1], found[GP_JSON_DEPTH + 8];

	for (size_t depth = GP_JSON_DEPTH; depth <= GP_JSON_DEPTH + 1; depth++) {
		struct source source = {text, depth, 64, 0};
		struct gp_json_reader *pull = gp_json_reader_new(give, &source);

		memset(text, '[', sizeof(text));
		spell(pull, found, sizeof(found));
		assert_int_equal(found[strlen(found) - 1], depth > GP_JSON_DEPTH ? '?' : '!');
		gp_json_reader_free(pull);
	}
}

static void a_long_text_is_cut(void **state)
{
	size_t length = 3 * GP_JSON_TEXT_BYTES, bytes;
	char *text = malloc(length);
	struct source source = {text, length, 1000, 0};
	struct gp_json_reader *pull = gp_json_reader_new(give, &source);

	assert_non_null(text);
	memset(text, 'x', length);
	text[0] = '[';
	text[1] = text[length - 2] = '"';
	text[length - 1] = ']';
	assert_int_equal(gp_json_reader_next(pull), GP_JSON_ARRAY);
	assert_int_equal(gp_json_reader_next(pull), GP_JSON_STRING);
	gp_json_reader_text(pull, &bytes);
	assert_int_equal(bytes, GP_JSON_TEXT_BYTES);
	assert_int_equal(gp_json_reader_next(pull), GP_JSON_ARRAY_END);
	gp_json_reader_free(pull);
	free(text);
}

static struct gp_json_reader *pull_number(struct source *source, const char *text)
{
	struct gp_json_reader *pull;

	*source = (struct source){text, strlen(text), 4, 0};
	pull = gp_json_reader_new(give, source);
	assert_int_equal(gp_json_reader_next(pull), GP_JSON_ARRAY);
	gp_json_reader_next(pull);
	return pull;
}

static void numbers_are_exact(void **state)
{
	static const struct {
		const char *text;
		int64_t whole;
		uint64_t thousandths;
	} numbers[] = {
		{"[0]", 0, 0},
		{"[4385423242561.504]", 4385423242561, 4385423242561504},
		{"[1790857026000000.5]", 1790857026000000, 1790857026000000500},
		{"[\"12.25\"]", 12, 12250},
		{"[0.0004]", 0, 0},
		{"[0.0005]", 0, 1},
		{"[1.5e3]", 1500, 1500000},
		{"[2.5e-2]", 0, 25},
		{"[-7]", -7, -7000},
		{"[-0.0016]", 0, -2},
		{"[1.7300000001234567e15]", 1730000000123456, 1730000000123456700},
		{"[1730000000000000.123e0]", 1730000000000000, 1730000000000000123},
		{"[0.00000000000000000000001e26]", 1000, 1000000},
		{"[9223372036854775.807]", 9223372036854775, INT64_MAX},
		{"[0.123456789012345678901234567890]", 0, 123},
		{"[1e-300]", 0, 0},
		{"[0.-01]", 0, -1},
		{"[-1.-500]", -1, -1500},
		{"[9223372036854775.-99999999999999999999]", 9223372036854775, -INT64_MAX},
		{"[18446744073709551615]", -1, INT64_MAX},
		{"[1e300]", INT64_MAX, INT64_MAX},
		{"[99999999999999999999999]", -1, INT64_MAX},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct source source;
		struct gp_json_reader *pull = pull_number(&source, numbers[i].text);
		int64_t whole, thousandths;

		assert_true(gp_json_reader_whole(pull, &whole));
		assert_true(gp_json_reader_thousandths(pull, &thousandths));
		assert_int_equal(whole, numbers[i].whole);
		assert_int_equal(thousandths, numbers[i].thousandths);
		gp_json_reader_free(pull);
	}
}

static void a_word_is_no_number(void **state)
{
	static const char *const texts[] = {"[NaN]", "[true]", "[\"\"]", "[\"-\"]", "[\"x1\"]"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct source source;
		struct gp_json_reader *pull = pull_number(&source, texts[i]);

		assert_false(gp_json_reader_whole(pull, &(int64_t){0}));
		assert_false(gp_json_reader_thousandths(pull, &(int64_t){0}));
		gp_json_reader_free(pull);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_one_by_one),
		cmocka_unit_test(escapes_become_what_they_stand_for),
		cmocka_unit_test(a_little_more_than_json_is_taken),
		cmocka_unit_test(the_end_of_the_input_is_told_from_damage),
		cmocka_unit_test(what_reading_fails_with_is_kept),
		cmocka_unit_test(a_value_is_skipped_whole),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(a_long_text_is_cut),
		cmocka_unit_test(numbers_are_exact),
		cmocka_unit_test(a_word_is_no_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
