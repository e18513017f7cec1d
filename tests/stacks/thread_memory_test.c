/* thread_memory: the charged memory of threads that capture call stacks. */

#include "tests/unit.h"

#include <errno.h>
#include <sys/syscall.h>

#include "collector/memory_budget.h"
#include "collector/sys.h"
#include "stacks/thread_memory.h"

#define MIB   ((size_t)1 << 20)
#define BOUND (32 * MIB) /* threads may use a quarter of it */

static int begin(void **state)
{
	gp_memory_budget_reset();
	gp_memory_budget_init(BOUND);
	return 0;
}

static uint64_t peak_bytes(void)
{
	return gp_memory_budget_peak() - GP_MEMORY_BUDGET_FIXED_BYTES;
}

static void only_taken_memory_is_charged(void **state)
{
	uint32_t taken = 1;
	unsigned char *memory = gp_thread_memory_map(100 * MIB, MIB);

	assert_non_null(memory);
	assert_int_equal(memory[100 * MIB - 1], 0);
	assert_int_equal(peak_bytes(), MIB);
	/* the thread already has this memory */
	assert_true(gp_thread_memory_take(&taken, 0, 2 * MIB));
	assert_int_equal(peak_bytes(), MIB);
	assert_true(gp_thread_memory_take(&taken, 31, 2 * MIB));
	assert_true(gp_thread_memory_take(&taken, 31, 2 * MIB));
	assert_int_equal(peak_bytes(), 3 * MIB);
	assert_int_equal(taken, 1u << 31 | 1);
	gp_thread_memory_unmap(memory, 100 * MIB, 3 * MIB);
}

static void all_threads_together_have_a_quarter(void **state)
{
	uint32_t taken = 0;
	void *first = gp_thread_memory_map(100 * MIB, 3 * MIB);
	void *second = gp_thread_memory_map(100 * MIB, 4 * MIB);

	assert_non_null(first);
	assert_non_null(second);
	assert_null(gp_thread_memory_map(100 * MIB, 2 * MIB));
	assert_false(gp_thread_memory_take(&taken, 5, 2 * MIB));
	assert_int_equal(taken, 0);
	assert_true(gp_thread_memory_take(&taken, 5, MIB));
	assert_int_equal(peak_bytes(), 8 * MIB);
	gp_thread_memory_unmap(first, 100 * MIB, 4 * MIB);
	assert_non_null(first = gp_thread_memory_map(100 * MIB, 4 * MIB));
	gp_thread_memory_unmap(first, 100 * MIB, 4 * MIB);
	gp_thread_memory_unmap(second, 100 * MIB, 4 * MIB);
}

static long (*real_call)(long, long, long, long, long, long, long);

static long no_memory(long number, long a, long b, long c, long d, long e, long f)
{
	return number == SYS_mmap ? -ENOMEM : real_call(number, a, b, c, d, e, f);
}

static void failed_mappings_are_not_charged(void **state)
{
	void *memory;

	real_call = gp_sys.call;
	gp_sys.call = no_memory;
	assert_null(gp_thread_memory_map(MIB, 8 * MIB));
	gp_sys.call = real_call;
	assert_non_null(memory = gp_thread_memory_map(MIB, 8 * MIB));
	gp_thread_memory_unmap(memory, MIB, 8 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(only_taken_memory_is_charged, begin),
		cmocka_unit_test_setup(all_threads_together_have_a_quarter, begin),
		cmocka_unit_test_setup(failed_mappings_are_not_charged, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
