/*
 * Unified memory by allocation: whose a migration was, also where an address was of several, one
 * after the other.
 */
#include "report/tables/breakdown.h"
#include "tests/report/stack_builder.h"
#include "tests/unit.h"

#define US 1000u

enum { HTOD = 2, DTOH, ALLOCS = 9, ADDRESS, SIZE, SITE };

#define TURNS 1000u

static void move(struct build *b, enum gp_unified_kind kind, uint64_t start_ns, uint64_t address,
		 uint64_t bytes)
{
	uint32_t index = BUILD_GROW(b, unifieds, unified_count);

	b->model->unifieds[index] = (struct gp_record_unified){.counter_kind = kind,
							       .start_ns = start_ns,
							       .end_ns = start_ns + US,
							       .address = address,
							       .value = bytes};
}

static const struct gp_value *row_of(struct gp_table *sheet, uint64_t moved_bytes)
{
	for (uint64_t i = 0; i < gp_table_rows(sheet); i++)
		if (gp_table_row(sheet, i)[HTOD].whole == moved_bytes)
			return gp_table_row(sheet, i);
	fail();
	return NULL;
}

static void an_allocation_s_addresses_are_one_row(void **state)
{
	struct build b = build_begin(1);
	uint32_t load = build_python(&b, BUILD_OUTERMOST, "a.py", "load", 7);
	uint32_t again = build_python(&b, BUILD_OUTERMOST, "a.py", "again", 9);
	const struct gp_value *row;
	struct gp_model *model;
	struct gp_scope scope;
	struct gp_table sheet;

	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_MANAGED, 10 * US, 0x10000, 0x4000);
	build_stack_of_last(&b, load);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_MANAGED, 100 * US, 0x10000, 0);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_MANAGED, 200 * US, 0x11000, 0x1000);
	build_stack_of_last(&b, again);
	move(&b, GP_UNIFIED_HTOD, 20 * US, 0x10000, 1);
	move(&b, GP_UNIFIED_HTOD, 30 * US, 0x13fff, 2);
	move(&b, GP_UNIFIED_DTOH, 40 * US, 0x11000, 50);
	move(&b, GP_UNIFIED_HTOD, 210 * US, 0x11000, 10);  /* of the second one by then */
	move(&b, GP_UNIFIED_HTOD, 220 * US, 0x12000, 100); /* behind its end */
	build_stacks_end(&b);
	model = build_end(&b);
	assert_int_equal(gp_scope_open(&scope, &model, 1, true), 0);
	assert_int_equal(gp_breakdown_make(&gp_breakdown_unified_address, &scope, &sheet), 0);
	assert_int_equal(gp_table_rows(&sheet), 3);
	row = row_of(&sheet, 1 + 2);
	assert_int_equal(row[DTOH].whole, 50);
	assert_int_equal(row[ADDRESS].whole, 0x10000);
	assert_int_equal(row[SIZE].whole, 0x4000);
	assert_string_equal(row[SITE].text, "load (a.py:7)");
	row = row_of(&sheet, 10);
	assert_int_equal(row[ADDRESS].whole, 0x11000);
	assert_string_equal(row[SITE].text, "again (a.py:9)");
	row = row_of(&sheet, 100);
	assert_int_equal(row[ADDRESS].whole, 0x12000);
	gp_table_close(&sheet);
	gp_scope_close(&scope);
	gp_model_free(model);
}

/*
 * One site allocates, uses and frees by turns, as the driver gives out one address again and again;
 * behind each lies a larger one that stays.
 */
static void a_loop_s_allocations_are_one_row(void **state)
{
	for (int with_stacks = 0; with_stacks < 2; with_stacks++) {
		struct build b = build_begin(1);
		uint32_t load = build_python(&b, BUILD_OUTERMOST, "a.py", "load", 7);
		const struct gp_value *row;
		struct gp_model *model;
		struct gp_scope scope;
		struct gp_table sheet;

		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_MANAGED, 5 * US, 0x8000, 0x2000);
		for (uint64_t i = 0; i < TURNS; i++) {
			build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_MANAGED, (10 + 100 * i) * US,
				     0x10000, i == 7 ? 0x5000 : 0x4000);
			if (with_stacks)
				build_stack_of_last(&b, load);
			move(&b, GP_UNIFIED_HTOD, (20 + 100 * i) * US, 0x10000, 1);
			move(&b, GP_UNIFIED_HTOD, (30 + 100 * i) * US, 0x11000, 1);
			build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_MANAGED, (80 + 100 * i) * US,
				     0x10000, 0);
		}
		move(&b, GP_UNIFIED_HTOD, 100 * TURNS * US, 0x9fff, 5);
		move(&b, GP_UNIFIED_HTOD, 100 * TURNS * US, 0x11000, 7); /* it was freed */
		build_stacks_end(&b);
		model = build_end(&b);
		assert_int_equal(gp_scope_open(&scope, &model, 1, true), 0);
		assert_int_equal(gp_breakdown_make(&gp_breakdown_unified_address, &scope, &sheet),
				 0);
		assert_int_equal(gp_table_rows(&sheet), 3);
		row = row_of(&sheet, 2 * TURNS);
		assert_int_equal(row[ALLOCS].whole, TURNS);
		assert_int_equal(row[ADDRESS].whole, 0x10000);
		assert_int_equal(row[SIZE].kind, GP_VALUE_NONE);
		assert_int_equal(row[SITE].kind, with_stacks ? GP_VALUE_TEXT : GP_VALUE_NONE);
		if (with_stacks)
			assert_string_equal(row[SITE].text, "load (a.py:7)");
		assert_int_equal(row_of(&sheet, 5)[SIZE].whole, 0x2000);
		assert_int_equal(row_of(&sheet, 7)[ALLOCS].kind, GP_VALUE_NONE);
		gp_table_close(&sheet);
		gp_scope_close(&scope);
		gp_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_allocation_s_addresses_are_one_row),
		cmocka_unit_test(a_loop_s_allocations_are_one_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
