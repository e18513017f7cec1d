#include <sys/resource.h>

#include "report/model/sums/live_memory.h"
#include "tests/unit.h"

struct event {
	uint8_t op, kind;
	uint64_t start_ticks;
	uint64_t address, bytes, handle;
	uint16_t device, status;
};

/* A call of 10 ticks, in context 1. */
static void take(struct gp_live_memory *memory, struct event event)
{
	const struct gp_record_memory record = {
		.call = {.kind = GP_RECORD_MEMORY,
			 .slots = 2,
			 .start_ticks = event.start_ticks,
			 .duration_low_ticks = 10,
			 .status = event.status,
			 .context_id = 1},
		.address = event.address,
		.bytes = event.bytes,
		.pool = event.handle,
		.op = event.op,
		.memory_kind = event.kind,
		.device_id = event.device,
	};

	assert_int_equal(gp_live_memory_take(memory, &record), 0);
}

static void allocate(struct gp_live_memory *memory, uint64_t start_ticks, uint64_t address,
		     uint64_t bytes)
{
	take(memory, (struct event){.op = GP_MEMORY_ALLOC,
				    .kind = GP_MEMORY_DEVICE,
				    .start_ticks = start_ticks,
				    .address = address,
				    .bytes = bytes});
}

static void release(struct gp_live_memory *memory, uint64_t start_ticks, uint64_t address)
{
	take(memory, (struct event){.op = GP_MEMORY_FREE,
				    .kind = GP_MEMORY_DEVICE,
				    .start_ticks = start_ticks,
				    .address = address});
}

static void assert_row(struct gp_live_memory *memory, size_t device, uint8_t kind,
		       uint64_t now_bytes, uint64_t peak_bytes, uint64_t blocks)
{
	const struct gp_memory_row *row;

	assert_int_equal(gp_live_memory_settle(memory), 0);
	row = gp_memory_ledger_row(&memory->ledger, device, kind);
	assert_non_null(row);
	assert_int_equal(row->now_bytes, now_bytes);
	assert_int_equal(row->peak_bytes, peak_bytes);
	assert_int_equal(row->blocks, blocks);
}

static void test_what_is_allocated_and_its_peak(void **state)
{
	struct gp_live_memory memory = {0};

	allocate(&memory, 100, 0x1000, 64);
	allocate(&memory, 200, 0x2000, 32);
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, 96, 96, 2);
	release(&memory, 300, 0x1000);
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, 32, 96, 1);
	allocate(&memory, 400, 0x1000, 100);
	release(&memory, 500, 0x1000);
	release(&memory, 600, 0);
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, 32, 132, 1);
	assert_null(gp_memory_ledger_row(&memory.ledger, 1, GP_MEMORY_OF_DEVICE));
	gp_live_memory_free(&memory);
}

/*
 * Freed by cudaFree whatever it is of that family; the sum of a device has neither managed nor host
 * memory.
 */
static void test_kinds(void **state)
{
	struct gp_live_memory memory = {0};

	take(&memory, (struct event){GP_MEMORY_ALLOC, GP_MEMORY_MANAGED, 1, 0x10, 5, 0, 1, 0});
	take(&memory, (struct event){GP_MEMORY_ALLOC, GP_MEMORY_PINNED, 2, 0x10, 6, 0, 1, 0});
	take(&memory, (struct event){GP_MEMORY_ALLOC, GP_MEMORY_ASYNC, 3, 0x20, 7, 0, 1, 0});
	take(&memory, (struct event){GP_MEMORY_ALLOC, GP_MEMORY_ARRAY, 4, 0x20, 8, 0, 1, 0});
	assert_row(&memory, 1, GP_MEMORY_OF_DEVICE, 15, 15, 2);
	assert_row(&memory, 1, GP_MEMORY_MANAGED, 5, 5, 1);
	assert_row(&memory, GP_MEMORY_OF_HOST, GP_MEMORY_PINNED, 6, 6, 1);
	release(&memory, 500, 0x10);
	release(&memory, 510, 0x20);
	assert_row(&memory, 1, GP_MEMORY_MANAGED, 0, 5, 0);
	assert_row(&memory, GP_MEMORY_OF_HOST, GP_MEMORY_PINNED, 6, 6, 1);
	assert_row(&memory, 1, GP_MEMORY_OF_DEVICE, 8, 15, 1);
	gp_live_memory_free(&memory);
}

static void test_calls_without_effect(void **state)
{
	struct gp_live_memory memory = {0};

	allocate(&memory, 100, 0x1000, 64);
	take(&memory, (struct event){GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 200, 0x2000, 64, 0, 0, 2});
	take(&memory, (struct event){GP_MEMORY_ALLOC, GP_MEMORY_ASYNC, 210, 0x3000, 64, 0, 0,
				     GP_CALL_CAPTURED});
	take(&memory, (struct event){9, GP_MEMORY_DEVICE, 220, 0x4000, 64, 0, 0, 0});
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, 64, 64, 1);
	take(&memory, (struct event){GP_MEMORY_FREE, GP_MEMORY_DEVICE, 300, 0x1000, 0, 0, 0, 4});
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, 0, 64, 0); /* after the end of CUDA */
	gp_live_memory_free(&memory);
}

/*
 * One thread frees, another is given the same memory; their records come in any order, now or at
 * the next reading.
 */
static void test_records_out_of_order(void **state)
{
	struct gp_live_memory memory = {0};

	allocate(&memory, 300, 0x1000, 5);
	release(&memory, 200, 0x1000);
	allocate(&memory, 100, 0x1000, 7);
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, 5, 7, 1);
	release(&memory, 250, 0x1000);
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, 5, 7, 1);
	release(&memory, 500, 0x2000); /* its allocation comes later */
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, 5, 7, 1);
	allocate(&memory, 400, 0x2000, 3);
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, 5, 8, 1);
	gp_live_memory_free(&memory);
}

/* A free that nothing belongs to is not kept for ever. */
static void test_a_free_of_something_unknown(void **state)
{
	struct gp_live_memory memory = {0};

	release(&memory, 100, 0x1000);
	for (int i = 0; i < 2; i++)
		assert_int_equal(gp_live_memory_settle(&memory), 0);
	assert_int_equal(memory.event_count, 0);
	allocate(&memory, 50, 0x1000, 5);
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, 5, 5, 1);
	gp_live_memory_free(&memory);
}

/* An address that is allocated twice: a free is missing. */
static void test_a_free_that_is_missing(void **state)
{
	struct gp_live_memory memory = {0};

	allocate(&memory, 100, 0x1000, 5);
	allocate(&memory, 200, 0x1000, 6);
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, 6, 6, 1);
	gp_live_memory_free(&memory);
}

static void test_physical_memory_lives_as_long_as_its_mappings(void **state)
{
	struct gp_live_memory memory = {0};

	take(&memory, (struct event){GP_MEMORY_ALLOC, GP_MEMORY_PHYSICAL, 100, 0xa, 64, 0, 0, 0});
	take(&memory,
	     (struct event){GP_MEMORY_MAP, GP_MEMORY_PHYSICAL, 200, 0x1000, 64, 0xa, 0, 0});
	take(&memory, (struct event){GP_MEMORY_FREE, GP_MEMORY_PHYSICAL, 300, 0xa, 0, 0, 0, 0});
	take(&memory, (struct event){GP_MEMORY_ALLOC, GP_MEMORY_PHYSICAL, 310, 0xb, 32, 0, 0, 0});
	take(&memory, (struct event){GP_MEMORY_RETAIN, GP_MEMORY_PHYSICAL, 320, 0xb, 0, 0, 0, 0});
	take(&memory, (struct event){GP_MEMORY_FREE, GP_MEMORY_PHYSICAL, 340, 0xb, 0, 0, 0, 0});
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, 96, 96, 2);
	take(&memory,
	     (struct event){GP_MEMORY_UNMAP, GP_MEMORY_PHYSICAL, 400, 0x1000, 64, 0, 0, 0});
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, 32, 96, 1);
	take(&memory, (struct event){GP_MEMORY_FREE, GP_MEMORY_PHYSICAL, 500, 0xb, 0, 0, 0, 0});
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, 0, 96, 0);
	gp_live_memory_free(&memory);
}

static void test_what_ends_with_its_context(void **state)
{
	struct gp_live_memory memory = {0};
	struct gp_record_context_end end = {.id = 2, .ticks = 400};

	for (uint64_t i = 0; i < 100; i++)
		allocate(&memory, 100 + i, 0x1000 * (i + 1), 1);
	take(&memory, (struct event){GP_MEMORY_ALLOC, GP_MEMORY_PHYSICAL, 300, 0xa, 64, 0, 0, 0});
	assert_int_equal(gp_live_memory_end_context(&memory, &end), 0);
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, 164, 164, 101);
	end.id = 1;
	assert_int_equal(gp_live_memory_end_context(&memory, &end), 0);
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, 64, 164, 1);
	gp_live_memory_free(&memory);
}

/* In a second, where it took minutes: time does not grow with blocks times contexts. */
static void test_many_contexts_end_beside_many_blocks(void **state)
{
	const uint64_t many = 100000;
	const struct rlimit limit = {.rlim_cur = 20, .rlim_max = RLIM_INFINITY};
	struct gp_live_memory memory = {0};

	assert_int_equal(setrlimit(RLIMIT_CPU, &limit), 0);
	for (uint64_t i = 0; i < many; i++) {
		const struct gp_record_context_end end = {.id = (uint32_t)(2 + i),
							  .ticks = 200 + many + i};

		allocate(&memory, 100 + i, 0x1000 * (i + 1), 1);
		assert_int_equal(gp_live_memory_end_context(&memory, &end), 0);
	}
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, many, many, many);
	assert_int_equal(
		gp_live_memory_end_context(
			&memory, &(struct gp_record_context_end){.id = 1, .ticks = 1u << 30}),
		0);
	assert_row(&memory, 0, GP_MEMORY_OF_DEVICE, 0, many, 0);
	gp_live_memory_free(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_allocated_and_its_peak),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_calls_without_effect),
		cmocka_unit_test(test_records_out_of_order),
		cmocka_unit_test(test_a_free_of_something_unknown),
		cmocka_unit_test(test_a_free_that_is_missing),
		cmocka_unit_test(test_physical_memory_lives_as_long_as_its_mappings),
		cmocka_unit_test(test_what_ends_with_its_context),
		cmocka_unit_test(test_many_contexts_end_beside_many_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
