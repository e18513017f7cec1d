/* Idle time that no finding tells: where most of it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "report/advice.h"
#include "report/advice_print.h"
#include "tests/report/ask_advice.h"
#include "tests/report/stack_builder.h"

#define US 1000ull
#define MS (1000 * US)

#define KERNELS 100u
#define EVERY   10u /* of them one begins 3 ms late, which is no habit */

/* Each launched at one of so many lines, by turns; 0: without a stack. */
static struct gp_model *launch_late(uint32_t lines)
{
	struct build b = build_begin(1);
	uint32_t name = build_name(&b, "scan");
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 0; i < KERNELS; i++) {
		at_ns += i % EVERY == 0 ? 3 * MS : 0;
		build_call(&b, 100, BUILD_LAUNCH, at_ns, 5 * US, i + 1);
		if (lines > 0)
			build_stack_of_last(&b,
					    build_python(&b, BUILD_OUTERMOST, "train.py", "step",
							 (uint8_t)(1 + i / EVERY % lines)));
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 10 * US, at_ns + 700 * US, i + 1)->name =
			name;
		at_ns += 690 * US;
	}
	build_stacks_end(&b);
	return build_end(&b);
}

static void check(uint32_t lines, const char *place, const char *why)
{
	struct gp_model *model = launch_late(lines);
	struct gp_advice advice = ask(&model, 1);
	char text[4000] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	assert_int_equal(advice.untold_count, 1);
	assert_int_equal(advice.untold[0].cause, GP_IDLE_HOST);
	if (place)
		assert_string_equal(advice.untold[0].place, place);
	else
		assert_null(advice.untold[0].place);
	gp_advice_print_none(out, &advice);
	assert_int_equal(fclose(out), 0);
	for (char *end = text; (end = strstr(end, "\n    ")) != NULL;)
		memmove(end, end + 4, strlen(end + 4) + 1), *end = ' ';
	assert_non_null(strstr(text, why));
	gp_advice_free(&advice);
	gp_model_free(model);
}

static void the_place_is_named_where_much_of_it_ends(void **state)
{
	(void)state;
	check(1, "at step (train.py:1)", "% of it ends at step (train.py:1)\n");
	check(3, "at step (train.py:2)", ": 33.");
	check(0, "before scan", "% of it ends before scan\n");
	check(9, NULL, ": they come at no place again and again, as where the system takes the");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_place_is_named_where_much_of_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
