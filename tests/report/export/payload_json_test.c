#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/payload_json.h"
#include "tests/unit.h"

static void expect_json(uint8_t kind, uint64_t value, const char *expected)
{
	struct gp_json json;

	assert_int_equal(gp_json_open(&json, NULL), 0);
	gp_payload_json_value(&json, kind, value);
	gp_json_bytes(&json, "", 1);
	assert_string_equal(json.buffer, expected);
	assert_int_equal(gp_json_close(&json), 0);
}

static void expect_floating(double floating, const char *expected)
{
	uint64_t value;

	memcpy(&value, &floating, sizeof(value));
	expect_json(GP_PAYLOAD_FLOATING, value, expected);
}

static void test_what_is_no_number_of_json_is_text(void **state)
{
	expect_json(GP_PAYLOAD_UNSIGNED, (uint64_t)1 << 53, "9007199254740992");
	expect_json(GP_PAYLOAD_UNSIGNED, ((uint64_t)1 << 53) + 1, "\"0x20000000000001\"");
	expect_json(GP_PAYLOAD_UNSIGNED, UINT64_MAX, "\"0xffffffffffffffff\"");
	expect_json(GP_PAYLOAD_SIGNED, (uint64_t)-3, "-3");
	expect_json(GP_PAYLOAD_SIGNED, (uint64_t)1 << 63, "\"-9223372036854775808\"");
	expect_floating(0.5, "0.5");
	expect_floating((double)__builtin_inff(), "\"inf\"");
	expect_floating((double)-__builtin_inff(), "\"-inf\"");
	expect_floating((double)__builtin_nanf(""), "\"nan\"");
}

static void test_a_name_occurs_once(void **state)
{
	const int32_t numbers[] = {7, -1};
	const char schema[] = "1\t8\tPair\n0\t5\t0\t0\trank \"a\"\n0\t5\t4\t0\trank \"a\"\n";
	struct gp_text texts[] = {
		{GP_STRING_SCHEMA, 1, 0, sizeof(schema) - 1, (char *)schema},
		{GP_STRING_PAYLOAD, 1, 1, sizeof(numbers), (char *)numbers},
	};
	const struct gp_model model = {.texts = texts, .text_count = 2};
	struct gp_json json;

	assert_int_equal(gp_json_open(&json, NULL), 0);
	gp_payload_json_fields(&json, &model, 1);
	gp_json_bytes(&json, "", 1);
	assert_string_equal(json.buffer, "{\"rank \\\"a\\\"\":7,\"rank \\\"a\\\" (2)\":-1}");
	assert_int_equal(gp_json_close(&json), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_no_number_of_json_is_text),
		cmocka_unit_test(test_a_name_occurs_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
