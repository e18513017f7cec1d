#include "report/run/environment.h"
#include "tests/unit.h"

static char *const some[] = {"A=1", "B=", "A=2", "AB=3", NULL};

static int copy(void **state)
{
	static struct gp_environment environment;

	*state = &environment;
	return gp_environment_copy(&environment, some);
}

static int discard(void **state)
{
	gp_environment_free(*state);
	return 0;
}

static void test_a_copy_says_the_same(void **state)
{
	struct gp_environment *environment = *state;

	assert_int_equal(environment->count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(environment->entries[i], some[i]);
	assert_null(environment->entries[4]);
	assert_string_equal(gp_environment_get(environment, "A"), "1");
	assert_string_equal(gp_environment_get(environment, "B"), "");
	assert_null(gp_environment_get(environment, "C"));
}

static void test_set_replaces_every_entry_of_the_name(void **state)
{
	struct gp_environment *environment = *state;

	assert_int_equal(gp_environment_set(environment, "A", "x"), 0);
	assert_int_equal(environment->count, 3);
	assert_string_equal(gp_environment_get(environment, "A"), "x");
	assert_string_equal(gp_environment_get(environment, "AB"), "3");
	assert_null(environment->entries[3]);
}

static void test_joining_keeps_the_old_value(void **state)
{
	struct gp_environment *environment = *state;

	assert_int_equal(gp_environment_prepend(environment, "AB", "first"), 0);
	assert_string_equal(gp_environment_get(environment, "AB"), "first:3");
	assert_int_equal(gp_environment_append(environment, "AB", "last"), 0);
	assert_string_equal(gp_environment_get(environment, "AB"), "first:3:last");
	assert_int_equal(gp_environment_append(environment, "B", "alone"), 0);
	assert_string_equal(gp_environment_get(environment, "B"), "alone");
	assert_int_equal(gp_environment_prepend(environment, "NEW", "alone"), 0);
	assert_string_equal(gp_environment_get(environment, "NEW"), "alone");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_copy_says_the_same, copy, discard),
		cmocka_unit_test_setup_teardown(test_set_replaces_every_entry_of_the_name, copy,
						discard),
		cmocka_unit_test_setup_teardown(test_joining_keeps_the_old_value, copy, discard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
