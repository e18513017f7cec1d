/* Kernels that have blocks for few SMs, or few threads: which of them are told. */
#include "tests/unit.h"

#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"
#include "tests/report/stack_builder.h"

#define US     1000u
#define TIMES  40
#define OWN    7 /* the context's default stream */
#define OTHERS 20

struct scene {
	const char *name;
	uint32_t blocks, length_us;
	uint32_t stream;
	/* a kernel of another stream begins so long after each; 0 = there is none */
	uint32_t beside_us;
	uint32_t threads, shared_bytes; /* of a block; 0 = 256 of them */
};

/* A last call ends span_us after the first one began; 0: there is none. */
static struct gp_model *launch_times(const struct scene *scene, uint32_t times, uint64_t span_us)
{
	struct build b = build_begin(1);
	uint32_t name = build_name(&b, scene->name);
	uint32_t few = build_shape(&b, scene->blocks, scene->threads ? scene->threads : 256);
	uint32_t many = build_shape(&b, 100000, 256), id = 0;

	b.model->shapes[few].dynamic_shared_bytes = scene->shared_bytes;
	build_device(&b, 0, "GPU");
	build_context_made_by(&b, 1, OWN, 0);
	for (uint64_t i = 0; i < times; i++) {
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
	if (span_us > 0)
		build_call(&b, 100, BUILD_DEVICE_SYNC, (span_us + 999) * US, US, ++id);
	return build_end(&b);
}

static struct gp_model *launch(const struct scene *scene)
{
	return launch_times(scene, TIMES, 0);
}

static void few_blocks_are_told_where_others_would_do(void **state)
{
	static const struct {
		struct scene scene;
		bool told;
	} rows[] = {
		{{"k", 1, 300, OWN, 0, 0, 0}, true},
		{{"k", 1, 300, OTHERS + 1, 0, 0, 0}, true}, /* the only stream there is */
		{{"k", 100000, 300, OWN, 0, 0, 0}, false},
		{{"k", 1, 10, OWN, 0, 0, 0}, false},           /* what it takes is its launch */
		{{"k", 1, 300, OWN, 100, 0, 0}, false},        /* another one runs meanwhile */
		{{"k", 1, 300, OWN, 500, 0, 0}, true},         /* and now afterwards */
		{{"k", 1, 300, OTHERS + 1, 500, 0, 0}, false}, /* it may run beside others */
		{{"ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1, 300, OWN, 0, 0, 0}, false},
	};

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

/* An SM holds 2,048 threads and 32 blocks; as many as half of them are enough. */
static void few_threads_are_told_where_more_would_do(void **state)
{
	static const char on_all[] =
		"has only 157 blocks of 64 threads: 3.7 % of the threads that the GPU can hold";
	static const struct {
		struct scene scene;
		uint32_t percent; /* of the time that is claimed; 0: it is not told */
		const char *found;
	} rows[] = {
		{{"k", 157, 300, OWN, 0, 64, 0}, 92, on_all},
		{{"k", 1000, 300, OWN, 0, 32, 0}, 76, "1,000 blocks of 32 threads: 11.8 %"},
		{{"k", 100, 300, OWN, 0, 64, 0}, 95, "100 blocks of 64 threads: 2.4 %"},
		{{"k", 132, 300, OWN, 0, 1, 0}, 96, "of 1 thread: "}, /* no more than 32 of an SM */
		{{"k", 157, 10, OWN, 0, 64, 0}, 0, NULL},    /* what it takes is its launch */
		{{"k", 157, 300, OWN, 100, 64, 0}, 0, NULL}, /* another one runs meanwhile */
		{{"k", 157, 300, OTHERS + 1, 500, 64, 0}, 0, NULL}, /* it may run beside others */
		{{"k", 132, 300, OWN, 0, 256, 0}, 0, NULL},         /* an eighth of the threads */
		{{"k", 132, 300, OWN, 0, 128, 100 << 10}, 0, NULL}, /* an SM holds two */
		{{"ncclDevKernel_AllReduce_Sum_f32_RING_LL", 157, 300, OWN, 0, 64, 0}, 0, NULL},
		{{"sm90_xmma_gemm_f32f32", 157, 300, OWN, 0, 64, 0}, 0, NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gp_model *model = launch(&rows[i].scene);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "few-blocks");

		assert_int_equal(found != NULL, rows[i].percent > 0);
		if (found) {
			assert_int_equal(found->saves_ns / (300u * US * TIMES / 100),
					 rows[i].percent);
			assert_non_null(strstr(found->found, rows[i].found));
			assert_non_null(strstr(found->change, "more and larger blocks"));
		}
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* Fewer launches are setup, unless they take most of the run. */
static void one_launch_is_told_where_it_takes_long(void **state)
{
	static const struct {
		uint32_t length_us;
		uint64_t span_us;
		bool told;
	} rows[] = {
		{900000, 1000000, true},
		{210000, 1000000, true},
		{190000, 1000000, false},
		{900, 1000, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct scene scene = {"k", 1, rows[i].length_us, OWN, 0, 1, 0};
		struct gp_model *model = launch_times(&scene, 1, rows[i].span_us);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "few-blocks");

		assert_int_equal(found != NULL, rows[i].told);
		if (found) {
			assert_int_equal(found->count, 1);
			assert_int_equal(found->saves_ns / (rows[i].length_us * US / 100), 99);
		}
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* One cause: a function launches the kernel at two lines. */
static void a_kernel_of_several_lines_is_one_finding(void **state)
{
	const struct scene scene = {"dot", 1, 300, OWN, 0, 0, 0};
	struct gp_model *model = launch(&scene);
	struct build b = {.model = model};
	uint32_t stacks[2], count = 0;
	const struct gp_finding *found;
	struct gp_advice advice;

	for (uint8_t i = 0; i < 2; i++)
		stacks[i] =
			build_python(&b, BUILD_OUTERMOST, "/home/me/solve.py", "step", 90 + 2 * i);
	build_stacks_end(&b);
	for (uint32_t i = 0; i < model->call_count; i++)
		model->calls[i].stack = stacks[i % 4 == 3];
	advice = ask(&model, 1);
	for (uint32_t i = 0; i < advice.count; i++)
		count += strcmp(advice.findings[i].rule->id, "few-blocks") == 0;
	assert_int_equal(count, 1);
	found = find(&advice, "few-blocks");
	assert_int_equal(found->count, TIMES);
	assert_in_range(found->saves_ns, 290ull * US * TIMES, 300ull * US * TIMES);
	assert_string_equal(found->place, "step (solve.py:90-92)");
	assert_string_equal(
		text_of(found, "places"),
		"2 places launch it: step (solve.py:90) 75.0 %, step (solve.py:92) 25.0 %");
	gp_advice_free(&advice);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_threads_are_told_where_more_would_do),
		cmocka_unit_test(one_launch_is_told_where_it_takes_long),
		cmocka_unit_test(a_kernel_of_several_lines_is_one_finding),
		cmocka_unit_test(few_blocks_are_told_where_others_would_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
