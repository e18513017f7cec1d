/* memory_ledger: which rows a block counts in, and their peaks. */
#include "gpuprof/record.h"
#include "report/model/memory_ledger.h"
#include "tests/unit.h"

static void allocate(struct gp_memory_ledger *ledger, uint8_t kind, uint64_t bytes, uint64_t time)
{
	assert_int_equal(gp_memory_ledger_allocate(ledger, 3, kind, bytes, time), 0);
}

static void test_kinds_of_a_device_share_a_peak(void **state)
{
	struct gp_memory_ledger ledger = {0};
	const struct gp_memory_row *row;

	allocate(&ledger, GP_MEMORY_DEVICE, 100, 1);
	allocate(&ledger, GP_MEMORY_ASYNC, 50, 2);
	gp_memory_ledger_release(&ledger, 3, GP_MEMORY_DEVICE, 100, true);
	allocate(&ledger, GP_MEMORY_MANAGED, 1000, 3);
	allocate(&ledger, GP_MEMORY_DEVICE, 90, 4);
	row = gp_memory_ledger_row(&ledger, 3, GP_MEMORY_OF_DEVICE);
	assert_int_equal(row->peak_bytes, 150);
	assert_int_equal(row->peak_time, 2);
	assert_int_equal(row->peaks, 2);
	assert_int_equal(row->now_bytes, 140);
	assert_int_equal(row->blocks, 2);
	assert_int_equal(row->allocations, 3);
	assert_int_equal(row->allocated_bytes, 240);
	assert_int_equal(row->frees, 1);
	assert_int_equal(row->freed_bytes, 100);
	row = gp_memory_ledger_row(&ledger, 3, GP_MEMORY_DEVICE);
	assert_int_equal(row->peak_bytes, 100);
	assert_int_equal(row->now_bytes, 90);
	assert_int_equal(ledger.row_count, 4);
	gp_memory_ledger_clear(&ledger);
}

/* Blocks that go with their process are no frees; a row is never below zero. */
static void test_blocks_that_are_not_freed(void **state)
{
	struct gp_memory_ledger ledger = {0};
	const struct gp_memory_row *row;

	assert_int_equal(
		gp_memory_ledger_allocate(&ledger, GP_MEMORY_OF_HOST, GP_MEMORY_PINNED, 7, 1), 0);
	gp_memory_ledger_release(&ledger, GP_MEMORY_OF_HOST, GP_MEMORY_PINNED, 9, false);
	gp_memory_ledger_release(&ledger, 0, GP_MEMORY_DEVICE, 9, true);
	assert_int_equal(ledger.row_count, 1);
	row = gp_memory_ledger_row(&ledger, GP_MEMORY_OF_HOST, GP_MEMORY_PINNED);
	assert_int_equal(row->now_bytes, 0);
	assert_int_equal(row->blocks, 0);
	assert_int_equal(row->frees, 0);
	assert_int_equal(row->freed_bytes, 0);
	gp_memory_ledger_clear(&ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds_of_a_device_share_a_peak),
		cmocka_unit_test(test_blocks_that_are_not_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
