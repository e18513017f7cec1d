/* Idle time that no finding tells: where most of it ends. */
#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>

#include "report/advice/advice.h"
#include "report/advice/advice_print.h"
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

static void expect(struct gp_model *model, enum gp_idle_cause cause, const char *why)
{
	struct gp_advice advice = ask(&model, 1);
	char text[4000] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	assert_int_equal(advice.unexplained_count, 1);
	assert_int_equal(advice.unexplained[0].cause, cause);
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
	expect(launch_late(1), GP_IDLE_HOST, "% of it ends at step (train.py:1)\n");
	expect(launch_late(3), GP_IDLE_HOST, ": 33.3 % of it ends at step (train.py:");
	expect(launch_late(0), GP_IDLE_HOST, "% of it ends before scan\n");
	expect(launch_late(9), GP_IDLE_HOST,
	       ": they end at no place repeatedly, as gaps from preemption do");
}

/* Calls of so many ms for a copy of 1 ms, at as many places, a kernel of 3 ms behind each. */
static struct gp_model *copy_slowly(uint32_t count, uint64_t call_ms, uint32_t places, bool bytes)
{
	struct build b = build_begin(1);
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
	for (uint32_t i = 0; i < count; i++) {
		struct gp_op *op;

		build_call(&b, 100, 31, at_ns, call_ms * MS, 2 * i + 1);
		build_stack_of_last(&b, build_python(&b, BUILD_OUTERMOST, "train.py", "step",
						     (uint8_t)(1 + i % places)));
		at_ns += call_ms * MS;
		op = build_op(&b, GP_OP_COPY, 7, at_ns - MS, at_ns, 2 * i + 1);
		op->copy_kind = GP_COPY_HTOD;
		op->source_kind = GP_COPY_PAGEABLE;
		op->bytes = bytes ? 1 << 20 : 8;
		build_call(&b, 100, BUILD_LAUNCH, at_ns, 5 * US, 2 * i + 2);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 10 * US, at_ns + 3 * MS, 2 * i + 2);
		at_ns += 3 * MS;
	}
	build_stacks_end(&b);
	return build_end(&b);
}

static void why_the_rules_of_copies_said_nothing(void **state)
{
	expect(copy_slowly(5, 20, 1, true), GP_IDLE_COPY,
	       ": 5 at one place are too few for the rules of copies\n");
	expect(copy_slowly(80, 3, 80, true), GP_IDLE_COPY,
	       ": the saving at each place is too small for the rules of copies\n");
	expect(copy_slowly(20, 20, 1, false), GP_IDLE_COPY,
	       ": the rules of copies found nothing to change\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_place_is_named_where_much_of_it_ends),
		cmocka_unit_test(why_the_rules_of_copies_said_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
