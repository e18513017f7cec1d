/*
 * Kernels that leave most of each SM unused: what is claimed of them, by what their grids have for
 * it.
 */
#include "tests/unit.h"

#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"

#define US    1000u
#define TIMES 40
#define TOOK  500 /* us, each */
#define KIB   1024u

struct scene {
	uint32_t blocks, threads, registers, shared_bytes;
	uint32_t percent; /* of the kernels' time that is claimed; 0: it is not told */
};

static struct gp_model *launch(const struct scene *scene)
{
	struct build b = build_begin(1);
	uint32_t name = build_name(&b, "k"), shape = build_shape(&b, scene->blocks, scene->threads);

	b.model->shapes[shape].registers = (uint16_t)scene->registers;
	b.model->shapes[shape].dynamic_shared_bytes = scene->shared_bytes;
	build_device(&b, 0, "GPU");
	build_context_made_by(&b, 1, 7, 0);
	for (uint32_t i = 1; i <= TIMES; i++) {
		uint64_t at_ns = i * 510ull * US;
		struct gp_op *op;

		build_call(&b, 100, BUILD_LAUNCH, at_ns, 5 * US, i);
		op = build_op(&b, GP_OP_KERNEL, 7, at_ns + 10 * US, at_ns + (10 + TOOK) * US, i);
		op->name = name;
		op->shape = shape;
	}
	return build_end(&b);
}

/* An SM of this device holds 2,048 threads; half of them are enough. */
static void no_more_is_claimed_than_the_grid_has_for_an_sm(void **state)
{
	static const struct scene cases[] = {
		{132 * 8, 128, 32, 100 * KIB, 75}, /* two blocks of 128 in place of eight */
		{132 * 8, 256, 32, 200 * KIB, 75},
		{132, 256, 32, 200 * KIB, 0}, /* a block for each SM: there is no other */
		{132, 384, 168, 0, 0},
		{264, 128, 32, 100 * KIB, 0},  /* two for each, which it holds */
		{133, 256, 32, 200 * KIB, 50}, /* the last one waits for a place, and need not */
		{132 * 3, 256, 32, 200 * KIB, 66},
		{132 * 2, 64, 32, 200 * KIB, 50},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model = launch(&cases[i]);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "low-occupancy");

		assert_int_equal(found != NULL, cases[i].percent > 0);
		if (found)
			assert_int_equal(found->saves_ns / (TIMES * TOOK * US / 100),
					 cases[i].percent);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_more_is_claimed_than_the_grid_has_for_an_sm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
