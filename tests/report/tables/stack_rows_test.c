/* Call stacks as rows of a page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/tables/stack_rows.h"
#include "tests/report/stack_builder.h"
#include "tests/unit.h"

/* ---- a profile that is built from the words of its stacks ---- */

struct scene {
	struct build b;
	uint32_t calls;
	bool all;
	char rows[65536];
};

/*
 * "a b c": c is called by b, b by a.  All of a's name and parent are one frame only in the call
 * tree.
 */
static void add(struct scene *s, const char *stack, uint64_t duration_ns)
{
	uint32_t frame = BUILD_OUTERMOST, correlation_id = ++s->calls;
	uint64_t start_ns = 100000 * (uint64_t)correlation_id;
	char name[64];
	int length;

	for (const char *at = stack; sscanf(at, " %63s%n", name, &length) == 1; at += length)
		frame = build_python(&s->b, frame, "", name, 0);
	build_call(&s->b, 100, BUILD_LAUNCH, start_ns, 10, correlation_id)->stack = frame;
	build_op(&s->b, GP_OP_SET, 7, start_ns + 50, start_ns + 50 + duration_ns, correlation_id);
}

static void put(void *context, const struct gp_stack_row *row)
{
	struct scene *s = context;
	size_t used = strlen(s->rows);

	snprintf(s->rows + used, sizeof(s->rows) - used, "%s = %llu\n", row->text,
		 (unsigned long long)row->value);
}

static const char *rows_of(struct scene *s)
{
	struct gp_stack_profile profile;

	build_stacks_end(&s->b);
	s->b.model = build_end(&s->b);
	assert_int_equal(gp_stack_profile_open(&profile, true, false), 0);
	assert_int_equal(gp_stack_profile_add(&profile, s->b.model), 0);
	gp_model_free(s->b.model);
	assert_int_equal(gp_stack_rows(&profile, GP_STACK_CALLERS_FIRST, GP_STACK_METRIC_GPU_TIME,
				       GP_STACK_METRIC_OPERATIONS, s->all, put, s),
			 0);
	gp_stack_profile_close(&profile);
	return s->rows;
}

#define LEAF "cudaLaunchKernel > Memset (Unknown)"

static struct scene *begin(void)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->b = build_begin(1);
	return s;
}

/* ---- tests ---- */

static void test_callers_stand_above_what_they_called(void **state)
{
	struct scene *s = begin();

	add(s, "main train forward", 600);
	add(s, "main train backward", 300);
	add(s, "main save", 100);
	assert_string_equal(rows_of(s), "main = 1000\n"
					"  train = 900\n"
					"    forward > " LEAF " = 600\n"
					"    backward > " LEAF " = 300\n"
					"  save > " LEAF " = 100\n");
	free(s);
}

static void test_what_is_small_is_counted(void **state)
{
	struct scene *s = begin();

	add(s, "main big", 9900);
	add(s, "main tiny", 50);
	add(s, "main small", 40);
	add(s, "other", 10);
	assert_string_equal(rows_of(s), "main = 9990\n"
					"  big > " LEAF " = 9900\n"
					"  (2 others, each with less than 1 %) = 90\n"
					"(1 other with less than 1 %) = 10\n");
	free(s);
}

static void test_calls_without_a_stack_are_a_row(void **state)
{
	struct scene *s = begin();

	add(s, "main", 70);
	add(s, "", 30);
	assert_string_equal(rows_of(s), "main > " LEAF " = 70\n"
					"(no call stack) > " LEAF " = 30\n");
	free(s);
}

static void test_nothing_is_put_where_there_are_no_stacks(void **state)
{
	struct scene *s = begin();

	add(s, "", 30);
	assert_string_equal(rows_of(s), "");
	free(s);
}

static void test_a_function_that_calls_itself_is_there_once(void **state)
{
	struct scene *s = begin();
	char stack[4096] = "main";

	for (int i = 0; i < 1000; i++)
		strcat(stack, " f");
	strcat(stack, " end");
	add(s, stack, 5);
	assert_string_equal(rows_of(s), "main > f x1000 > end > " LEAF " = 5\n");
	free(s);
}

static void test_long_rows_keep_their_ends(void **state)
{
	struct scene *s = begin();
	char stack[4096] = "", one[32];
	const char *rows;

	for (int i = 0; i < 200; i++) {
		snprintf(one, sizeof(one), " function_%03d", i);
		strcat(stack, one);
	}
	add(s, stack, 5);
	rows = rows_of(s);
	assert_int_equal(strncmp(rows, "function_000 > (19", 18), 0);
	assert_non_null(strstr(rows, " more) > function_19"));
	assert_non_null(strstr(rows, "function_198 > function_199 > " LEAF " = 5\n"));
	assert_true(strlen(rows) < 160);
	free(s);
}

/* Each level does a little itself: none has the time of the next. */
static void add_comb(struct scene *s)
{
	add(s, "main", 1);
	add(s, "main step", 1);
	add(s, "main step deep", 998);
}

static void test_a_comb_is_no_chain(void **state)
{
	struct scene *s = begin();

	add_comb(s);
	assert_string_equal(rows_of(s), "main = 1000\n"
					"  step = 999\n"
					"    deep > " LEAF " = 998\n"
					"    (1 other with less than 1 %) = 1\n"
					"  (1 other with less than 1 %) = 1\n");
	free(s);
}

static void test_all_rows_are_put(void **state)
{
	struct scene *s = begin();

	s->all = true;
	add_comb(s);
	assert_string_equal(rows_of(s), "main = 1000\n"
					"  step = 999\n"
					"    deep > " LEAF " = 998\n"
					"    " LEAF " = 1\n"
					"  " LEAF " = 1\n");
	free(s);
}

/* A launch that took no time counts, so its caller has not the count of the other callee. */
static void test_a_callee_without_time_breaks_a_chain(void **state)
{
	struct scene *s = begin();

	add(s, "main step", 100);
	add(s, "main idle", 0);
	assert_string_equal(rows_of(s), "main = 100\n"
					"  step > " LEAF " = 100\n"
					"  (1 other with less than 1 %) = 0\n");
	free(s);
}

static void test_names_are_made_harmless(void **state)
{
	struct scene *s = begin();

	add(s, "a\x1b[31mb", 1);
	assert_string_equal(rows_of(s), "a\\x1b[31mb > " LEAF " = 1\n");
	free(s);
}

static void test_callers_below_what_they_called(void **state)
{
	struct scene *s = begin();
	struct gp_stack_profile profile, inverted;

	add(s, "main train gemm", 600);
	add(s, "main train gemm", 100);
	add(s, "main test gemm", 200);
	add(s, "gemm", 100);
	build_stacks_end(&s->b);
	s->b.model = build_end(&s->b);
	assert_int_equal(gp_stack_profile_open(&profile, true, false), 0);
	assert_int_equal(gp_stack_profile_add(&profile, s->b.model), 0);
	gp_model_free(s->b.model);
	assert_int_equal(gp_stack_profile_invert(&profile, GP_STACK_METRIC_GPU_TIME, &inverted), 0);
	assert_int_equal(inverted.totals[GP_STACK_METRIC_GPU_TIME], 1000);
	assert_int_equal(gp_stack_rows(&inverted, GP_STACK_CALLERS_LAST, GP_STACK_METRIC_GPU_TIME,
				       GP_STACK_METRIC_OPERATIONS, false, put, s),
			 0);
	assert_string_equal(s->rows, "Memset (Unknown) < cudaLaunchKernel < gemm = 1000\n"
				     "  train < main = 700\n"
				     "  test < main = 200\n");
	gp_stack_profile_close(&inverted);
	gp_stack_profile_close(&profile);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callers_stand_above_what_they_called),
		cmocka_unit_test(test_what_is_small_is_counted),
		cmocka_unit_test(test_calls_without_a_stack_are_a_row),
		cmocka_unit_test(test_nothing_is_put_where_there_are_no_stacks),
		cmocka_unit_test(test_a_function_that_calls_itself_is_there_once),
		cmocka_unit_test(test_long_rows_keep_their_ends),
		cmocka_unit_test(test_a_comb_is_no_chain),
		cmocka_unit_test(test_all_rows_are_put),
		cmocka_unit_test(test_a_callee_without_time_breaks_a_chain),
		cmocka_unit_test(test_names_are_made_harmless),
		cmocka_unit_test(test_callers_below_what_they_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
