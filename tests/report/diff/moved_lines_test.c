/* Which line of a file is which after an edit: shifted, inserted, removed, ambiguous ones. */
#include "report/diff/moved_lines.h"

#include <string.h>

#include "gpuprof/count.h"
#include "report/model/model.h"
#include "tests/unit.h"

#define MOST 8

/* Functions by letters; a line 0 ends a list.  `to` is b's line of each of a's, 0: none. */
struct edit {
	const char *what;
	struct {
		char function;
		uint32_t line;
	} a[MOST], b[MOST];
	uint32_t to[MOST];
};

static const struct edit edits[] = {
	{"a line above all",
	 {{'f', 10}, {'f', 11}, {'f', 12}, {'m', 20}},
	 {{'f', 11}, {'f', 12}, {'f', 13}, {'m', 21}},
	 {11, 12, 13, 21}},
	{"nothing", {{'f', 10}, {'m', 20}}, {{'f', 10}, {'m', 20}}, {10, 20}},
	{"the only line", {{'f', 10}}, {{'f', 12}}, {12}},
	{"a line within a function",
	 {{'f', 10}, {'f', 14}, {'f', 15}, {'m', 20}},
	 {{'f', 10}, {'f', 15}, {'f', 16}, {'m', 21}},
	 {10, 15, 16, 21}},
	{"three lines in one function, two less in another",
	 {{'f', 10}, {'f', 14}, {'g', 20}, {'g', 26}, {'m', 40}, {'m', 42}},
	 {{'f', 10}, {'f', 17}, {'g', 23}, {'g', 27}, {'m', 41}, {'m', 43}},
	 {10, 17, 23, 27, 41, 43}},
	{"a call is removed, with its line",
	 {{'f', 10}, {'f', 14}, {'f', 19}, {'m', 30}},
	 {{'f', 10}, {'f', 18}, {'m', 29}},
	 {10, 0, 18, 29}},
	{"a call is added",
	 {{'f', 10}, {'f', 14}, {'m', 30}},
	 {{'f', 10}, {'f', 12}, {'f', 17}, {'m', 33}},
	 {10, 17, 33}},
	{"a call is added above or below another",
	 {{'f', 10}, {'f', 14}, {'m', 30}},
	 {{'f', 10}, {'f', 11}, {'f', 15}, {'m', 31}},
	 {0, 15, 31}},
	{"another call in a file without an edit",
	 {{'f', 10}, {'f', 14}, {'m', 30}},
	 {{'f', 10}, {'f', 17}, {'m', 30}},
	 {10, 0, 30}},
	{"the number of a line that is another now",
	 {{'f', 8}, {'f', 10}, {'f', 15}, {'m', 40}},
	 {{'f', 13}, {'f', 15}, {'m', 45}},
	 {13, 15, 0, 45}},
	{"a number that may be either line",
	 {{'f', 10}, {'f', 15}, {'m', 40}},
	 {{'f', 15}, {'m', 45}},
	 {0, 0, 45}},
	{"two shifts fit", {{'f', 10}, {'f', 13}}, {{'f', 20}, {'f', 23}, {'f', 26}}, {0, 0}},
	{"two shifts fit, the rest of the file tells",
	 {{'f', 10}, {'f', 13}, {'m', 40}},
	 {{'f', 20}, {'f', 23}, {'f', 26}, {'m', 53}},
	 {23, 26, 53}},
	{"a line of two is left: it did not move", {{'f', 10}, {'f', 11}}, {{'f', 11}}, {0, 11}},
	{"other functions", {{'f', 10}, {'g', 20}}, {{'h', 10}, {'g', 20}}, {0, 20}},
	{"functions in another order", {{'f', 10}, {'g', 20}}, {{'g', 10}, {'f', 20}}, {0, 0}},
	{"one file is new", {{'f', 0}}, {{'f', 10}}, {0}},
	{"one file is gone", {{'f', 10}}, {{'f', 0}}, {0}},
};

static void each_edit_is_understood(void **state)
{
	for (size_t i = 0; i < COUNT(edits); i++) {
		const struct edit *edit = &edits[i];
		struct gp_code_line a[MOST], b[MOST];
		uint32_t a_count = 0, b_count = 0, found[MOST];

		for (; a_count < MOST && edit->a[a_count].line > 0; a_count++)
			a[a_count] = (struct gp_code_line){&edit->a[a_count].function, 1,
							   edit->a[a_count].line};
		for (; b_count < MOST && edit->b[b_count].line > 0; b_count++)
			b[b_count] = (struct gp_code_line){&edit->b[b_count].function, 1,
							   edit->b[b_count].line};
		gp_moved_lines_match(a, a_count, b, b_count, found);
		for (uint32_t k = 0; k < a_count; k++)
			if ((found[k] == GP_NONE ? 0 : b[found[k]].line) != edit->to[k])
				fail_msg("%s: line %u became %u", edit->what, a[k].line,
					 found[k] == GP_NONE ? 0 : b[found[k]].line);
	}
}

/* Only equal lines are the same then. */
static void too_many_lines_are_not_compared(void **state)
{
	enum { LINES = 2100 };
	static struct gp_code_line a[LINES], b[LINES];
	static uint32_t found[LINES];

	for (uint32_t i = 0; i < LINES; i++) {
		a[i] = (struct gp_code_line){"f", 1, i + 1};
		b[i] = (struct gp_code_line){"f", 1, i + 2};
	}
	gp_moved_lines_match(a, LINES, b, LINES, found);
	assert_int_equal(found[0], GP_NONE);
	assert_int_equal(found[1], 0);
	assert_int_equal(found[LINES - 1], LINES - 2);
	a[1].line = UINT32_MAX;
	gp_moved_lines_match(a, 2, b, 2, found);
	assert_int_equal(found[0], GP_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_edit_is_understood),
		cmocka_unit_test(too_many_lines_are_not_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
