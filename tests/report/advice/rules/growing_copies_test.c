/* Copies on the device that grow from step to step. */
#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/stack_builder.h"

#define US     1000ull
#define MS     1000000ull
#define COPIES 256u

/* The microseconds of a copy, by its number. */
typedef uint64_t size_of(uint32_t i);

static uint64_t grows(uint32_t i)
{
	return 10 + i;
}

/* Four sequences of 64 tokens. */
static uint64_t begins_anew(uint32_t i)
{
	return 10 + i % 64 * 3;
}

static uint64_t stays(uint32_t i)
{
	(void)i;
	return 100;
}

/* Like noise, around one mean. */
static uint64_t varies(uint32_t i)
{
	return 50 + i * 7919u % 101;
}

static uint64_t shrinks(uint32_t i)
{
	return 10 + COPIES - i;
}

/* Copies, kernels of torch.cat or the program's own, at a line if has_stack. */
static struct gp_model *build_with(enum gp_op_kind kind, const char *name, size_of *size,
				   bool has_stack)
{
	struct build b = build_begin(1);
	uint32_t stack = build_python(&b, BUILD_OUTERMOST, "/home/me/decode.py", "step", 12);
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	build_name(&b, name);
	build_name(&b, "attention");
	for (uint32_t i = 0; i < 2 * COPIES; i++) {
		bool is_copy = i % 2 == 0;
		uint64_t ns = is_copy ? size(i / 2) * US : 300 * US;
		struct gp_op *op;

		build_call(&b, 100,
			   is_copy && kind == GP_OP_COPY ? BUILD_MEMCPY_ASYNC : BUILD_LAUNCH,
			   at_ns - 10 * US, 5 * US, i + 1);
		build_stack_of_last(&b, has_stack ? stack : GP_NONE);
		op = build_op(&b, is_copy ? kind : GP_OP_KERNEL, 7, at_ns, at_ns + ns, i + 1);
		op->name = !is_copy;
		op->bytes = size(i / 2) << 20;
		op->copy_kind = GP_COPY_DTOD;
		op->source_kind = op->destination_kind = GP_COPY_DEVICE;
		at_ns += ns;
	}
	build_stacks_end(&b);
	return build_end(&b);
}

#define CAT "_ZN2at6native40_GLOBAL__N__0f1a8107_8_Shape_cu_49f19CatArrayBatchedCopyINS1_Ei"

static void growth_is_found(void **state)
{
	static const struct {
		enum gp_op_kind kind;
		const char *name;
		size_of *size;
		bool has_stack, is_found;
	} cases[] = {
		{GP_OP_COPY, "", grows, true, true},
		{GP_OP_COPY, "", begins_anew, true, true},
		{GP_OP_KERNEL, CAT, grows, true, true},
		{GP_OP_KERNEL, CAT, begins_anew, true, true},
		{GP_OP_COPY, "", stays, true, false},
		{GP_OP_KERNEL, CAT, varies, true, false},
		{GP_OP_KERNEL, CAT, shrinks, true, false},
		{GP_OP_KERNEL, "mine", grows, true, false},
		/* these may be copies of different lines */
		{GP_OP_COPY, "", grows, false, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model =
			build_with(cases[i].kind, cases[i].name, cases[i].size, cases[i].has_stack);
		struct gp_advice advice = ask(&model, 1);

		assert_int_equal(find(&advice, "growing-copies") != NULL, cases[i].is_found);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

static void the_saving_is_what_exceeds_the_shortest(void **state)
{
	struct gp_model *model = build_with(GP_OP_COPY, "", grows, true);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "growing-copies");

	assert_non_null(found);
	assert_int_equal(found->count, COPIES);
	assert_int_equal(found->time_ns, (10 * COPIES + COPIES * (COPIES - 1) / 2) * US);
	assert_int_equal(found->saves_ns, COPIES * (COPIES - 1) / 2 * US);
	/* of the first and the last 16 copies */
	assert_int_equal(value_of(found, "least_ns"), 10 * US + 7500);
	assert_int_equal(value_of(found, "most_ns"), (10 + COPIES - 16) * US + 7500);
	gp_advice_free(&advice);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growth_is_found),
		cmocka_unit_test(the_saving_is_what_exceeds_the_shortest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
