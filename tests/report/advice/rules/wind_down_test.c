/* What takes time after the last operation: the program's own part, and contexts that are ended. */
#include "tests/unit.h"

#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/stack_builder.h"

#define MS 1000000u

/* A kernel for a second, for which the program waits. */
static struct build work(void)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	build_call(&b, 100, BUILD_LAUNCH, MS, MS, 1);
	build_op(&b, GP_OP_KERNEL, 7, 2 * MS, 1002 * MS, 1)->name = 0;
	build_call(&b, 100, BUILD_DEVICE_SYNC, 3 * MS, 1000 * MS, 0);
	return b;
}

/* NULL: nothing is to be told, or no part is to be absent. */
static void check(struct build *b, const char *found_part, const char *absent)
{
	struct gp_model *model = build_end(b);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "wind-down");

	assert_int_equal(found != NULL, found_part != NULL);
	if (found) {
		assert_non_null(strstr(found->found, found_part));
		assert_true(!absent || !strstr(found->found, absent));
		assert_true(found->rule->is_once);
	}
	assert_null(find(&advice, "start-up"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* In pieces, too: what the program does after its last operation. */
static void what_the_program_does_at_its_end_is_told(void **state)
{
	struct build b = work(), busy = work();

	build_call(&b, 100, BUILD_FREE, 1103 * MS, MS, 0);
	build_call(&b, 100, BUILD_FREE, 1304 * MS, MS, 0);
	check(&b,
	      "after the last operation, for 300.0ms of 303.0ms, the program was in no recorded CUDA call; the longest time between calls is 200.0ms, from cudaFree to cudaFree",
	      NULL);
	build_call(&busy, 100, BUILD_FREE, 1004 * MS, 300 * MS, 0);
	check(&busy, NULL, NULL);
}

/*
 * Managed memory that the GPU had last, which the host reads after the last operation; what came
 * before, or was asked for, is none of it. Where its way back took little of the time, prefetching
 * it is no help.
 */
static void memory_that_comes_back_is_told(void **state)
{
	static const struct {
		uint16_t kind;
		uint32_t flags;
		uint64_t start_ns, value;
	} events[] = {
		{GP_UNIFIED_DTOH, 2, 1100 * MS, 3u << 20},
		{GP_UNIFIED_DTOH, 2, 1200 * MS, 1u << 20},
		{GP_UNIFIED_CPU_FAULT, 0, 1100 * MS, 7},
		{GP_UNIFIED_DTOH, 2, 500 * MS, 9u << 20},
		{GP_UNIFIED_DTOH, 1, 1250 * MS, 9u << 20},
		{GP_UNIFIED_HTOD, 2, 1250 * MS, 9u << 20},
	};
	static const struct {
		uint64_t each_ns;
		const char *told;
		bool helps;
	} ways[] = {{20 * MS, "in 2 pieces and 40.00ms, after 1 page fault", true},
		    {2 * MS, "in 2 pieces and 4.000ms, after 1 page fault", false}};

	for (size_t w = 0; w < 2; w++) {
		struct build b = work();
		struct gp_model *model;
		struct gp_advice advice;
		const struct gp_finding *found;

		build_call(&b, 100, BUILD_FREE, 1304 * MS, MS, 0);
		for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
			uint32_t index = BUILD_GROW(&b, unifieds, unified_count);

			b.model->unifieds[index] = (struct gp_record_unified){
				.counter_kind = events[i].kind,
				.flags = events[i].flags,
				.start_ns = events[i].start_ns,
				.end_ns = events[i].start_ns + ways[w].each_ns,
				.value = events[i].value};
		}
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "wind-down");
		assert_non_null(found);
		assert_non_null(strstr(
			found->found,
			"; meanwhile 4.000MiB of managed memory migrated to the host on access, "));
		assert_non_null(strstr(found->found, ways[w].told));
		assert_int_equal(strstr(found->change, "cudaMemPrefetchAsync to the host") != NULL,
				 ways[w].helps);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* Between which of many calls the longest piece is, tells nothing. */
static void of_many_pieces_none_is_named(void **state)
{
	struct build b = work();

	for (uint32_t i = 0; i < 40; i++)
		build_call(&b, 100, BUILD_FREE, (1013 + 11 * i) * MS, MS, 0);
	check(&b,
	      "after the last operation, for 400.0ms of 441.0ms, the program was in no recorded CUDA call; that is in 40 pieces between its calls, of 10.00ms at most",
	      "cudaFree");
}

/* Others may be at work meanwhile. */
static void of_several_processes_it_is_not_told(void **state)
{
	struct build first = work(), second = work();
	struct gp_model *models[2];
	struct gp_advice advice;

	build_call(&first, 100, BUILD_FREE, 1304 * MS, MS, 0);
	models[0] = build_end(&first);
	models[1] = build_end(&second);
	models[1]->pid = 2;
	advice = ask(models, 2);
	assert_null(find(&advice, "wind-down"));
	gp_advice_free(&advice);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/*
 * Looks that end with the work: what follows is the interpreter's end, of which nothing can be done
 * piece by piece.
 */
static void what_python_takes_to_end_is_told_as_that(void **state)
{
	for (uint64_t until_ms = 900; until_ms <= 1300; until_ms += 100) {
		struct build b = work();
		const struct gp_finding *found;
		struct gp_advice advice;
		struct gp_model *model;
		uint32_t save = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "save", 9);
		uint32_t index = BUILD_GROW(&b, samples, sample_count);

		b.model->samples[index] = build_sample(1, save, 100, until_ms);
		build_call(&b, 1, BUILD_FREE, 1304 * MS, MS, 0);
		build_stacks_end(&b);
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "wind-down");
		assert_non_null(found);
		assert_int_equal(value_of(found, "exit_ns") > 0, until_ms <= 1100);
		assert_true((strstr(found->found, "save (train.py:9)") != NULL) ==
			    (until_ms >= 1200));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* Of 1.4 s, at the call that took longest; 50 ms are none's. */
static void contexts_that_are_ended_are_told(void **state)
{
	for (uint32_t ms = 50; ms <= 300; ms += 250) {
		struct build b = work();
		const struct gp_finding *found;
		struct gp_advice advice;
		struct gp_model *model;

		build_api(&b, 98, "cudaDeviceReset", GP_API_CONTROL);
		build_call(&b, 100, 98, 1004 * MS, ms * MS, 0);
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "wind-down");
		assert_int_equal(found != NULL, ms == 300);
		if (found) {
			assert_string_equal(
				found->found,
				"destroying contexts took 300.0ms after the last operation (cudaDeviceReset)");
			assert_int_equal(found->saves_ns, 300 * MS);
			assert_non_null(strstr(found->change, "remove cudaDeviceReset before"));
		}
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_program_does_at_its_end_is_told),
		cmocka_unit_test(memory_that_comes_back_is_told),
		cmocka_unit_test(of_many_pieces_none_is_named),
		cmocka_unit_test(of_several_processes_it_is_not_told),
		cmocka_unit_test(contexts_that_are_ended_are_told),
		cmocka_unit_test(what_python_takes_to_end_is_told_as_that),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
