/* Which free belongs to which allocation. */
#include "tests/unit.h"
#include "tests/report/trace_builder.h"

#define THREAD 100

static void test_frees_find_their_allocations(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 100, 0xa000, 64);
	gp_builder_memory(&b, GP_MEMORY_PINNED, 200, 0xa000, 128); /* another family */
	gp_builder_memory(&b, GP_MEMORY_MANAGED, 300, 0xb000, 256);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 400, 0xa000, 0);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 500, 0xb000, 0);  /* cudaFree of managed memory */
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 600, 0xa000, 32); /* the address again */
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 700, 0xdead, 0);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 800, 0, 0); /* cudaFree(0) */
	m = gp_builder_finish(&b);
	assert_int_equal(m->memory_count, 8);
	assert_int_equal(m->memory[0].time_ns, 110);
	assert_int_equal(m->memory[0].other, 3);
	assert_int_equal(m->memory[3].other, 0);
	assert_int_equal(m->memory[3].bytes, 64);
	assert_int_equal(m->memory[1].other, GP_NONE);
	assert_int_equal(m->memory[2].other, 4);
	assert_int_equal(m->memory[4].bytes, 256);
	assert_int_equal(m->memory[4].memory_kind, GP_MEMORY_MANAGED);
	assert_int_equal(m->memory[5].other, GP_NONE);
	assert_int_equal(m->losses.frees_unknown, 1);
	for (uint32_t i = 0; i < m->memory_count; i++)
		assert_int_equal(m->calls[m->memory[i].call].memory, i);
	gp_model_free(m);
}

static void add_free(struct gp_builder *b, uint64_t start_ns, uint32_t duration_ns,
		     uint64_t address)
{
	gp_builder_add(b,
		       &(struct gp_record_memory){.call = {.kind = GP_RECORD_MEMORY,
							   .api = GP_TEST_FREE,
							   .start_ticks = GP_TEST_AT_TICK(start_ns),
							   .duration_low_ticks = duration_ns},
						  .address = address,
						  .op = GP_MEMORY_FREE,
						  .memory_kind = GP_MEMORY_DEVICE});
}

/* An address that another thread got while the call that freed it had not returned. */
static void test_address_reused_during_the_free(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 100, 0xa000, 64);
	gp_builder_chunk(&b, 2, 200);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 205, 0xa000, 32); /* returns at 215 */
	gp_builder_chunk(&b, 1, THREAD);
	add_free(&b, 200, 100, 0xa000);
	m = gp_builder_finish(&b);
	assert_int_equal(m->memory[0].bytes, 64);
	assert_int_equal(m->memory[0].other, 1);
	assert_int_equal(m->memory[1].time_ns, 214); /* so that the two are never there together */
	assert_int_equal(m->memory[2].time_ns, 215);
	assert_int_equal(m->memory[2].bytes, 32);
	assert_int_equal(m->memory[2].other, GP_NONE);
	gp_model_free(m);
}

/* The memory is there until the free has waited for the device. */
static void test_allocated_during_a_free(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 100, 0xa000, 64);
	gp_builder_chunk(&b, 2, 200);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 205, 0xb000, 32);
	gp_builder_chunk(&b, 1, THREAD);
	add_free(&b, 200, 100, 0xa000);
	m = gp_builder_finish(&b);
	assert_int_equal(m->memory[1].bytes, 32);
	assert_int_equal(m->memory[2].bytes, 64);
	assert_int_equal(m->memory[2].time_ns, 300);
	assert_int_equal(m->memory[0].other, 2);
	assert_int_equal(m->memory[2].other, 0);
	gp_model_free(m);
}

static void test_memory_calls_that_had_no_effect(void **state)
{
	static const struct {
		uint16_t status;
		uint8_t op;
		bool counts;
	} cases[] = {
		{0, GP_MEMORY_ALLOC, true},
		{2, GP_MEMORY_ALLOC, false},
		{GP_CALL_CAPTURED, GP_MEMORY_ALLOC, false},
		{4, GP_MEMORY_ALLOC, false},
		{4, GP_MEMORY_FREE, true}, /* after the end of CUDA */
		{1, GP_MEMORY_FREE, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_builder b;
		struct gp_model *m;

		gp_builder_begin(&b, THREAD);
		gp_builder_add(
			&b, &(struct gp_record_memory){.call = {.kind = GP_RECORD_MEMORY,
								.api = GP_TEST_MALLOC,
								.start_ticks = GP_TEST_AT_TICK(100),
								.status = cases[i].status},
						       .address = 0xa000,
						       .bytes = 10,
						       .op = cases[i].op,
						       .memory_kind = GP_MEMORY_DEVICE});
		m = gp_builder_finish(&b);
		assert_int_equal(m->call_count, 1);
		assert_int_equal(m->memory_count, cases[i].counts);
		assert_int_equal(m->calls[0].memory, cases[i].counts ? 0 : GP_NONE);
		gp_model_free(m);
	}
}

/* Calls are sorted by thread and time: what each of them asked for goes with it. */
static void test_what_failed_allocations_asked_for(void **state)
{
	static const struct {
		uint32_t start_ns, bytes;
		uint16_t status;
		uint8_t op;
		bool is_known;
	} cases[] = {
		{300, 30, 2, GP_MEMORY_ALLOC, true},  {100, 0, 1, GP_MEMORY_ALLOC, true},
		{200, 20, 0, GP_MEMORY_ALLOC, false}, {400, 40, 1, GP_MEMORY_FREE, false},
		{150, 15, 2, GP_MEMORY_ALLOC, true},
	};
	struct gp_builder b;
	struct gp_model *m;
	uint32_t known = 0;

	gp_builder_begin(&b, THREAD);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		gp_builder_add(&b,
			       &(struct gp_record_memory){
				       .call = {.kind = GP_RECORD_MEMORY,
						.api = GP_TEST_MALLOC,
						.start_ticks = GP_TEST_AT_TICK(cases[i].start_ns),
						.correlation_id = (uint32_t)i,
						.status = cases[i].status},
				       .bytes = cases[i].bytes,
				       .op = cases[i].op,
				       .memory_kind = GP_MEMORY_DEVICE});
	m = gp_builder_finish(&b);
	assert_int_equal(m->call_count, 5);
	for (uint32_t i = 0; i < m->call_count; i++) {
		uint64_t bytes = 1;
		bool is_known = gp_model_asked_bytes(m, &m->calls[i], &bytes);

		assert_int_equal(is_known, cases[m->calls[i].correlation_id].is_known);
		if (is_known)
			assert_int_equal(bytes, cases[m->calls[i].correlation_id].bytes);
		assert_int_equal(m->calls[i].first_op, GP_NONE);
		known += is_known;
	}
	assert_int_equal(known, 3);
	gp_model_free(m);
}

/*
 * Neither an allocation nor a free: whoever takes it for one of them follows an index that is none.
 * Things are gathered by the kind of memory, which are few.
 */
static void test_memory_calls_that_are_neither(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	for (int i = 0; i < 2; i++)
		gp_builder_add(&b, &(struct gp_record_memory){
					   .call = {.kind = GP_RECORD_MEMORY,
						    .api = GP_TEST_MALLOC,
						    .start_ticks = GP_TEST_AT_TICK(100)},
					   .address = 0xa000,
					   .bytes = 10,
					   .op = i == 0 ? 99 : GP_MEMORY_ALLOC,
					   .memory_kind = i == 0 ? GP_MEMORY_DEVICE : 200});
	m = gp_builder_finish(&b);
	assert_int_equal(m->call_count, 2);
	assert_int_equal(m->memory_count, 0);
	assert_int_equal(m->losses.unknown_records, 2);
	gp_model_free(m);
}

static void end_context(struct gp_builder *b, uint32_t id, uint64_t ns)
{
	gp_builder_add(b, &(struct gp_record_context_end){.kind = GP_RECORD_CONTEXT_END,
							  .id = id,
							  .ticks = GP_TEST_AT_TICK(ns)});
}

static void test_a_context_takes_its_memory_along(void **state)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, THREAD);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 100, 0xa000, 64);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 200, 0xb000, 32);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 300, 0xb000, 0);
	end_context(&b, 2, 350); /* another one */
	end_context(&b, 1, 400);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 500, 0xa000, 16);
	m = gp_builder_finish(&b);
	assert_int_equal(m->memory_count, 5);
	assert_int_equal(m->memory[0].other, 3);
	assert_int_equal(m->memory[3].op, GP_MEMORY_FREE);
	assert_int_equal(m->memory[3].call, GP_NONE);
	assert_int_equal(m->memory[3].time_ns, 400);
	assert_int_equal(m->memory[3].bytes, 64);
	assert_int_equal(m->memory[3].other, 0);
	assert_int_equal(m->memory[1].other, 2);
	assert_int_equal(m->memory[4].other, GP_NONE);
	assert_int_equal(m->calls[m->memory[4].call].memory, 4);
	gp_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frees_find_their_allocations),
		cmocka_unit_test(test_address_reused_during_the_free),
		cmocka_unit_test(test_allocated_during_a_free),
		cmocka_unit_test(test_memory_calls_that_had_no_effect),
		cmocka_unit_test(test_what_failed_allocations_asked_for),
		cmocka_unit_test(test_memory_calls_that_are_neither),
		cmocka_unit_test(test_a_context_takes_its_memory_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
