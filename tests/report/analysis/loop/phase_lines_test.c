/* phase_lines: what phase a line of the program has, by the calls that are made there. */
#include "tests/unit.h"

#include "gpuprof/count.h"
#include "report/analysis/loop/phase_lines.h"
#include "tests/report/stack_builder.h"

#define LIBRARY "/v/lib/python3.12/site-packages/torch/nn/modules/module.py"

static void add(struct gp_phase_lines *lines, uint32_t stack, enum gp_phase_kind phase,
		uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		gp_phase_lines_add(lines, stack, phase);
}

/* Four of five calls are enough, three of four are too few. */
static void a_line_has_the_phase_of_most_of_its_calls(void **state)
{
	static const struct {
		uint32_t forward, backward;
		enum gp_phase_kind phase;
	} cases[] = {{1, 0, GP_PHASE_FORWARD},  {4, 1, GP_PHASE_FORWARD},  {3, 1, GP_PHASE_NONE},
		     {1, 4, GP_PHASE_BACKWARD}, {1, 1, GP_PHASE_NONE},     {0, 0, GP_PHASE_NONE},
		     {79, 21, GP_PHASE_NONE},   {80, 20, GP_PHASE_FORWARD}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct build b = build_begin(1);
		uint32_t line = build_python(&b, BUILD_OUTERMOST, "/home/me/a.py", "f", 3);
		struct gp_phase_lines *lines;
		struct gp_model *model;

		build_stacks_end(&b);
		model = build_end(&b);
		lines = gp_phase_lines_new(model);
		assert_non_null(lines);
		add(lines, line, GP_PHASE_FORWARD, cases[i].forward);
		add(lines, line, GP_PHASE_BACKWARD, cases[i].backward);
		assert_int_equal(gp_phase_lines_find(lines, line), cases[i].phase);
		gp_phase_lines_free(lines);
		gp_model_free(model);
	}
}

/* All lines of a stack learn; those of libraries and native code are none. */
static void the_innermost_line_that_has_calls_tells(void **state)
{
	struct build b = build_begin(1);
	uint32_t outer = build_python(&b, BUILD_OUTERMOST, "/home/me/a.py", "main", 3);
	uint32_t inner = build_python(&b, outer, "/home/me/a.py", "f", 7);
	uint32_t other = build_python(&b, outer, "/home/me/b.py", "g", 3);
	uint32_t library = build_python(&b, inner, LIBRARY, "Module._call_impl", 5);
	uint32_t native = build_native(&b, library, "/x/libx.so", 0x10);
	struct gp_phase_lines *lines;
	struct gp_model *model;

	(void)state;
	build_stacks_end(&b);
	model = build_end(&b);
	lines = gp_phase_lines_new(model);
	assert_non_null(lines);
	add(lines, native, GP_PHASE_FORWARD, 1);
	add(lines, outer, GP_PHASE_BACKWARD, 4);
	assert_int_equal(gp_phase_lines_find(lines, native), GP_PHASE_FORWARD);
	assert_int_equal(gp_phase_lines_find(lines, library), GP_PHASE_FORWARD);
	assert_int_equal(gp_phase_lines_find(lines, inner), GP_PHASE_FORWARD);
	assert_int_equal(gp_phase_lines_find(lines, other), GP_PHASE_BACKWARD);
	assert_int_equal(gp_phase_lines_find(lines, outer), GP_PHASE_BACKWARD);
	gp_phase_lines_free(lines);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_the_phase_of_most_of_its_calls),
		cmocka_unit_test(the_innermost_line_that_has_calls_tells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
