/* What each moment waited for, followed back from the end. */
#include "report/analysis/idle/critical_path.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

#define US 1000u

struct expected {
	uint64_t from_us, to_us;
	enum gp_path_kind kind;
	uint32_t index;
};

static void check(struct build *b, const struct expected *expected, uint32_t count)
{
	struct gp_model *model = build_end(b);
	struct gp_path path;

	assert_int_equal(gp_path_of(&path, model), 0);
	assert_int_equal(path.count, count);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(path.steps[i].start_ns, expected[i].from_us * US);
		assert_int_equal(path.steps[i].end_ns, expected[i].to_us * US);
		assert_int_equal(path.steps[i].kind, expected[i].kind);
		assert_int_equal(path.steps[i].index, expected[i].index);
		assert_true(i == 0 || path.steps[i].end_ns == path.steps[i - 1].start_ns);
	}
	gp_path_free(&path);
	gp_model_free(model);
}

/* A launch, a pause, a second one into the same stream, and a wait. */
static struct build two_kernels(uint64_t second_us, uint32_t second_stream)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	build_call(&b, 100, BUILD_LAUNCH, 10 * US, 10 * US, 1);
	build_call(&b, 100, BUILD_LAUNCH, 50 * US, 10 * US, 2);
	build_call(&b, 100, BUILD_DEVICE_SYNC, 60 * US, 1000 * US, 0);
	build_op(&b, GP_OP_KERNEL, 7, 25 * US, 500 * US, 1);
	build_op(&b, GP_OP_KERNEL, second_stream, second_us * US, 1050 * US, 2);
	return b;
}

static void kernels_wait_for_those_before_them_in_their_stream(void **state)
{
	static const struct expected expected[] = {
		{1050, 1060, GP_PATH_CALL, 2}, {502, 1050, GP_PATH_OPERATION, 1},
		{500, 502, GP_PATH_STEP, 1},   {25, 500, GP_PATH_OPERATION, 0},
		{20, 25, GP_PATH_LAUNCH, 0},   {10, 20, GP_PATH_CALL, 0},
	};
	struct build b = two_kernels(502, 7);

	check(&b, expected, 6);
}

/* Else the first kernel made nothing longer. */
static void or_for_their_launch(void **state)
{
	static const struct expected expected[] = {
		{1050, 1060, GP_PATH_CALL, 2}, {65, 1050, GP_PATH_OPERATION, 1},
		{60, 65, GP_PATH_LAUNCH, 1},   {50, 60, GP_PATH_CALL, 1},
		{20, 50, GP_PATH_HOST, 1},     {10, 20, GP_PATH_CALL, 0},
	};
	struct build b = two_kernels(65, 8);

	check(&b, expected, 6);
}

static void or_for_another_stream_where_they_begin_when_that_one_s_ended(void **state)
{
	static const struct expected expected[] = {
		{1050, 1060, GP_PATH_CALL, 2}, {502, 1050, GP_PATH_OPERATION, 1},
		{500, 502, GP_PATH_STEP, 1},   {25, 500, GP_PATH_OPERATION, 0},
		{20, 25, GP_PATH_LAUNCH, 0},   {10, 20, GP_PATH_CALL, 0},
	};
	static const struct expected late[] = {
		{1050, 1060, GP_PATH_CALL, 2}, {600, 1050, GP_PATH_OPERATION, 1},
		{60, 600, GP_PATH_LAUNCH, 1},  {50, 60, GP_PATH_CALL, 1},
		{20, 50, GP_PATH_HOST, 1},     {10, 20, GP_PATH_CALL, 0},
	};
	struct build soon = two_kernels(502, 8), later = two_kernels(600, 8);

	check(&soon, expected, 6);
	check(&later, late, 6);
}

/* The host does something else after its wait, and ends in a call that does not wait. */
static void what_the_host_does_is_on_it(void **state)
{
	static const struct expected expected[] = {
		{3000, 3005, GP_PATH_CALL, 3}, {1060, 3000, GP_PATH_HOST, 3},
		{1050, 1060, GP_PATH_CALL, 2}, {502, 1050, GP_PATH_OPERATION, 1},
		{500, 502, GP_PATH_STEP, 1},   {25, 500, GP_PATH_OPERATION, 0},
		{20, 25, GP_PATH_LAUNCH, 0},   {10, 20, GP_PATH_CALL, 0},
	};
	struct build b = two_kernels(502, 7);

	build_call(&b, 100, BUILD_LAUNCH, 3000 * US, 5 * US, 0);
	check(&b, expected, 8);
}

/* Between the two another program may have had the GPU: of a long wait a hundredth is soon. */
static void after_a_long_wait_the_other_may_have_ended_earlier(void **state)
{
	static const struct expected waited[] = {
		{32000, 32010, GP_PATH_OPERATION, 1},
		{31700, 32000, GP_PATH_STEP, 1},
		{25, 31700, GP_PATH_OPERATION, 0},
		{20, 25, GP_PATH_LAUNCH, 0},
		{10, 20, GP_PATH_CALL, 0},
	};
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	build_call(&b, 100, BUILD_LAUNCH, 10 * US, 10 * US, 1);
	build_call(&b, 100, BUILD_LAUNCH, 50 * US, 10 * US, 2);
	build_op(&b, GP_OP_KERNEL, 7, 25 * US, 31700 * US, 1);
	build_op(&b, GP_OP_KERNEL, 8, 32000 * US, 32010 * US, 2);
	check(&b, waited, 5);
}

/*
 * A thread that was not there yet did nothing: the main thread was in a call, from which its
 * creator came, and before that in another one.
 */
static void before_its_first_call_a_thread_was_not_there(void **state)
{
	static const struct expected expected[] = {
		{1000, 1100, GP_PATH_CALL, 2}, {900, 1000, GP_PATH_HOST, 2},
		{100, 900, GP_PATH_CALL, 1},   {50, 100, GP_PATH_HOST, 1},
		{10, 50, GP_PATH_CALL, 0},
	};
	/* the main thread made none: it goes on where a call began last */
	static const uint32_t threads[] = {100, 101};

	for (uint32_t i = 0; i < 2; i++) {
		struct build b = build_begin(1);

		b.model->pid = 100;
		build_thread(&b, 101, "");
		build_thread(&b, 200, "");
		build_device(&b, 0, "GPU");
		build_call(&b, threads[i], BUILD_LAUNCH, 10 * US, 40 * US, 0);
		build_call(&b, threads[i], BUILD_LAUNCH, 100 * US, 800 * US, 0);
		build_call(&b, 200, BUILD_LAUNCH, 1000 * US, 100 * US, 0);
		check(&b, expected, 5);
	}
}

/*
 * Two threads that live while the main thread is in no call: it went on when the second one was
 * done.
 */
static void threads_that_were_joined_are_followed(void **state)
{
	static const struct expected expected[] = {
		{3000, 3010, GP_PATH_CALL, 1}, {2010, 3000, GP_PATH_HOST, 1},
		{2000, 2010, GP_PATH_CALL, 5}, {300, 2000, GP_PATH_OPERATION, 0},
		{210, 300, GP_PATH_LAUNCH, 0}, {200, 210, GP_PATH_CALL, 4},
		{20, 200, GP_PATH_HOST, 4},    {10, 20, GP_PATH_CALL, 0},
	};
	struct build b = build_begin(100);

	build_thread(&b, 200, "");
	build_thread(&b, 300, "");
	build_thread(&b, 100, "");
	build_device(&b, 0, "GPU");
	build_call(&b, 100, BUILD_LAUNCH, 10 * US, 10 * US, 0);
	build_call(&b, 200, BUILD_LAUNCH, 150 * US, 10 * US, 0);
	build_call(&b, 200, BUILD_LAUNCH, 900 * US, 10 * US, 0);
	build_call(&b, 300, BUILD_LAUNCH, 200 * US, 10 * US, 1);
	build_call(&b, 300, BUILD_DEVICE_SYNC, 220 * US, 1790 * US, 0);
	build_call(&b, 100, BUILD_LAUNCH, 3000 * US, 10 * US, 0);
	build_op(&b, GP_OP_KERNEL, 7, 300 * US, 2000 * US, 1);
	check(&b, expected, 8);
}

/*
 * One that goes on later was not joined: whether the main thread waited for what it did meanwhile
 * is not known, and said if that took half of the time.
 */
static void beside_other_threads_it_is_not_known(void **state)
{
	static const struct {
		uint64_t last_us;
		enum gp_path_kind kind;
	} runs[] = {{1800, GP_PATH_BESIDE}, {600, GP_PATH_HOST}};

	for (size_t i = 0; i < 2; i++) {
		struct build b = build_begin(100);
		struct gp_model *model;
		struct gp_path path;

		build_thread(&b, 100, "");
		build_thread(&b, 200, "");
		build_device(&b, 0, "GPU");
		build_call(&b, 100, BUILD_LAUNCH, 10 * US, 10 * US, 0);
		build_call(&b, 200, BUILD_LAUNCH, 500 * US, 10 * US, 0);
		build_call(&b, 200, BUILD_LAUNCH, runs[i].last_us * US, 10 * US, 0);
		build_call(&b, 100, BUILD_LAUNCH, 2000 * US, 500 * US, 0);
		build_call(&b, 200, BUILD_LAUNCH, 2100 * US, 10 * US, 0);
		model = build_end(&b);
		assert_int_equal(gp_path_of(&path, model), 0);
		assert_int_equal(path.count, 3);
		assert_int_equal(path.steps[1].kind, runs[i].kind);
		assert_int_equal(path.steps[1].start_ns, 20 * US);
		gp_path_free(&path);
		gp_model_free(model);
	}
}

/* A look at each of them at each step took many minutes. */
static void many_threads_take_as_long_as_many_calls(void **state)
{
	enum { THREADS = 50000, FIRST = 100, MOST_SECONDS = 60 };
	struct build b = build_begin(FIRST);
	struct gp_model *model;
	struct gp_path path;

	build_device(&b, 0, "GPU");
	build_call(&b, FIRST, BUILD_LAUNCH, 10 * US, 10 * US, 0);
	for (uint32_t i = 1; i <= THREADS; i++)
		build_call(&b, FIRST + i, BUILD_LAUNCH, (uint64_t)i * 200 * US, 10 * US, 0);
	build_call(&b, FIRST, BUILD_LAUNCH, (THREADS + 1ull) * 200 * US, 10 * US, 0);
	model = build_end(&b);
	limit_processor_s(MOST_SECONDS);
	assert_int_equal(gp_path_of(&path, model), 0);
	limit_processor_s(0);
	assert_int_equal(path.count, 2 * (THREADS + 2) - 1);
	gp_path_free(&path);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_wait_for_those_before_them_in_their_stream),
		cmocka_unit_test(or_for_their_launch),
		cmocka_unit_test(or_for_another_stream_where_they_begin_when_that_one_s_ended),
		cmocka_unit_test(after_a_long_wait_the_other_may_have_ended_earlier),
		cmocka_unit_test(what_the_host_does_is_on_it),
		cmocka_unit_test(before_its_first_call_a_thread_was_not_there),
		cmocka_unit_test(threads_that_were_joined_are_followed),
		cmocka_unit_test(beside_other_threads_it_is_not_known),
		cmocka_unit_test(many_threads_take_as_long_as_many_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
