#include <stdlib.h>

#include "tests/unit.h"
#include "tests/report/trace_builder.h"

#define OTHER_CALL 500

/* A call of 10 ns on a handle, at its time. */
static void add(struct gp_builder *b, uint8_t op, uint64_t start_ns, uint64_t address,
		uint64_t bytes, uint64_t handle)
{
	gp_builder_add(b,
		       &(struct gp_record_memory){.call = {.kind = GP_RECORD_MEMORY,
							   .api = OTHER_CALL,
							   .start_ticks = GP_TEST_AT_TICK(start_ns),
							   .duration_low_ticks = 10,
							   .context_id = 1},
						  .address = address,
						  .bytes = bytes,
						  .pool = handle,
						  .op = op,
						  .memory_kind = GP_MEMORY_PHYSICAL});
}

/* As PyTorch's expandable segments do it: the handle is given up while the memory is mapped. */
static void test_released_while_mapped(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, 100);
	add(&b, GP_MEMORY_ALLOC, 100, 0xa, 4096, 0);
	add(&b, GP_MEMORY_MAP, 120, 0x1000, 4096, 0xa);
	add(&b, GP_MEMORY_FREE, 140, 0xa, 0, 0);
	add(&b, GP_MEMORY_UNMAP, 500, 0x1000, 4096, 0);
	m = gp_builder_finish(&b);
	assert_int_equal(m->memory_count, 2);
	assert_int_equal(m->memory[0].bytes, 4096);
	assert_int_equal(m->memory[0].other, 1);
	assert_int_equal(m->memory[1].time_ns, 510);
	assert_int_equal(m->memory[1].bytes, 4096);
	assert_int_equal(m->calls[m->memory[1].call].start_ns, 500);
	for (uint32_t i = 0; i < m->call_count; i++)
		if (m->calls[i].start_ns == 140)
			assert_int_equal(m->calls[i].memory, GP_NONE);
	assert_int_equal(m->losses.frees_unknown, 0);
	gp_model_free(m);
}

static void test_released_last(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, 100);
	add(&b, GP_MEMORY_ALLOC, 100, 0xa, 4096, 0);
	add(&b, GP_MEMORY_MAP, 120, 0x1000, 4096, 0xa);
	add(&b, GP_MEMORY_RETAIN, 130, 0xa, 0, 0);
	add(&b, GP_MEMORY_FREE, 140, 0xa, 0, 0);
	add(&b, GP_MEMORY_UNMAP, 500, 0x1000, 4096, 0);
	add(&b, GP_MEMORY_FREE, 600, 0xa, 0, 0);
	m = gp_builder_finish(&b);
	assert_int_equal(m->memory_count, 2);
	assert_int_equal(m->memory[1].time_ns, 610);
	assert_int_equal(m->memory[1].other, 0);
	gp_model_free(m);
}

/* One unmapping ends several mappings; one of them is mapped twice. */
static void test_several_mappings(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, 100);
	add(&b, GP_MEMORY_ALLOC, 100, 0xa, 10, 0);
	add(&b, GP_MEMORY_ALLOC, 120, 0xb, 20, 0);
	add(&b, GP_MEMORY_MAP, 140, 0x1000, 10, 0xa);
	add(&b, GP_MEMORY_MAP, 160, 0x2000, 20, 0xb);
	add(&b, GP_MEMORY_MAP, 180, 0x9000, 20, 0xb);
	add(&b, GP_MEMORY_MAP, 190, 0x3000, 20, 0xdead); /* of a handle that is not known */
	add(&b, GP_MEMORY_FREE, 200, 0xa, 0, 0);
	add(&b, GP_MEMORY_FREE, 220, 0xb, 0, 0);
	add(&b, GP_MEMORY_UNMAP, 300, 0x1000, 0x2000, 0);
	add(&b, GP_MEMORY_UNMAP, 400, 0x9000, 20, 0);
	add(&b, GP_MEMORY_ALLOC, 500, 0xa, 40, 0); /* the handle's number again */
	m = gp_builder_finish(&b);
	assert_int_equal(m->memory_count, 5);
	assert_int_equal(m->memory[2].time_ns, 310);
	assert_int_equal(m->memory[2].bytes, 10);
	assert_int_equal(m->memory[3].time_ns, 410);
	assert_int_equal(m->memory[3].bytes, 20);
	assert_int_equal(m->memory[4].other, GP_NONE);
	assert_int_equal(m->losses.frees_unknown, 0);
	gp_model_free(m);
}

static void test_a_release_too_many(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, 100);
	add(&b, GP_MEMORY_ALLOC, 100, 0xa, 10, 0);
	add(&b, GP_MEMORY_RETAIN, 120, 0xb, 0, 0);
	add(&b, GP_MEMORY_FREE, 200, 0xa, 0, 0);
	add(&b, GP_MEMORY_FREE, 220, 0xa, 0, 0);
	m = gp_builder_finish(&b);
	assert_int_equal(m->memory_count, 3);
	assert_int_equal(m->memory[1].other, 0);
	assert_int_equal(m->losses.frees_unknown, 1);
	gp_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_released_while_mapped),
		cmocka_unit_test(test_released_last),
		cmocka_unit_test(test_several_mappings),
		cmocka_unit_test(test_a_release_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
