#include <stdio.h>
#include <string.h>
#include "report/codec/interner.h"
#include "tests/unit.h"

static void equal_bytes_have_one_number(void **state)
{
	struct gp_interner texts = {0};
	bool is_new;

	assert_int_equal(gp_interner_number(&texts, "a", 1, &is_new), 1);
	assert_true(is_new);
	assert_int_equal(gp_interner_number(&texts, "ab", 2, &is_new), 2);
	assert_int_equal(gp_interner_number(&texts, "", 0, &is_new), 3);
	assert_true(is_new);
	assert_int_equal(gp_interner_number(&texts, "a\0b", 3, &is_new), 4);
	assert_int_equal(gp_interner_number(&texts, "ab", 2, &is_new), 2);
	assert_false(is_new);
	assert_int_equal(gp_interner_number(&texts, "", 0, &is_new), 3);
	assert_false(is_new);
	gp_interner_free(&texts);
}

static void nothing_at_first_has_a_number(void **state)
{
	struct gp_interner texts = {0};
	bool is_new;

	assert_int_equal(gp_interner_number(&texts, "", 0, &is_new), 1);
	assert_true(is_new);
	assert_int_equal(gp_interner_number(&texts, "", 0, &is_new), 1);
	assert_false(is_new);
	gp_interner_free(&texts);
}

static void numbers_stay_as_the_table_grows(void **state)
{
	struct gp_interner texts = {0};
	char text[16];
	bool is_new;

	for (int round = 0; round < 2; round++)
		for (uint32_t i = 1; i <= 20000; i++) {
			snprintf(text, sizeof(text), "%u", i);
			assert_int_equal(gp_interner_number(&texts, text, strlen(text), &is_new),
					 i);
			assert_int_equal(is_new, round == 0);
		}
	gp_interner_free(&texts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_bytes_have_one_number),
		cmocka_unit_test(nothing_at_first_has_a_number),
		cmocka_unit_test(numbers_stay_as_the_table_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
