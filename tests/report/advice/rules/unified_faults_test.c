/* Kernels that wait for unified memory, and what is no such wait. */
#include "tests/unit.h"

#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"

#define MS 1000000u

enum { BY_USER = 1, BY_COHERENCE = 2 };

/* A kernel from 10 to 110 ms of 200. */
static struct build run(void)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	build_call(&b, 100, BUILD_LAUNCH, 0, MS, 1);
	build_op(&b, GP_OP_KERNEL, 7, 10 * MS, 110 * MS, 1)->name = 0;
	build_call(&b, 100, BUILD_DEVICE_SYNC, 2 * MS, 198 * MS, 0);
	return b;
}

static void add(struct build *b, uint16_t kind, uint32_t cause, uint64_t value, uint64_t start_ns,
		uint64_t end_ns)
{
	uint32_t index = BUILD_GROW(b, unifieds, unified_count);

	b->model->unifieds[index] = (struct gp_record_unified){.counter_kind = kind,
							       .flags = cause,
							       .value = value,
							       .start_ns = start_ns,
							       .end_ns = end_ns};
}

/* found_part NULL: nothing is to be told. */
static void check(struct build *b, const char *found_part, uint64_t saves_ns)
{
	struct gp_model *model = build_end(b);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "unified-faults");

	assert_int_equal(found != NULL, found_part != NULL);
	if (found) {
		assert_non_null(strstr(found->found, found_part));
		assert_int_equal(found->saves_ns, saves_ns);
	}
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* The last piece comes when no kernel runs: nobody waits for it. */
static void what_kernels_wait_for_is_counted_once(void **state)
{
	struct build b = run();

	add(&b, GP_UNIFIED_GPU_FAULT, 0, 12, 20 * MS, 40 * MS);
	add(&b, GP_UNIFIED_HTOD, BY_COHERENCE, 4096, 30 * MS, 50 * MS);
	add(&b, GP_UNIFIED_HTOD, BY_COHERENCE, 4096, 120 * MS, 130 * MS);
	check(&b,
	      "12 page faults took 20.00ms, and 8.000KiB migrated in 2 pieces, 4.000KiB on average, in 30.00ms",
	      30 * MS);
}

static void what_the_program_moves_itself_is_no_wait(void **state)
{
	struct build b = run();

	add(&b, GP_UNIFIED_HTOD, BY_USER, 1 << 20, 20 * MS, 100 * MS);
	add(&b, GP_UNIFIED_DTOH, BY_COHERENCE, 1 << 20, 20 * MS, 100 * MS);
	check(&b, NULL, 0);
}

static void what_is_short_is_nothing(void **state)
{
	struct build b = run();

	add(&b, GP_UNIFIED_GPU_FAULT, 0, 12, 20 * MS, 29 * MS);
	check(&b, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_kernels_wait_for_is_counted_once),
		cmocka_unit_test(what_the_program_moves_itself_is_no_wait),
		cmocka_unit_test(what_is_short_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
