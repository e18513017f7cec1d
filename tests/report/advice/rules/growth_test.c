#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>

#include "report/advice/advice.h"
#include "report/advice/rules/growth.h"
#include "tests/report/ask_advice.h"
#include "tests/report/stack_builder.h"

#define PASSES 100

/*
 * What happens in each pass: a letter each.  a: a block that is left; f: one that is freed; k: a
 * kernel; c: a copy.
 */
typedef const char *letters_of_pass(uint32_t pass);

static struct gp_model *build_loop(letters_of_pass *letters)
{
	struct build b = build_begin(1);
	uint64_t at_ns = 1000;

	for (uint32_t pass = 0; pass < PASSES; pass++)
		for (const char *letter = letters(pass); *letter; letter++, at_ns += 1000) {
			uint32_t id = b.model->call_count + 1;

			if (*letter == 'a' || *letter == 'f')
				build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, at_ns,
					     0x100000 + at_ns, 64);
			if (*letter == 'f')
				build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, at_ns + 500,
					     0x100000 + at_ns, 0);
			if (*letter == 'k' || *letter == 'c') {
				build_call(&b, 100,
					   *letter == 'k' ? BUILD_LAUNCH : BUILD_MEMCPY_ASYNC,
					   at_ns, 100, id);
				build_op(&b, *letter == 'k' ? GP_OP_KERNEL : GP_OP_COPY, 7,
					 at_ns + 200, at_ns + 300, id);
			}
		}
	return build_end(&b);
}

/* The passes that were found to grow, 0 = it does not; blocks of each. */
static uint64_t passes_of(letters_of_pass *letters, uint64_t *blocks)
{
	struct gp_model *model = build_loop(letters);
	struct gp_call_sites *sites = gp_call_sites_new();
	struct gp_growth *growths;
	uint32_t count;
	uint64_t passes = 0;

	assert_non_null(sites);
	gp_growths_of(sites, model, &growths, &count);
	assert_true(count <= 1);
	if (count == 1) {
		passes = growths[0].passes;
		*blocks = growths[0].blocks;
		assert_int_equal(growths[0].kind, GP_MEMORY_DEVICE);
		assert_true(growths[0].bytes >= passes * 64);
	}
	free(growths);
	gp_call_sites_free(sites);
	gp_model_free(model);
	return passes;
}

static const char *one_each(uint32_t pass)
{
	(void)pass;
	return "afk";
}

static const char *three_each_but_sometimes(uint32_t pass)
{
	return pass % 20 == 7 ? "k" : "aaakfk";
}

static void a_block_or_more_with_each_pass_is_growth(void **state)
{
	uint64_t blocks = 0;

	assert_int_equal(passes_of(one_each, &blocks), PASSES);
	assert_int_equal(blocks, 1);
	assert_int_equal(passes_of(three_each_but_sometimes, &blocks), PASSES - PASSES / 20);
	assert_int_equal(blocks, 3);
}

static const char *freed(uint32_t pass)
{
	(void)pass;
	return "fk";
}

static const char *until_full(uint32_t pass)
{
	return pass < PASSES / 2 ? "ak" : "k";
}

static const char *slower_and_slower(uint32_t pass)
{
	return (pass & (pass - 1)) == 0 || pass < 24 ? "ak" : "k";
}

static const char *any_number(uint32_t pass)
{
	static const char seven[] = "aaaaaaak";

	return &seven[pass * pass % 7];
}

static const char *set_up(uint32_t pass)
{
	return pass < 40 ? "ac" : "kk";
}

static const char *set_up_with_kernels(uint32_t pass)
{
	return pass < 40 ? "ak" : "kk";
}

static const char *set_up_at_the_end(uint32_t pass)
{
	return pass < 60 ? "kk" : "ac";
}

static void what_is_made_before_the_work_is_told_apart(void **state)
{
	uint64_t blocks;

	assert_int_equal(passes_of(set_up, &blocks), 1);
	assert_int_equal(passes_of(set_up_with_kernels, &blocks), 0);
	assert_int_equal(passes_of(set_up_at_the_end, &blocks), 0);
}

static const char *few(uint32_t pass)
{
	return pass % 6 == 0 ? "ak" : "k";
}

static const char *without_kernels(uint32_t pass)
{
	(void)pass;
	return "ac";
}

static const char *until_nearly_full(uint32_t pass)
{
	return pass < PASSES * 87 / 100 ? "ak" : "k";
}

static void what_ends_or_differs_or_comes_seldom_is_none(void **state)
{
	static letters_of_pass *const none[] = {
		freed,      until_full, until_nearly_full, slower_and_slower,
		any_number, few,        without_kernels,
	};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		uint64_t blocks;

		assert_int_equal(passes_of(none[i], &blocks), 0);
	}
}

/* One thread makes the weights, with a kernel for each; another one computes. */
static void what_one_thread_sets_up_for_another_is_none(void **state)
{
	struct gp_call_sites *sites = gp_call_sites_new();
	struct build b = build_begin(1);
	struct gp_growth *growths;
	struct gp_model *model;
	uint32_t count;

	for (uint32_t i = 0; i < 1000; i++) {
		uint64_t at_ns = 1000 + i * 1000;

		if (i < 24)
			build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, at_ns, 0x100000 + at_ns,
				     64);
		build_call(&b, i < 24 || i == 999 ? 100 : 200, BUILD_LAUNCH, at_ns + 500, 100,
			   i + 1);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 600, at_ns + 900, i + 1);
	}
	model = build_end(&b);
	assert_non_null(sites);
	gp_growths_of(sites, model, &growths, &count);
	assert_int_equal(count, 0);
	free(growths);
	gp_call_sites_free(sites);
	gp_model_free(model);
}

/* A little block in each pass is a leak, the same blocks before the work are not worth a word. */
static void little_leaks_are_told(void **state)
{
	for (int in_loop = 0; in_loop <= 1; in_loop++) {
		struct build b = build_begin(1);
		const struct gp_finding *found;
		struct gp_advice advice;
		struct gp_model *model;
		uint32_t stack = build_python(&b, BUILD_OUTERMOST, "train.py", "main", 1);

		build_device(&b, 0, "GPU");
		for (uint32_t i = 0; i < 200; i++) {
			uint64_t at_ns = 1000000 + i * 10000;

			if (in_loop || i < 40) {
				build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, at_ns,
					     0x1000 + 64 * i, 64);
				build_stack_of_last(&b, stack);
			}
			build_call(&b, 100, BUILD_LAUNCH, at_ns + 100, 1000, i + 1);
			build_op(&b, GP_OP_KERNEL, 7, at_ns + 200, at_ns + 9000, i + 1);
		}
		build_stacks_end(&b);
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "leaked-memory");
		assert_true((found != NULL) == in_loop);
		if (found)
			assert_non_null(strstr(
				found->found,
				"grew 200 times until the end, mostly by 1 block, 64B on average"));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * A call site of a process that left so many blocks of that size, with a kernel after each, or
 * after all of them.
 */
static struct gp_model *leave_blocks(uint32_t pid, uint32_t count, uint64_t bytes, bool at_once)
{
	struct build b = build_begin(pid);
	uint32_t stack = build_python(&b, BUILD_OUTERMOST, "train.py", "main", 1);

	build_device(&b, 0, "GPU");
	for (uint32_t i = 0; i < count; i++) {
		uint64_t at_ns = 1000000 + i * 10000;

		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, at_ns,
			     (i + 1) * (UINT64_C(1) << 32), bytes);
		build_stack_of_last(&b, stack);
		if (at_once && i + 1 < count)
			continue;
		build_call(&b, 100, BUILD_LAUNCH, at_ns + 2000, 1000, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 4000, at_ns + 8000, i + 1);
	}
	build_stacks_end(&b);
	return build_end(&b);
}

/*
 * One block is no leak, however large: beside it those of another process are told as without it.
 */
static void what_is_no_leak_hides_none(void **state)
{
	struct gp_model *models[] = {leave_blocks(1, 1, UINT64_C(2) << 30, false),
				     leave_blocks(2, 40, 10 << 20, false)};
	struct gp_advice first = ask(&models[0], 1), both = ask(models, 2);
	const struct gp_finding *found = find(&both, "leaked-memory");

	assert_null(find(&first, "leaked-memory"));
	assert_non_null(found);
	assert_non_null(strstr(found->found, "40 of 40 blocks"));
	assert_int_equal(found->pid, 2);
	assert_int_equal(found->processes, 1);
	gp_advice_free(&first);
	gp_advice_free(&both);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/* Weights, for one: they are alive to the end because they are used to the end. */
static void what_is_large_and_made_at_once_is_no_leak(void **state)
{
	for (uint32_t count = 15; count <= 40; count++)
		for (int at_once = 0; at_once <= 1; at_once++) {
			struct gp_model *model = leave_blocks(1, count, 10 << 20, at_once);
			struct gp_advice advice = ask(&model, 1);

			assert_int_equal(find(&advice, "leaked-memory") != NULL,
					 count >= 16 && !at_once);
			gp_advice_free(&advice);
			gp_model_free(model);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_or_more_with_each_pass_is_growth),
		cmocka_unit_test(what_is_made_before_the_work_is_told_apart),
		cmocka_unit_test(little_leaks_are_told),
		cmocka_unit_test(what_is_no_leak_hides_none),
		cmocka_unit_test(what_is_large_and_made_at_once_is_no_leak),
		cmocka_unit_test(what_one_thread_sets_up_for_another_is_none),
		cmocka_unit_test(what_ends_or_differs_or_comes_seldom_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
