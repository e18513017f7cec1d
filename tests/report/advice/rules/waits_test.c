/*
 * Waits for single values, of which the first one of a step waits for its work and the next ones for
 * little; and memsets that wait.
 */
#include "tests/unit.h"

#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/stack_builder.h"

#define US     1000ull
#define STEPS  20u
#define MEMSET 31u
#define VALUES 9u
#define WORK   (300 * US)
#define SHORT  (10 * US)
#define LAUNCH (2 * US)
#define GAP_NS (30 * US)

/*
 * Steps of a kernel of 300 us and eight short ones; the host waits for each, then launches the next one
 * 30 us later.  elsewhere: the second wait of each step is in another function.
 */
static struct gp_model *wait_for_values(bool elsewhere, uint64_t short_ns)
{
	struct build b = build_begin(1);
	uint32_t lines[] = {build_python(&b, BUILD_OUTERMOST, "log.py", "values", 7),
			    build_python(&b, BUILD_OUTERMOST, "log.py", "other", 9)};
	uint64_t at_ns = 1000 * US;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 0; i < STEPS * VALUES; i++) {
		uint64_t end_ns = at_ns + (i % VALUES == 0 ? WORK : short_ns);

		build_call(&b, 100, BUILD_LAUNCH, at_ns - LAUNCH, LAUNCH, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, at_ns, end_ns, i + 1);
		build_call(&b, 100, BUILD_DEVICE_SYNC, at_ns, end_ns - at_ns, 0);
		build_stack_of_last(&b, lines[elsewhere && i % VALUES == 1]);
		at_ns = end_ns + GAP_NS;
	}
	build_stacks_end(&b);
	return build_end(&b);
}

/*
 * The host would be ahead by the first wait: no gap would be left; also none of which the wait before
 * it saves half itself, with the launch behind it.
 */
static void what_was_waited_saves_later_gaps(void **state)
{
	static const uint64_t shorts_ns[] = {SHORT, GAP_NS / 2};

	for (size_t i = 0; i < 2; i++) {
		struct gp_model *model = wait_for_values(false, shorts_ns[i]);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "sync-in-loop");

		assert_non_null(found);
		assert_int_equal(found->saves_ns, (STEPS * VALUES - 1) * GAP_NS);
		assert_string_equal(found->place, "values (log.py:7)");
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * Without the first wait, the second one waits for the work: each saves as much of the gap behind it
 * as it waits, and the launch.
 */
static void a_wait_elsewhere_takes_what_is_left(void **state)
{
	struct gp_model *model = wait_for_values(true, SHORT);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "sync-in-loop");

	assert_non_null(found);
	assert_int_equal(found->saves_ns,
			 STEPS * GAP_NS + (STEPS * (VALUES - 2) - 1) * (SHORT + LAUNCH));
	/* a usual wait with the idle time behind it, not the longest one */
	assert_int_equal(found->show_ns, SHORT + GAP_NS);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * Kernels of 5 us, for each of which the host waits 12 us in one of two lines of a function: all idle
 * time goes if both waits do.  Each one alone is two fifths of the run.
 */
static void waits_of_one_function_are_one_finding(void **state)
{
	struct build b = build_begin(1);
	uint32_t lines[] = {build_python(&b, BUILD_OUTERMOST, "a.py", "solve", 7),
			    build_python(&b, BUILD_OUTERMOST, "a.py", "solve", 9)};
	const struct gp_finding *found;
	struct gp_advice advice;
	struct gp_model *model;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 0; i < 2000; i++) {
		uint64_t at_ns = 1000 * US + i * 20 * US;

		build_call(&b, 100, BUILD_LAUNCH, at_ns, 6 * US, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 9 * US, at_ns + 14 * US, i + 1);
		build_call(&b, 100, BUILD_DEVICE_SYNC, at_ns + 7 * US, 12 * US, 0);
		build_stack_of_last(&b, lines[i % 2]);
	}
	build_stacks_end(&b);
	model = build_end(&b);
	advice = ask(&model, 1);
	found = find(&advice, "sync-in-loop");
	assert_non_null(found);
	assert_int_equal(found->count, 1999);
	assert_int_equal(found->saves_ns, 1999 * 15 * US);
	assert_string_equal(found->place, "solve (a.py:7-9)");
	assert_non_null(strstr(text_of(found, "places"), "2 places wait: solve (a.py:"));
	for (uint32_t i = 0; i < advice.count; i++)
		assert_true(&advice.findings[i] == found ||
			    strcmp(advice.findings[i].rule->id, "sync-in-loop") != 0);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* After each kernel of 300 us a memset of 10 us, in a call until its end; then a gap of 30 us. */
static struct gp_model *set_memory(uint8_t memory, uint8_t flags)
{
	struct build b = build_begin(1);
	uint64_t at_ns = 1000 * US;

	build_device(&b, 0, "GPU");
	build_api(&b, MEMSET, "cudaMemset", GP_API_MEMSET);
	for (uint32_t id = 1; id < 2 * STEPS; id += 2) {
		uint64_t end_ns = at_ns + WORK + SHORT;
		struct gp_op *op;

		build_call(&b, 100, BUILD_LAUNCH, at_ns - LAUNCH, LAUNCH, id);
		build_op(&b, GP_OP_KERNEL, 7, at_ns, at_ns + WORK, id);
		build_call(&b, 100, MEMSET, at_ns, WORK + SHORT, id + 1);
		op = build_op(&b, GP_OP_SET, 7, at_ns + WORK, end_ns, id + 1);
		op->destination_kind = memory;
		op->flags = flags;
		op->bytes = 4096;
		at_ns = end_ns + GAP_NS;
	}
	return build_end(&b);
}

/* cudaMemset of device memory returns at once, and so does cudaMemsetAsync. */
static void memsets_of_host_memory_block_the_host(void **state)
{
	static const struct {
		uint8_t memory, flags;
		const char *found; /* NULL: the rule is silent */
	} cases[] = {
		{GP_COPY_PINNED, 0,
		 "synchronous memsets of page-locked memory block the host for 310.0us in each step (1 time, 4.000KiB)"},
		{GP_COPY_MANAGED, 0,
		 "synchronous memsets of managed memory block the host for 310.0us in each step (1 time, 4.000KiB)"},
		{GP_COPY_DEVICE, 0, NULL},
		{GP_COPY_PINNED, GP_COPY_ASYNC, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model = set_memory(cases[i].memory, cases[i].flags);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "sync-memset");

		assert_true((found != NULL) == (cases[i].found != NULL));
		if (found) {
			assert_string_equal(found->found, cases[i].found);
			assert_int_equal(found->saves_ns, (STEPS - 1) * GAP_NS);
			assert_true((strstr(found->change, "or memset() on the host") != NULL) ==
				    (cases[i].memory == GP_COPY_PINNED));
		}
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_waited_saves_later_gaps),
		cmocka_unit_test(a_wait_elsewhere_takes_what_is_left),
		cmocka_unit_test(waits_of_one_function_are_one_finding),
		cmocka_unit_test(memsets_of_host_memory_block_the_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
