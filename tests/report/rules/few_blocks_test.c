/* Kernels that have blocks for few SMs: which of them are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "report/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"

#define US     1000u
#define TIMES  40
#define OWN    7 /* the context's default stream */
#define OTHERS 20

struct scene {
	const char *name;
	uint32_t blocks, length_us;
	uint32_t stream;
	uint32_t
		beside_us; /* a kernel of another stream begins so long after each; 0 = there is none */
};

static struct gp_model *launch(const struct scene *scene)
{
	struct build b = build_begin(1);
	uint32_t name = build_name(&b, scene->name), few = build_shape(&b, scene->blocks, 256);
	uint32_t many = build_shape(&b, 100000, 256), id = 0;

	build_device(&b, 0, "GPU");
	build_context_made_by(&b, 1, OWN, 0);
	for (uint64_t i = 0; i < TIMES; i++) {
		uint64_t at_ns = (1 + i) * 1000 * US;
		struct gp_op *op;

		build_call(&b, 100, BUILD_LAUNCH, at_ns, 5 * US, ++id)->context_id = 1;
		op = build_op(&b, GP_OP_KERNEL, scene->stream, at_ns + 10 * US,
			      at_ns + (10ull + scene->length_us) * US, id);
		op->name = name;
		op->shape = few;
		op->context_id = 1;
		if (scene->beside_us == 0)
			continue;
		build_call(&b, 100, BUILD_LAUNCH, at_ns + 6 * US, 2 * US, ++id)->context_id = 1;
		op = build_op(&b, GP_OP_KERNEL, OTHERS, at_ns + (10ull + scene->beside_us) * US,
			      at_ns + (60ull + scene->beside_us) * US, id);
		op->name = name;
		op->shape = many;
		op->context_id = 1;
	}
	return build_end(&b);
}

static void few_blocks_are_told_where_others_would_do(void **state)
{
	static const struct {
		struct scene scene;
		bool told;
	} rows[] = {
		{{"k", 1, 300, OWN, 0}, true},
		{{"k", 1, 300, OTHERS + 1, 0}, true}, /* the only stream there is */
		{{"k", 100000, 300, OWN, 0}, false},
		{{"k", 1, 10, OWN, 0}, false},           /* what it takes is its launch */
		{{"k", 1, 300, OWN, 100}, false},        /* another one runs meanwhile */
		{{"k", 1, 300, OWN, 500}, true},         /* and now afterwards */
		{{"k", 1, 300, OTHERS + 1, 500}, false}, /* it may run beside others */
		{{"ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1, 300, OWN, 0}, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gp_model *model = launch(&rows[i].scene);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "few-blocks");

		assert_int_equal(found != NULL, rows[i].told);
		if (found) {
			assert_int_equal(found->count, TIMES);
			assert_in_range(found->saves_ns, 290ull * US * TIMES, 300ull * US * TIMES);
			assert_non_null(strstr(found->found, "has only 1 block for the 132 SMs"));
		}
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_blocks_are_told_where_others_would_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
