/* Waits for single values: the first one of a step waits for its work, the next ones for little. */
#include "tests/unit.h"

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/stack_builder.h"

#define US     1000ull
#define STEPS  20u
#define VALUES 9u
#define WORK   (300 * US)
#define SHORT  (10 * US)
#define GAP_NS (30 * US)

/*
 * Steps of a kernel of 300 us and eight of 10 us; the host waits for each, then launches the next one
 * 30 us later.  elsewhere: the second wait of each step is on another line.
 */
static struct gp_model *wait_for_values(bool elsewhere)
{
	struct build b = build_begin(1);
	uint32_t lines[] = {build_python(&b, BUILD_OUTERMOST, "log.py", "values", 7),
			    build_python(&b, BUILD_OUTERMOST, "log.py", "values", 9)};
	uint64_t at_ns = 1000 * US;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 0; i < STEPS * VALUES; i++) {
		uint64_t end_ns = at_ns + (i % VALUES == 0 ? WORK : SHORT);

		build_call(&b, 100, BUILD_LAUNCH, at_ns - 2 * US, 2 * US, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, at_ns, end_ns, i + 1);
		build_call(&b, 100, BUILD_DEVICE_SYNC, at_ns, end_ns - at_ns, 0);
		build_stack_of_last(&b, lines[elsewhere && i % VALUES == 1]);
		at_ns = end_ns + GAP_NS;
	}
	build_stacks_end(&b);
	return build_end(&b);
}

/* The host would be ahead by the first wait: no gap would be left. */
static void what_was_waited_saves_later_gaps(void **state)
{
	struct gp_model *model = wait_for_values(false);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "sync-in-loop");

	assert_non_null(found);
	assert_int_equal(found->saves_ns, (STEPS * VALUES - 1) * GAP_NS);
	assert_string_equal(found->place, "values (log.py:7)");
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* Without the first wait, the second one waits for the work: each saves the gap behind it alone. */
static void a_wait_elsewhere_takes_what_is_left(void **state)
{
	struct gp_model *model = wait_for_values(true);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "sync-in-loop");

	assert_non_null(found);
	assert_int_equal(found->saves_ns, STEPS * GAP_NS + (STEPS * (VALUES - 2) - 1) * SHORT);
	gp_advice_free(&advice);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_waited_saves_later_gaps),
		cmocka_unit_test(a_wait_elsewhere_takes_what_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
