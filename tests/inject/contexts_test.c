/* contexts: the device of each context, and which contexts are alive. */

#include "inject/contexts.h"
#include "tests/unit.h"

static CUcontext context_of(uint32_t id)
{
	return (CUcontext)(uintptr_t)(0x1000 + id);
}

static void unknown_contexts_have_no_device(void **state)
{
	assert_null(gp_contexts_living(0));
	assert_null(gp_contexts_living(7));
	assert_int_equal(gp_contexts_device(7), 0);
	gp_contexts_remove(7);
	assert_null(gp_contexts_living(UINT32_MAX));
}

/* As in a program that resets its device repeatedly. */
static void any_number_of_them(void **state)
{
	for (uint32_t id = 1; id < 5 * GP_CONTEXT_LIMIT; id++) {
		gp_contexts_add(context_of(id), id, (uint16_t)(id % 3));
		assert_ptr_equal(gp_contexts_living(id), context_of(id));
		gp_contexts_remove(id);
		assert_null(gp_contexts_living(id));
		assert_int_equal(gp_contexts_device(id), id % 3);
	}
}

/* Another context now has its slot. */
static void an_old_context_does_not_affect_a_new_one(void **state)
{
	uint32_t old = 10 * GP_CONTEXT_LIMIT + 1, new = old + GP_CONTEXT_LIMIT;

	gp_contexts_add(context_of(old), old, 1);
	gp_contexts_add(context_of(new), new, 2);
	assert_null(gp_contexts_living(old));
	gp_contexts_remove(old);
	assert_ptr_equal(gp_contexts_living(new), context_of(new));
	assert_int_equal(gp_contexts_device(new), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_contexts_have_no_device),
		cmocka_unit_test(any_number_of_them),
		cmocka_unit_test(an_old_context_does_not_affect_a_new_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
