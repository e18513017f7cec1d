#include "tests/unit.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "report/tables/breakdown.h"
#include "tests/report/model_builder.h"

enum { COUNT, OUTERMOST = 6, OPERATOR };

/* As many kernels with a counter as launches. */
static void count_kernels(struct build *b, uint32_t count)
{
	struct gp_model *m = b->model;
	static const char *const texts[] = {"kernel", "sm__cycles.sum"};

	m->counter_texts = gp_spill_take(2 * sizeof(*m->counter_texts));
	m->counted = gp_spill_take(count * sizeof(*m->counted));
	build_check(m->counter_texts && m->counted);
	for (m->counter_text_count = 0; m->counter_text_count < 2; m->counter_text_count++)
		m->counter_texts[m->counter_text_count] =
			build_copy_text(texts[m->counter_text_count]);
	for (uint32_t i = 0; i < count; i++)
		m->counted[i] = (struct gp_counted){
			.start_ns = i, .counter = 1, .value = 2, .op = GP_NONE, .window = GP_NONE};
	m->counted_count = count;
}

static void look(struct gp_model **model, struct gp_scope *scope, struct gp_table *sheet)
{
	assert_int_equal(gp_scope_open(scope, model, 1, true), 0);
	assert_int_equal(gp_breakdown_make(&gp_breakdown_counter, scope, sheet), 0);
}

static void forget(struct gp_model *model, struct gp_scope *scope, struct gp_table *sheet)
{
	gp_table_close(sheet);
	gp_scope_close(scope);
	gp_model_free(model);
}

/*
 * The last that goes on, whether one that ended lies in it, or a range that is not pushed begins
 * between them.
 */
static void the_last_operator_that_goes_on_is_meant(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_scope scope;
	struct gp_table sheet;

	build_range(&b, 1, "outer", 0, 1000);
	build_range(&b, 1, "inner", 10, 900);
	build_range(&b, 1, "ended", 20, 30);
	build_range(&b, 1, "apart", 40, 950);
	b.model->ranges[1].parent = 0;
	b.model->ranges[2].parent = 1;
	b.model->ranges[3].style = GP_STYLE_START_END;
	for (uint32_t i = 0; i < 3; i++)
		build_call(&b, 1, BUILD_LAUNCH, 100 + 100 * i, 5, i + 1);
	count_kernels(&b, 3);
	model = build_end(&b);
	look(&model, &scope, &sheet);
	assert_int_equal(gp_table_rows(&sheet), 1);
	assert_int_equal(gp_table_row(&sheet, 0)[COUNT].whole, 3);
	assert_string_equal(gp_table_row(&sheet, 0)[OPERATOR].text, "inner");
	assert_string_equal(gp_table_row(&sheet, 0)[OUTERMOST].text, "outer");
	forget(model, &scope, &sheet);
}

/* 20,000 within each other, then 50,000 launches: first all go on, then none but the outermost. */
static void deep_operators_take_no_time(void **state)
{
	enum { DEPTH = 20000, LAUNCHES = 50000 };
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_scope scope;
	struct gp_table sheet;
	clock_t before;

	for (uint32_t i = 0; i < DEPTH; i++) {
		build_range(&b, 1, i == 0 ? "outer" : "deep", i, i == 0 ? 10000000 : 300000 - i);
		b.model->ranges[i].parent = i == 0 ? GP_NONE : i - 1;
	}
	for (uint32_t i = 0; i < LAUNCHES; i++)
		build_call(&b, 1, BUILD_LAUNCH, DEPTH + 10 * (uint64_t)i, 5, i + 1);
	count_kernels(&b, LAUNCHES);
	model = build_end(&b);
	before = clock();
	look(&model, &scope, &sheet);
	assert_true(clock() - before < 2 * CLOCKS_PER_SEC);
	assert_int_equal(gp_table_rows(&sheet), 2);
	assert_string_equal(gp_table_row(&sheet, 0)[OUTERMOST].text, "outer");
	assert_string_equal(gp_table_row(&sheet, 1)[OUTERMOST].text, "outer");
	forget(model, &scope, &sheet);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_operator_that_goes_on_is_meant),
		cmocka_unit_test(deep_operators_take_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
