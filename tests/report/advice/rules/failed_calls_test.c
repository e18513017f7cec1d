#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"
#include "tests/report/stack_builder.h"

#define OUT_OF_MEMORY   2
#define NOT_READY       600
#define ILLEGAL_ADDRESS 700
#define PEER_IS_ENABLED 704
#define ASSERTION       710
#define LAUNCH_FAILURE  719
#define RANKS           8

#define COPY 31 /* the number of its function */

/*
 * What is said of the failed calls of these processes, which are freed; NULL: nothing.  To be
 * freed.
 */
static char *told_of(struct gp_model **models, size_t count, uint64_t *times)
{
	struct gp_advice advice;
	char *told = NULL;

	assert_int_equal(gp_advice_of(models, count, &advice), 0);
	for (uint32_t i = 0; i < advice.count && !told; i++)
		if (strcmp(advice.findings[i].rule->id, "failed-calls") == 0) {
			told = build_copy_text(advice.findings[i].found);
			*times = advice.findings[i].count;
		}
	gp_advice_free(&advice);
	for (size_t i = 0; i < count; i++)
		gp_model_free(models[i]);
	return told;
}

static struct build begin(uint32_t pid)
{
	struct build b = build_begin(pid);

	build_device(&b, 0, "GPU");
	build_api(&b, COPY, "cudaMemcpy", GP_API_COPY);
	for (uint32_t i = 1; i <= 5; i++) {
		build_call(&b, 100, BUILD_LAUNCH, 1000000 + i * 10000, 1000, i);
		build_op(&b, GP_OP_KERNEL, 7, 1002000 + i * 10000, 1009000 + i * 10000, i);
	}
	return b;
}

static void fail_calls(struct build *b, uint32_t thread_id, uint16_t api, uint16_t status,
		       uint32_t times)
{
	for (uint32_t i = 0; i < times; i++)
		build_call(b, thread_id, api, 2000000 + b->model->call_count * 1000, 100,
			   1000 + b->model->call_count)
			->status = status;
}

/* Each thread of each process does so once or twice, and then ends or does something else. */
static void what_fails_once_or_twice_everywhere_is_looked_at(void **state)
{
	static const uint16_t statuses[] = {OUT_OF_MEMORY, NOT_READY, PEER_IS_ENABLED};

	for (size_t k = 0; k < sizeof(statuses) / sizeof(statuses[0]); k++) {
		struct gp_model *ranks[RANKS];
		uint64_t times;

		for (uint32_t i = 0; i < RANKS; i++) {
			struct build b = begin(1 + i);

			fail_calls(&b, 100, BUILD_MALLOC, statuses[k], 2);
			fail_calls(&b, 200, BUILD_MALLOC, statuses[k], 1);
			ranks[i] = build_end(&b);
		}
		assert_null(told_of(ranks, RANKS, &times));
	}
}

/*
 * What it was to compute is missing, if others go on; a program that ends there has looked, and one
 * that tries whether there is code for the GPU, too.
 */
static void one_refused_launch_or_copy_is_enough(void **state)
{
	static const struct {
		uint16_t api, status;
		bool goes_on, is_told;
	} cases[] = {
		{BUILD_LAUNCH, 1, true, true},
		{BUILD_LAUNCH, 9, true, true},
		{BUILD_LAUNCH, 701, true, true},
		{BUILD_LAUNCH, 9, false, false},
		{BUILD_LAUNCH, 209, true, false},
		{BUILD_MALLOC, 1, true, false},
		{COPY, 1, true, true},
		{COPY, 1, false, false},
		{COPY, 17, true, true},
		{COPY, 21, true, true},
		{COPY, OUT_OF_MEMORY, true, false},
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct build b = begin(1);
		struct gp_model *model;
		uint64_t times;
		char *told;

		fail_calls(&b, 100, cases[k].api, cases[k].status, 1);
		if (cases[k].goes_on) {
			build_call(&b, 100, BUILD_LAUNCH, 3000000, 1000, 77);
			build_op(&b, GP_OP_KERNEL, 7, 3002000, 3009000, 77);
		}
		model = build_end(&b);
		told = told_of(&model, 1, &times);
		assert_int_equal(told != NULL, cases[k].is_told);
		free(told);
	}
}

/*
 * After an error of the GPU itself nothing works: one call is enough, and that it is told first of
 * all.
 */
static void one_call_tells_of_a_lasting_error(void **state)
{
	static const uint16_t statuses[] = {ILLEGAL_ADDRESS, ASSERTION, LAUNCH_FAILURE};

	for (size_t k = 0; k < sizeof(statuses) / sizeof(statuses[0]); k++) {
		struct build b = begin(1);
		struct gp_model *model;
		uint64_t times = 0;
		char *told;

		fail_calls(&b, 100, BUILD_DEVICE_SYNC, statuses[k], 1);
		model = build_end(&b);
		told = told_of(&model, 1, &times);
		assert_non_null(told);
		assert_int_equal(times, 1);
		assert_non_null(strstr(told, "): cudaDeviceSynchronize returned it"));
		free(told);
	}
}

static void the_thread_with_most_is_told(void **state)
{
	struct gp_model *ranks[3];
	uint64_t times = 0;
	char *told;

	for (uint32_t i = 0; i < 3; i++) {
		struct build b = begin(1 + i);

		fail_calls(&b, 100, BUILD_MALLOC, OUT_OF_MEMORY, i == 1 ? 5 : 3);
		fail_calls(&b, 200, BUILD_MALLOC, OUT_OF_MEMORY, i == 1 ? 4 : 0);
		ranks[i] = build_end(&b);
	}
	told = told_of(ranks, 3, &times);
	assert_non_null(told);
	assert_int_equal(times, 5);
	assert_non_null(strstr(told, "cudaMalloc failed 5 times in one thread, 9 in all: "));
	free(told);
}

static void of_one_thread_no_more_is_said_than_that(void **state)
{
	struct build b = begin(1);
	struct gp_model *model;
	uint64_t times = 0;
	char *told;

	fail_calls(&b, 100, BUILD_MALLOC, OUT_OF_MEMORY, 3);
	model = build_end(&b);
	told = told_of(&model, 1, &times);
	assert_non_null(told);
	assert_non_null(strstr(told, "cudaMalloc failed 3 times: "));
	free(told);
}

/* It gives back what it keeps and tries again. */
static void a_cache_that_finds_memory_full_is_no_case(void **state)
{
	for (int launches = 0; launches <= 1; launches++) {
		struct build b = begin(1);
		uint32_t stack = build_python(&b, BUILD_OUTERMOST, "train.py", "step", 12);
		struct gp_model *model;
		uint64_t times = 0;
		char *told;

		stack = build_native(&b, stack, "/x/torch/lib/libc10_cuda.so", 0x20);
		for (uint32_t i = 0; i < 10; i++) {
			fail_calls(&b, 100, launches ? BUILD_LAUNCH : BUILD_MALLOC, OUT_OF_MEMORY,
				   1);
			build_stack_of_last(&b, stack);
		}
		build_stacks_end(&b);
		model = build_end(&b);
		told = told_of(&model, 1, &times);
		assert_true((told != NULL) == launches);
		free(told);
	}
}

/*
 * The error is called as those who told it first call it; the driver and the runtime tell of the
 * same.
 */
static void a_lasting_error_has_the_name_of_who_told_it(void **state)
{
	for (int driver = 0; driver <= 1; driver++) {
		struct build b = begin(1);
		struct gp_model *model;
		uint64_t times = 0;
		char *told;

		fail_calls(&b, 100, driver ? BUILD_DRIVER_LAUNCH : BUILD_LAUNCH, ILLEGAL_ADDRESS,
			   2);
		fail_calls(&b, 100, driver ? BUILD_LAUNCH : BUILD_DRIVER_LAUNCH, ILLEGAL_ADDRESS,
			   2);
		model = build_end(&b);
		told = told_of(&model, 1, &times);
		assert_non_null(told);
		assert_int_equal(times, 4);
		assert_non_null(strstr(told, "4 calls in all failed with it"));
		assert_true((strstr(told, "CUDA_ERROR_ILLEGAL_ADDRESS") != NULL) == driver);
		assert_true((strstr(told, "cudaErrorIllegalAddress") != NULL) == !driver);
		free(told);
	}
}

/* Whose result the program does not see. */
static void only_launches_are_looked_for_after_the_brackets(void **state)
{
	static const uint16_t apis[] = {BUILD_LAUNCH, BUILD_MALLOC, BUILD_DRIVER_LAUNCH};

	for (size_t i = 0; i < sizeof(apis) / sizeof(apis[0]); i++) {
		struct build b = begin(1);
		struct gp_advice advice;
		struct gp_model *model;
		const struct gp_finding *found;

		fail_calls(&b, 100, apis[i], OUT_OF_MEMORY, 3);
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "failed-calls");
		assert_non_null(found);
		assert_true((strstr(found->change, "<<<>>>") != NULL) == (apis[i] == BUILD_LAUNCH));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* What the finding says to do; to be freed. */
static char *change_of(struct build *b)
{
	struct gp_model *model = build_end(b);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "failed-calls");
	char *change;

	assert_non_null(found);
	change = build_copy_text(found->change);
	gp_advice_free(&advice);
	gp_model_free(model);
	return change;
}

/*
 * Five kernels ended; so many did not, and one before a wait that went well; then an error of the
 * GPU is told.
 */
static char *change_after(uint32_t launches, uint16_t status, bool with_stack)
{
	struct build b = begin(1);
	uint32_t stack = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "step", 12);

	build_call(&b, 100, BUILD_LAUNCH, 1500000, 100, 90);
	build_call(&b, 100, BUILD_DEVICE_SYNC, 1600000, 1000, 91);
	for (uint32_t i = 0; i < launches; i++) {
		build_call(&b, 100, BUILD_LAUNCH, 1700000 + 1000 * i, 100, 92 + i);
		if (with_stack)
			build_stack_of_last(&b, stack);
	}
	build_call(&b, 100, BUILD_DEVICE_SYNC, 1750000, 100, 200)->status = status;
	fail_calls(&b, 100, BUILD_MALLOC, status, 2);
	build_stacks_end(&b);
	return change_of(&b);
}

/* Of a crash this is the one answer wanted. */
static void the_kernel_that_did_not_end_is_named(void **state)
{
	char *change = change_after(1, ILLEGAL_ADDRESS, true);

	assert_non_null(strstr(
		change,
		"the kernel launched 50.00us before at step (train.py:12) caused it; compute-sanitizer shows its line"));
	free(change);
	change = change_after(1, ILLEGAL_ADDRESS, false);
	assert_non_null(strstr(change, "the kernel launched 50.00us before (CorrID 92 of"));
	free(change);
	change = change_after(3, ASSERTION, true);
	assert_non_null(strstr(
		change,
		"an assert() of one of the 3 kernels without a recorded end, all launched at step (train.py:12), failed"));
	free(change);
	change = change_after(3, ILLEGAL_ADDRESS, false);
	assert_non_null(strstr(
		change,
		"one of the 3 kernels without a recorded end caused it; compute-sanitizer names it"));
	free(change);
	change = change_after(0, ILLEGAL_ADDRESS, false);
	assert_non_null(strstr(change, "an earlier kernel caused it; compute-sanitizer names it"));
	free(change);
}

#define GRAPH_LAUNCH 311

/*
 * A graph and a kernel are launched, each or not; of the graph records of some operations came, or
 * none; a later one may have come of its stream.
 */
static char *change_with_graph(bool graph, bool kernel, bool some, bool later)
{
	struct build b = begin(1);

	build_api(&b, GRAPH_LAUNCH, "cudaGraphLaunch", GP_API_GRAPH_LAUNCH);
	build_call(&b, 100, BUILD_DEVICE_SYNC, 1600000, 1000, 91);
	if (graph)
		build_call(&b, 100, GRAPH_LAUNCH, 1690000, 100, 93);
	if (some)
		build_op(&b, GP_OP_KERNEL, 8, 1691000, 1692000, 93);
	if (later) {
		build_call(&b, 100, BUILD_LAUNCH, 1692000, 100, 94);
		build_op(&b, GP_OP_KERNEL, 8, 1693000, 1694000, 94);
	}
	if (kernel)
		build_call(&b, 100, BUILD_LAUNCH, 1700000, 100, 92);
	build_call(&b, 100, BUILD_DEVICE_SYNC, 1750000, 100, 200)->status = ILLEGAL_ADDRESS;
	return change_of(&b);
}

/* A graph's kernel may have done it, as long as no record says that it ended. */
static void a_graph_is_as_suspect_as_a_kernel(void **state)
{
	static const struct {
		bool graph, kernel, some, later;
		const char *change;
	} cases[] = {
		{true, true, false, false,
		 "one of the 2 kernels and graphs without a recorded end caused it"},
		{true, true, true, false,
		 "one of the 2 kernels and graphs without a recorded end caused it"},
		{true, true, true, true, "the kernel launched 50.00us before (CorrID 92 of"},
		{true, false, false, false,
		 "a kernel of the graph launched 60.00us before (CorrID 93 of"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *change = change_with_graph(cases[i].graph, cases[i].kernel, cases[i].some,
						 cases[i].later);

		assert_non_null(strstr(change, cases[i].change));
		free(change);
	}
}

/*
 * A wait for another context, or for one that is not known, tells nothing of this one, whose error
 * no kernel of the other one made.
 */
static void contexts_are_told_apart(void **state)
{
	for (uint32_t waited = 0; waited <= 2; waited += 2) {
		struct build b = begin(1);
		struct gp_call *failed;
		char *change;

		build_call(&b, 100, BUILD_LAUNCH, 1690000, 100, 90)->context_id = 1;
		build_call(&b, 100, BUILD_DEVICE_SYNC, 1695000, 1000, 91)->context_id = waited;
		build_call(&b, 100, BUILD_LAUNCH, 1700000, 100, 92)->context_id = 2;
		failed = build_call(&b, 100, BUILD_DEVICE_SYNC, 1750000, 100, 200);
		failed->status = ILLEGAL_ADDRESS;
		failed->context_id = 1;
		change = change_of(&b);
		assert_non_null(strstr(change, "the kernel launched 60.00us before (CorrID 90 of"));
		free(change);
	}
}

/* A wait whose context is not known tells nothing, whosever the error is. */
static void a_wait_of_no_known_context_clears_nothing(void **state)
{
	struct build b = begin(1);
	struct gp_call *failed;
	char *change;

	build_call(&b, 100, BUILD_LAUNCH, 1690000, 100, 90)->context_id = 1;
	build_call(&b, 100, BUILD_DEVICE_SYNC, 1695000, 1000, 91)->context_id = 0;
	failed = build_call(&b, 100, BUILD_DEVICE_SYNC, 1750000, 100, 200);
	failed->status = ILLEGAL_ADDRESS;
	failed->context_id = 0;
	change = change_of(&b);
	assert_non_null(strstr(change, "the kernel launched 60.00us before (CorrID 90 of"));
	free(change);
}

/*
 * One kernel's record has no times, and the one launched after it has no record; with a second one
 * without times, or one that a wait came after, it may be any.  One whose times are not believed
 * had ended.
 */
static void the_only_kernel_without_times_is_named(void **state)
{
	static const struct {
		uint16_t status;
		uint32_t untimed;
		bool waits, had_times;
		const char *change;
		uint32_t graph_id;
	} cases[] = {
		{ASSERTION, 1, false, false,
		 "an assert() of the kernel gather launched 60.00us before (CorrID 90 of `gpuprof trace api`; --stacks=all records its line) failed; its",
		 0},
		{ILLEGAL_ADDRESS, 1, false, false, "the kernel gather launched 60.00us before", 0},
		{ILLEGAL_ADDRESS, 2, false, false, "the kernel launched 45.00us before", 0},
		{ILLEGAL_ADDRESS, 1, true, false, "the kernel launched 45.00us before", 0},
		{ILLEGAL_ADDRESS, 1, false, true, "the kernel launched 45.00us before", 0},
		{ILLEGAL_ADDRESS, 1, false, false,
		 "a kernel (gather) of the graph launched 60.00us before (CorrID 90 of `gpuprof trace api`; --stacks=all records its line) caused it",
		 5},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = begin(1);
		uint32_t name = build_name(&b, "_Z6gatherPi");
		struct gp_op *op;
		char *change;

		build_api(&b, 77, "cudaGraphLaunch", GP_API_GRAPH_LAUNCH);
		for (uint32_t k = 0; k < cases[i].untimed; k++) {
			build_call(&b, 100, cases[i].graph_id ? 77 : BUILD_LAUNCH,
				   1690000 + k * 1000, 100, 90 + k);
			op = build_op(&b, GP_OP_KERNEL, 7, 1690000 + k * 1000, 1690000 + k * 1000,
				      90 + k);
			op->untimed = true;
			op->name = name;
			op->graph_id = cases[i].graph_id;
		}
		if (cases[i].had_times) {
			b.model->contradictions = calloc(1, sizeof(*b.model->contradictions));
			build_check(b.model->contradictions != NULL);
			b.model->contradictions[b.model->contradiction_count++].op =
				b.model->op_count - 1;
		}
		if (cases[i].waits)
			build_call(&b, 100, BUILD_DEVICE_SYNC, 1695000, 1000, 98);
		build_call(&b, 100, BUILD_LAUNCH, 1705000, 100, 99);
		build_call(&b, 100, BUILD_DEVICE_SYNC, 1750000, 100, 200)->status = cases[i].status;
		change = change_of(&b);
		assert_non_null(strstr(change, cases[i].change));
		free(change);
	}
}

/*
 * Where records are missing for another reason, no kernel is accused, nor one whose record came
 * without times.
 */
static void where_records_were_lost_no_kernel_is_accused(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct build b = begin(1);
		char *change;

		build_call(&b, 100, BUILD_LAUNCH, 1700000, 100, 92);
		if (i >= 2)
			build_op(&b, GP_OP_KERNEL, 7, 1700000, 1700000, 92)->untimed = true;
		fail_calls(&b, 100, BUILD_MALLOC, ILLEGAL_ADDRESS, 1);
		if (i % 2 == 0)
			b.model->counters[GP_COUNTER_LOST_CUPTI] = 7;
		else
			b.model->recorder = "torch.profiler";
		change = change_of(&b);
		assert_non_null(strstr(change, "an earlier kernel caused it"));
		free(change);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fails_once_or_twice_everywhere_is_looked_at),
		cmocka_unit_test(one_refused_launch_or_copy_is_enough),
		cmocka_unit_test(the_kernel_that_did_not_end_is_named),
		cmocka_unit_test(a_graph_is_as_suspect_as_a_kernel),
		cmocka_unit_test(contexts_are_told_apart),
		cmocka_unit_test(a_wait_of_no_known_context_clears_nothing),
		cmocka_unit_test(the_only_kernel_without_times_is_named),
		cmocka_unit_test(where_records_were_lost_no_kernel_is_accused),
		cmocka_unit_test(one_call_tells_of_a_lasting_error),
		cmocka_unit_test(the_thread_with_most_is_told),
		cmocka_unit_test(of_one_thread_no_more_is_said_than_that),
		cmocka_unit_test(a_cache_that_finds_memory_full_is_no_case),
		cmocka_unit_test(a_lasting_error_has_the_name_of_who_told_it),
		cmocka_unit_test(only_launches_are_looked_for_after_the_brackets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
