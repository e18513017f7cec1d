/* memory_budget: charges, limits, shares and forked children. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/memory_budget.h"
#include "collector/intern.h"
#include "collector/sys.h"
#include "tests/unit.h"

#define MIB ((size_t)1 << 20)

/* As at the start of a process. */
static void begin_with(uint64_t most_bytes)
{
	gp_memory_budget_reset();
	gp_memory_budget_init(most_bytes);
}

static void without_a_limit_everything_is_granted(void **state)
{
	begin_with(0);
	assert_int_equal(gp_memory_budget_share(7, 100), 7);
	assert_int_equal(gp_memory_budget_share_pow2(16 * MIB, 32), 16 * MIB);
	assert_true(gp_memory_budget_charge(GP_MEMORY_BUDGET_INHERITED, 1000 * MIB));
	assert_int_equal(gp_memory_budget_peak(), GP_MEMORY_BUDGET_FIXED_BYTES + 1000 * MIB);
	gp_memory_budget_release(GP_MEMORY_BUDGET_INHERITED, 1000 * MIB);
	assert_int_equal(gp_memory_budget_refusals(), 0);
}

static void the_limit_holds_and_refusals_are_counted(void **state)
{
	begin_with(10 * MIB);
	assert_true(gp_memory_budget_charge(GP_MEMORY_BUDGET_INHERITED, 5 * MIB));
	assert_true(gp_memory_budget_charge(GP_MEMORY_BUDGET_NOT_INHERITED,
					    /* together with the fixed part, the whole limit */
					    3 * MIB));
	assert_false(gp_memory_budget_charge(GP_MEMORY_BUDGET_INHERITED, 1));
	gp_memory_budget_release(GP_MEMORY_BUDGET_INHERITED, 5 * MIB);
	assert_true(gp_memory_budget_charge(GP_MEMORY_BUDGET_INHERITED, 4 * MIB));
	assert_false(gp_memory_budget_charge(GP_MEMORY_BUDGET_NOT_INHERITED, 2 * MIB));
	assert_int_equal(gp_memory_budget_refusals(), 2);
	assert_int_equal(gp_memory_budget_peak(), 10 * MIB);
	gp_memory_budget_release(GP_MEMORY_BUDGET_INHERITED, 4 * MIB);
	gp_memory_budget_release(GP_MEMORY_BUDGET_NOT_INHERITED, 3 * MIB);
}

static void a_share_is_at_most_the_wanted_size(void **state)
{
	begin_with(64 * MIB);
	assert_int_equal(gp_memory_budget_limit(), 64 * MIB);
	assert_int_equal(gp_memory_budget_share(100 * MIB, 4), 16 * MIB);
	assert_int_equal(gp_memory_budget_share(10 * MIB, 4), 10 * MIB);
	assert_int_equal(gp_memory_budget_share_pow2(16 * MIB, 12), 4 * MIB); /* a twelfth is 5.3 */
	assert_int_equal(gp_memory_budget_share_pow2(gp_memory_budget_share_pow2(16 * MIB, 12), 12),
			 4 * MIB);
}

/* In the child, before it records anything; returns its exit status. */
static int take_in_child(void)
{
	if (!gp_memory_budget_charge(GP_MEMORY_BUDGET_NOT_INHERITED, 12 * MIB))
		return 1;
	if (gp_memory_budget_charge(GP_MEMORY_BUDGET_INHERITED,
				    MIB)) /* inherited memory is charged in the child, too */
		return 2;
	gp_memory_budget_release(GP_MEMORY_BUDGET_NOT_INHERITED, 11 * MIB);
	gp_memory_budget_reset();
	return gp_memory_budget_refusals() == 0 &&
			       gp_memory_budget_peak() ==
				       GP_MEMORY_BUDGET_FIXED_BYTES + 2 * MIB + MIB
		       ? 0
		       : 3;
}

static void memory_not_inherited_is_free_in_a_child(void **state)
{
	int status;
	pid_t child;

	begin_with(16 * MIB);
	assert_true(gp_memory_budget_charge(GP_MEMORY_BUDGET_INHERITED, 2 * MIB));
	assert_true(gp_memory_budget_charge(GP_MEMORY_BUDGET_NOT_INHERITED, 12 * MIB));
	assert_false(gp_memory_budget_charge(GP_MEMORY_BUDGET_NOT_INHERITED, MIB));
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(take_in_child());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_false(gp_memory_budget_charge(GP_MEMORY_BUDGET_NOT_INHERITED,
					     MIB)); /* the parent's charge is unchanged */
	gp_memory_budget_release(GP_MEMORY_BUDGET_NOT_INHERITED, 12 * MIB);
	gp_memory_budget_release(GP_MEMORY_BUDGET_INHERITED, 2 * MIB);
}

static void memory_of_the_system_is_charged(void **state)
{
	void *memory;

	begin_with(8 * MIB);
	assert_int_equal(gp_sys_map(-1, 0, 6 * MIB, &memory), 0);
	void *more = memory;
	assert_int_not_equal(gp_sys_map(-1, 0, MIB, &more), 0);
	assert_ptr_equal(more, memory);
	gp_sys_unmap(memory, 6 * MIB);
	assert_int_equal(gp_sys_map(-1, 0, MIB, &memory), 0);
	gp_sys_unmap(memory, MIB);
}

/* Only few keys fit: each key still gets an id, and no id repeats. */
static void a_small_table_of_names_suffices(void **state)
{
	struct gp_intern table = {.last_id = 0};
	uint8_t key[4096];
	uint32_t last = 0;
	bool is_new;

	begin_with(GP_MEMORY_BUDGET_FIXED_BYTES + MIB);
	memset(key, 'x', sizeof(key));
	for (uint32_t i = 1; i <= 2000; i++) {
		memcpy(key, &i, sizeof(i));
		assert_int_equal(gp_intern(&table, key, sizeof(key), &is_new), last + 1);
		assert_true(is_new);
		last++;
	}
	assert_true(gp_memory_budget_peak() <= gp_memory_budget_limit());
}

/* Known keys are found at the memory limit, even if the table would have to grow. */
static void known_keys_need_no_memory(void **state)
{
	struct gp_intern table = {.last_id = 0};
	const uint32_t keys = 1024 / 4 * 3; /* the table doubles at this size */
	bool is_new;

	begin_with(64 * MIB);
	for (uint32_t i = 1; i <= keys; i++)
		assert_int_equal(gp_intern(&table, &i, sizeof(i), &is_new), i);
	gp_memory_budget_init(1);
	for (uint32_t i = 1; i <= keys; i++) {
		assert_int_equal(gp_intern(&table, &i, sizeof(i), &is_new), i);
		assert_false(is_new);
	}
	assert_int_equal(gp_memory_budget_refusals(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_limit_everything_is_granted),
		cmocka_unit_test(the_limit_holds_and_refusals_are_counted),
		cmocka_unit_test(a_share_is_at_most_the_wanted_size),
		cmocka_unit_test(memory_not_inherited_is_free_in_a_child),
		cmocka_unit_test(memory_of_the_system_is_charged),
		cmocka_unit_test(a_small_table_of_names_suffices),
		cmocka_unit_test(known_keys_need_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
