#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"
#include "tests/report/stack_builder.h"

#define MS 1000000u

/*
 * So often: a kernel of 90 ms, and a host that does something of its own until long after it is
 * done.
 */
static struct gp_model *let_wait(uint32_t times, uint64_t host_ns)
{
	struct build b = build_begin(1);
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 1; i <= times; i++) {
		build_call(&b, 100, BUILD_LAUNCH, at_ns, 10000, i);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 10000, at_ns + 90 * MS, i);
		at_ns += 90 * MS + host_ns;
	}
	return build_end(&b);
}

static void test_many_waits_are_one_finding(void **state)
{
	struct gp_model *model = let_wait(41, 65 * MS);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "gpu-gaps");

	assert_int_equal(advice.count, 1);
	assert_non_null(found);
	assert_int_equal(found->count, 40);
	assert_in_range(found->saves_ns, 40 * 65ull * MS, 40 * 65ull * MS + MS);
	assert_non_null(strstr(found->found, "the GPU is idle 40 times, for 65.0"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* Wherever among thousands of short ones they are. */
static void test_long_waits_among_short_ones(void **state)
{
	const uint32_t between = 77, count = 41;
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_advice advice;
	const struct gp_finding *found;
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 1; i <= between * count; i++) {
		build_call(&b, 100, BUILD_LAUNCH, at_ns, 1000, i);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 1000, at_ns + MS, i);
		at_ns += i % between == 0 ? 200 * MS : MS + 2000;
	}
	model = build_end(&b);
	advice = ask(&model, 1);
	found = find(&advice, "gpu-gaps");
	assert_non_null(found);
	assert_int_equal(found->count, count - 1);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * Between the same two operations one of 120 ms: those of 40 ms are of the same place, those of 5
 * ms may be the system's; without the long one all may.
 */
static void test_shorter_waits_where_a_long_one_is(void **state)
{
	for (uint32_t with_long = 0; with_long < 2; with_long++) {
		struct build b = build_begin(1);
		struct gp_model *model;
		struct gp_advice advice;
		const struct gp_finding *found;
		uint64_t at_ns = MS;

		build_device(&b, 0, "GPU");
		for (uint32_t i = 1; i <= 13; i++) {
			build_call(&b, 100, BUILD_LAUNCH, at_ns, 10000, i);
			build_op(&b, GP_OP_KERNEL, 7, at_ns + 10000, at_ns + 10 * MS, i);
			at_ns += 10 * MS + (i == 6 && with_long ? 120 * MS
					    : i % 2 == 0        ? 40 * MS
								: 5 * MS);
		}
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "gpu-gaps");
		assert_int_equal(found != NULL, with_long);
		if (found) {
			assert_int_equal(found->count, 6);
			assert_in_range(found->saves_ns, (120 + 5 * 40) * MS,
					(120 + 5 * 40) * MS + MS);
		}
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * Two gaps of 200 ms that end at different lines, each sampled from its start to its end: in the same
 * function, or in different ones.
 */
static void gaps_of_the_same_work_are_one_finding(void **state)
{
	for (uint32_t is_other = 0; is_other < 2; is_other++) {
		struct build b = build_begin(1);
		struct gp_sample samples[2];
		struct gp_model *model;
		struct gp_advice advice;
		const struct gp_finding *found;
		uint32_t works[] = {build_python(&b, BUILD_OUTERMOST, "/home/me/a.py", "parse", 5),
				    build_python(&b, BUILD_OUTERMOST, "/home/me/a.py", "other", 6)};

		build_device(&b, 0, "GPU");
		for (uint32_t i = 0; i < 3; i++) {
			uint64_t at_ns = MS + i * 300ull * MS;

			build_call(&b, 100, BUILD_LAUNCH, at_ns, 10000, i + 1);
			build_stack_of_last(&b, build_python(&b, BUILD_OUTERMOST, "/home/me/a.py",
							     "step", (uint8_t)(10 + i)));
			build_op(&b, GP_OP_KERNEL, 7, at_ns + 10000, at_ns + 100 * MS, i + 1);
			if (i < 2)
				samples[i] = build_sample(100, works[is_other && i == 1],
							  101 + i * 300, 300 + i * 300);
		}
		build_stacks_end(&b);
		model = build_end(&b);
		model->samples = samples;
		model->sample_count = 2;
		advice = ask(&model, 1);
		found = find(&advice, "gpu-gaps");
		assert_non_null(found);
		assert_int_equal(advice.count, is_other ? 2 : 1);
		assert_int_equal(found->count, is_other ? 1 : 2);
		assert_int_equal(found->saves_ns, (is_other ? 1 : 2) * (200 * MS + 10000));
		assert_non_null(strstr(text_of(found, "samples"), "; meanwhile the host was in "));
		assert_int_equal(strstr(text_of(found, "samples"), "parse (a.py:5)") != NULL &&
					 strstr(text_of(found, "samples"), "from 4 ") != NULL,
				 !is_other);
		gp_advice_free(&advice);
		model->samples = NULL;
		model->sample_count = 0;
		gp_model_free(model);
	}
}

/*
 * Twenty steps of two kernels, after which the host is in a callback for 150 ms; the first step takes
 * 300 ms more, which are before its second kernel, and its callback takes so much longer.
 */
static struct gp_model *call_back(uint32_t more_ms)
{
	struct build b = build_begin(1);
	uint32_t release = build_python(&b, BUILD_OUTERMOST, "/home/me/a.py", "release", 15);
	uint64_t at_ms = 1;

	build_device(&b, 0, "GPU");
	build_name(&b, "first");
	build_name(&b, "second");
	for (uint32_t i = 0; i < 20; i++) {
		uint32_t gap_ms = 150 + (i == 0 ? more_ms : 0), index;

		for (uint32_t k = 0; k < 2; k++) {
			build_call(&b, 100, BUILD_LAUNCH, at_ms * MS, 10000, 2 * i + k + 1);
			build_op(&b, GP_OP_KERNEL, 7, at_ms * MS + 10000, (at_ms + 10) * MS,
				 2 * i + k + 1)
				->name = k;
			at_ms += 10 + (i == 0 && k == 0 ? 300 : 0);
		}
		index = BUILD_GROW(&b, samples, sample_count);
		b.model->samples[index] = build_sample(100, release, at_ms, at_ms + gap_ms - 1);
		b.model->samples[index].count = gap_ms / 10;
		at_ms += gap_ms;
	}
	build_stacks_end(&b);
	return build_end(&b);
}

/* The two gaps of the warm-up are no one-time cost, unless they are much longer than others. */
static void work_that_recurs_is_no_one_time_cost(void **state)
{
	for (uint32_t more_ms = 0; more_ms <= 400; more_ms += 400) {
		struct gp_model *model = call_back(more_ms);
		struct gp_advice advice = ask(&model, 1);
		uint32_t recurring = 0, once = 0;

		for (uint32_t i = 0; i < advice.count; i++) {
			const struct gp_finding *found = &advice.findings[i];

			if (!strstr(found->found, "release (a.py:15)"))
				continue;
			recurring += found->recurs ? (uint32_t)found->count : 0;
			once += found->recurs ? 0 : (uint32_t)found->count;
		}
		assert_int_equal(recurring, more_ms == 0 ? 20 : 18);
		assert_int_equal(once, more_ms == 0 ? 0 : 1);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * Eighty gaps of 12 ms, and a sample in each fourth: all but one find the host at a mask. How long it
 * was elsewhere in the other gaps, as samples around them may say, is not told.
 */
static void samples_of_a_few_gaps_are_counted(void **state)
{
	struct build b = build_begin(1);
	uint32_t mask = build_python(&b, BUILD_OUTERMOST, "/home/me/a.py", "mask", 42);
	uint32_t other = build_python(&b, BUILD_OUTERMOST, "/home/me/a.py", "other", 6);
	struct gp_model *model;
	struct gp_advice advice;
	const struct gp_finding *found;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 0; i <= 80; i++) {
		uint32_t at_ms = 1 + 14 * i, index;

		build_call(&b, 100, BUILD_LAUNCH, at_ms * MS, 10000, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, at_ms * MS + 10000, (at_ms + 2) * MS, i + 1);
		if (i % 4 != 2)
			continue;
		index = BUILD_GROW(&b, samples, sample_count);
		b.model->samples[index] =
			build_sample(100, i == 42 ? other : mask, at_ms + 8, at_ms + 8);
		b.model->samples[index].count = 1;
	}
	build_stacks_end(&b);
	model = build_end(&b);
	advice = ask(&model, 1);
	found = find(&advice, "gpu-gaps");
	assert_non_null(found);
	assert_int_equal(found->count, 80);
	assert_string_equal(
		text_of(found, "samples"),
		"; meanwhile, in 20 samples, the host was in mask (a.py:42) 19 times; in other (a.py:6) once");
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* The profiler's work in a gap; reading counters or the trace is the user's choice. */
static void test_reading_within_the_program_is_no_finding(void **state)
{
	enum { NEITHER, WINDOW, OWN_WORK };

	for (uint32_t with = NEITHER; with <= OWN_WORK; with++) {
		struct build b = build_begin(1);
		struct gp_model *model;
		struct gp_advice advice;

		build_device(&b, 0, "GPU");
		for (uint32_t i = 0; i < 2; i++) {
			uint64_t at_ns = MS + i * 300ull * MS;

			build_call(&b, 100, BUILD_LAUNCH, at_ns, 10000, i + 1);
			build_op(&b, GP_OP_KERNEL, 7, at_ns + 10000, at_ns + 10 * MS, i + 1);
		}
		build_overhead(&b, GP_OVERHEAD_HW_WINDOW, 2 * MS, 300 * MS);
		b.model->overheads[0].thread_id = 100;
		if (with == WINDOW)
			BUILD_GROW(&b, hw_windows, hw_window_count);
		b.model->own_work_count = with == OWN_WORK;
		model = build_end(&b);
		advice = ask(&model, 1);
		assert_int_equal(find(&advice, "gpu-gaps") != NULL, with == NEITHER);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * Too few to be a habit, too short, or too little in all: the system may have taken the processor.
 */
static void test_few_and_short_waits(void **state)
{
	static const struct {
		uint32_t times;
		uint64_t host_ns;
	} quiet[] = {{16, 65 * MS}, {700, 3 * MS / 20}, {20, 4 * MS}};

	for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++) {
		struct gp_model *model = let_wait(quiet[i].times, quiet[i].host_ns);
		struct gp_advice advice = ask(&model, 1);

		assert_null(find(&advice, "gpu-gaps"));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* Twenty kernels of 1 ms, each followed by 700 us of the host's: 13 ms, but two fifths of all. */
static void test_a_large_part_of_a_short_run(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_advice advice;
	const struct gp_finding *found;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 1; i <= 20; i++) {
		uint64_t at_ns = i * 17 * MS / 10;

		build_call(&b, 100, BUILD_LAUNCH, at_ns, 5000, i);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 10000, at_ns + MS, i);
	}
	model = build_end(&b);
	advice = ask(&model, 1);
	found = find(&advice, "gpu-gaps");
	assert_int_equal(advice.count, 1);
	assert_non_null(found);
	assert_int_equal(found->count, 19);
	assert_in_range(found->saves_ns, 13 * MS, 14 * MS);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * Kernels that are launched at once and begin long after the one before them: no stream of the same
 * GPU can hold them back, but a host function, another GPU and what moves managed memory may.
 */
static void test_what_was_launched_and_does_not_begin(void **state)
{
	static const struct {
		uint32_t streams, gpus;
		enum gp_memory_kind memory;
		const char *call;
		bool is_outside;
		const char *dependency;
		enum gp_counter missing; /* 0: none */
	} cases[] = {
		{1, 1, GP_MEMORY_DEVICE, NULL, true, "programs", 0},
		{2, 1, GP_MEMORY_DEVICE, NULL, true, "programs", 0},
		{1, 1, GP_MEMORY_MANAGED, NULL, true, "programs", 0},
		{1, 2, GP_MEMORY_DEVICE, NULL, false, "unknown", 0},
		{1, 1, GP_MEMORY_DEVICE, "cudaLaunchHostFunc", false, "unknown", 0},
		{1, 1, GP_MEMORY_MANAGED, "cudaMemPrefetchAsync", false, "prefetch", 0},
		{1, 1, GP_MEMORY_DEVICE, NULL, false, "missing", GP_COUNTER_LEFT_OUT_KERNELS},
		{1, 1, GP_MEMORY_DEVICE, NULL, false, "missing", GP_COUNTER_LOST_CUPTI},
	};

	for (size_t at = 0; at < sizeof(cases) / sizeof(cases[0]); at++) {
		struct build b = build_begin(1);
		struct gp_model *model;
		struct gp_advice advice;
		const struct gp_finding *found;

		build_device(&b, 0, "GPU");
		build_device(&b, 1, "GPU");
		for (uint32_t i = 1; i <= 4; i++) {
			build_call(&b, 100, BUILD_LAUNCH, i * 20000, 10000, i);
			build_op(&b, GP_OP_KERNEL, i == 1 && cases[at].streams == 2 ? 6 : 7,
				 i * 200 * MS, i * 200 * MS + MS, i);
		}
		if (cases[at].gpus == 2) {
			build_call(&b, 100, BUILD_LAUNCH, 100000, 10000, 5);
			build_op(&b, GP_OP_KERNEL, 9, 300 * MS, 301 * MS, 5)->device_id = 1;
		}
		build_api(&b, 98, cases[at].call ? cases[at].call : "cudaGetDevice",
			  GP_API_CONTROL);
		build_call(&b, 100, 98, 200000, 1000, 0);
		build_call(&b, 100, BUILD_DEVICE_SYNC, 900 * MS, 1000, 0);
		build_memory(&b, GP_MEMORY_ALLOC, cases[at].memory, 1000, 4096, 4096);
		model = build_end(&b);
		if (cases[at].missing)
			model->counters[cases[at].missing] = 3;
		advice = ask(&model, 1);
		found = find(&advice, "gpu-gaps");
		assert_non_null(found);
		assert_string_equal(text_of(found, "cause"), "dependency");
		assert_string_equal(text_of(found, "dependency"), cases[at].dependency);
		assert_int_equal(value_of(found, "is_outside"), cases[at].is_outside);
		assert_int_equal(value_of(found, "may_migrate"),
				 cases[at].is_outside && cases[at].memory == GP_MEMORY_MANAGED);
		assert_int_equal(value_of(found, "left_out_kernels"),
				 cases[at].missing == GP_COUNTER_LEFT_OUT_KERNELS ? 3 : 0);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * Idle times at many places are of one cause where others have the GPU: those whose memory the
 * driver counted when the process ended.
 */
static void test_what_others_keep_waiting_is_one_finding(void **state)
{
	for (uint64_t used_gib = 3; used_gib <= 7; used_gib += 4) {
		struct build b = build_begin(1);
		uint32_t places[2];
		const struct gp_finding *found;
		struct gp_advice advice;
		struct gp_model *model;

		build_device(&b, 0, "GPU");
		for (uint32_t i = 0; i < 2; i++)
			places[i] = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py",
						 i == 0 ? "step" : "test", 6);
		for (uint32_t i = 1; i <= 40; i++) {
			build_call(&b, 100, BUILD_LAUNCH, i * 20000, 10000, i);
			build_stack_of_last(&b, places[i % 2]);
			build_op(&b, GP_OP_KERNEL, 7, i * 5 * MS, i * 5 * MS + MS, i);
		}
		build_call(&b, 100, BUILD_DEVICE_SYNC, MS, 201 * MS, 0);
		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 1000, 4096, 2ull << 30);
		build_usage(&b, 0, 203 * MS, (80 - used_gib) << 30, 80ull << 30);
		build_stacks_end(&b);
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "gpu-gaps");
		assert_non_null(found);
		assert_int_equal(found->count, 39);
		assert_string_equal(found->place, "");
		assert_true((strstr(found->change, "others held up to 5.000GiB of its memory") !=
			     NULL) == (used_gib == 7));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * A kernel is launched 1 ms after the one before it ended, and begins 3 ms after that: others have
 * the GPU for these, but for what a launch takes to reach it.
 */
static void test_what_the_host_took_is_not_of_others(void **state)
{
	struct build b = build_begin(1);
	const struct gp_finding *found;
	struct gp_advice advice;
	struct gp_model *model;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 1; i <= 40; i++) {
		uint64_t at_ns = i * 5ull * MS;

		build_call(&b, 100, BUILD_LAUNCH, at_ns, 5000, i);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 3 * MS, at_ns + 4 * MS, i);
	}
	model = build_end(&b);
	advice = ask(&model, 1);
	found = find(&advice, "gpu-gaps");
	assert_non_null(found);
	assert_non_null(strstr(found->found, "mostly dependency"));
	assert_in_range(found->saves_ns, 39 * 29ull * MS / 10, 39 * 3ull * MS);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * One of eight kernels that had been launched begins 3 ms late, as where another process has the
 * GPU now and then: that is no habit of the host's.
 */
static void test_what_begins_late_now_and_then(void **state)
{
	struct build b = build_begin(1);
	const struct gp_finding *found;
	struct gp_advice advice;
	struct gp_model *model;
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 1; i <= 400; i++) {
		build_call(&b, 100, BUILD_LAUNCH, i * 20000, 10000, i);
		at_ns += i % 8 == 0 ? 3 * MS : 10000;
		if (at_ns < i * 20000 + 12000)
			at_ns = i * 20000 + 12000;
		build_op(&b, GP_OP_KERNEL, 7, at_ns, at_ns + 500000, i);
		at_ns += 500000;
	}
	build_call(&b, 100, BUILD_DEVICE_SYNC, 9 * MS, at_ns - 9 * MS, 0);
	model = build_end(&b);
	advice = ask(&model, 1);
	found = find(&advice, "gpu-gaps");
	assert_non_null(found);
	assert_int_equal(found->count, 50);
	assert_int_equal(found->saves_ns, 50 * 3 * MS);
	assert_non_null(strstr(found->found, "dependency (the next operation was launched"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * The host is in a call of no stack for 300 ms, then loads code, or unloads some, and launches: a
 * library may have compiled what it launches; not where 310 ms more are of something else.
 */
static void test_what_is_new_behind_it(void **state)
{
	static const struct {
		const char *file, *call;
		bool is_new;
		const char *change;
		bool has_other;
	} cases[] = {
		{"/home/me/train.py", "cuLibraryLoadData", false,
		 "do this work before the first launch", true},
		{"/x/site-packages/torch/nn/modules/conv.py", "cuLibraryLoadData", true,
		 "(torch.backends.cudnn.benchmark=False tries fewer); else do this work before",
		 false},
		{"/home/me/train.py", "cuLibraryLoadData", true,
		 "as cuDNN does for each new shape; else do this work before", false},
		{"/home/me/train.py", "cuLibraryUnload", false,
		 "do this work before the first launch", false},
		{"/x/cupy/cuda/compiler.py", "cuModuleLoadData", false, "CUPY_CACHE_DIR", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = build_begin(1);
		uint32_t main = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "main", 1);
		uint32_t stack = build_python(&b, main, cases[i].file, "f", 2);
		uint32_t index = BUILD_GROW(&b, samples, sample_count);
		const struct gp_finding *found;
		struct gp_advice advice;
		struct gp_model *model;

		build_device(&b, 0, "GPU");
		build_api(&b, 98, cases[i].call, GP_API_MODULE);
		build_call(&b, 100, BUILD_LAUNCH, MS, 10000, 1);
		build_op(&b, GP_OP_KERNEL, 7, 2 * MS, 3 * MS, 1);
		build_call(&b, 100, 98, 303 * MS, MS, 0);
		build_call(&b, 100, BUILD_LAUNCH, 304 * MS, 10000, 2);
		build_op(&b, GP_OP_KERNEL, 7, 305 * MS, 306 * MS, 2);
		if (cases[i].has_other) {
			build_call(&b, 100, BUILD_LAUNCH, 616 * MS, 10000, 3);
			build_op(&b, GP_OP_KERNEL, 7, 617 * MS, 618 * MS, 3);
		}
		b.model->samples[index] = build_sample(100, stack, 10, 300);
		build_stacks_end(&b);
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "gpu-gaps");
		assert_non_null(found);
		assert_int_equal(found->count, cases[i].has_other ? 2 : 1);
		assert_non_null(strstr(found->change, cases[i].change));
		assert_true((strstr(found->change, "code is loaded for the first time") != NULL) ==
			    cases[i].is_new);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* The operation before has no call, nor has the thread; samples tell what it did. */
static void test_no_call_before(void **state)
{
	struct build b = build_begin(1);
	uint32_t main = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "main", 1);
	uint32_t index = BUILD_GROW(&b, samples, sample_count);
	const struct gp_finding *found;
	struct gp_advice advice;
	struct gp_model *model;

	build_device(&b, 0, "GPU");
	build_call(&b, 101, BUILD_DEVICE_SYNC, MS, 1000, 0);
	build_op(&b, GP_OP_KERNEL, 7, 2 * MS, 3 * MS, 77);
	build_call(&b, 100, BUILD_LAUNCH, 304 * MS, 10000, 2);
	build_op(&b, GP_OP_KERNEL, 7, 305 * MS, 306 * MS, 2);
	b.model->samples[index] = build_sample(100, main, 10, 300);
	b.model->samples[index].count = 50;
	build_stacks_end(&b);
	model = build_end(&b);
	advice = ask(&model, 1);
	found = find(&advice, "gpu-gaps");
	assert_non_null(found);
	assert_int_equal(found->count, 1);
	assert_int_equal(found->time_ns, 301010000);
	assert_string_equal(text_of(found, "before"), "");
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * The host waits for 3 ms for a kernel that had ended a millisecond before: where others have the
 * GPU, what is done is told late.
 */
static void test_a_wait_that_ends_late_beside_others(void **state)
{
	for (uint64_t used_gib = 1; used_gib <= 5; used_gib += 4) {
		struct build b = build_begin(1);
		const struct gp_finding *found;
		struct gp_advice advice;
		struct gp_model *model;

		build_device(&b, 0, "GPU");
		build_api(&b, 98, "cudaEventSynchronize", GP_API_SYNC);
		for (uint32_t i = 1; i <= 40; i++) {
			uint64_t at_ns = i * 5ull * MS;

			build_call(&b, 100, BUILD_LAUNCH, at_ns, 5000, i);
			build_op(&b, GP_OP_KERNEL, 7, at_ns + 6000, at_ns + MS, i);
			build_call(&b, 100, 98, at_ns + 2 * MS, 3 * MS - 2000, 0);
		}
		build_usage(&b, 0, 210 * MS, (80 - used_gib) << 30, 80ull << 30);
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "gpu-gaps");
		assert_non_null(found);
		assert_non_null(strstr(found->found, "sync-bound"));
		assert_true(
			(strstr(found->change,
				"notices the end late if programs share a GPU, and others held up to 5.000GiB") !=
			 NULL) == (used_gib == 5));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* Those that are long enough by themselves need no others. */
static void test_long_waits(void **state)
{
	struct gp_model *model = let_wait(3, 150 * MS);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "gpu-gaps");

	assert_non_null(found);
	assert_int_equal(found->count, 2);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * The same kernel waits for its launch so often; at first the host is away for 20 ms every fourth
 * or twentieth time.
 */
static bool is_told_of(uint32_t waits, uint32_t long_ones, uint32_t every)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_advice advice;
	uint64_t at_ns = MS;
	bool told;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 1; i <= waits + 1; i++) {
		build_call(&b, 100, BUILD_LAUNCH, at_ns, 10000, i);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 10000, at_ns + MS, i);
		at_ns += MS + (i % every == 0 && i / every <= long_ones ? 20 * MS : MS / 20);
	}
	model = build_end(&b);
	advice = ask(&model, 1);
	told = find(&advice, "gpu-gaps") != NULL;
	gp_advice_free(&advice);
	gp_model_free(model);
	return told;
}

/* Where less than a quarter is long, the host had lost the processor. */
static void test_waits_at_no_place_of_their_own(void **state)
{
	assert_false(is_told_of(400, 20, 20));
	assert_false(is_told_of(67, 16, 4));
	assert_true(is_told_of(64, 16, 4));
}

/*
 * Allocations of 30 and 100 ms, whose lines are known, as by default; the kernels' around them are
 * not.
 */
static void test_allocations_are_where_to_look(void **state)
{
	struct build b = build_begin(1);
	uint32_t grow = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "grow", 6);
	const struct gp_finding *found;
	struct gp_advice advice;
	struct gp_model *model;

	build_device(&b, 0, "GPU");
	build_call(&b, 100, BUILD_LAUNCH, MS, 10000, 1);
	build_op(&b, GP_OP_KERNEL, 7, 2 * MS, 200 * MS, 1);
	build_call(&b, 100, BUILD_MALLOC, 200 * MS, 30 * MS, 0);
	build_stack_of_last(&b, grow);
	build_call(&b, 100, BUILD_MALLOC, 230 * MS, 100 * MS, 0);
	build_stack_of_last(&b, grow);
	build_call(&b, 100, BUILD_LAUNCH, 330 * MS, 10000, 2);
	build_op(&b, GP_OP_KERNEL, 7, 331 * MS, 400 * MS, 2);
	build_stacks_end(&b);
	model = build_end(&b);
	advice = ask(&model, 1);
	found = find(&advice, "gpu-gaps");
	assert_non_null(found);
	assert_non_null(strstr(
		found->found,
		"allocation; cudaMalloc took 100.0ms of it at grow (train.py:6), the longest of 2 such calls; after "));
	assert_true(found->names_place);
	assert_false(advice.lacks_stacks);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * In each step a thread launches on two GPUs, the second of which has so many times the work, and
 * waits for both.
 */
static struct gp_model *wait_for_two(uint32_t times_the_work)
{
	struct build b = build_begin(1);
	uint32_t id = 0;

	for (uint16_t device = 0; device < 2; device++)
		build_device(&b, device, "GPU");
	build_context_made_by(&b, 2, 90, 0);
	b.model->contexts[0].device_id = 1;

	for (uint32_t i = 0; i < 40; i++) {
		uint64_t at_ns = (1 + 4ull * i) * MS;

		for (uint16_t device = 0; device < 2; device++) {
			uint64_t work_ns = device == 0 ? MS : times_the_work * MS;

			build_call(&b, 100, BUILD_LAUNCH, at_ns + device * 10000u, 5000, ++id);
			build_op(&b, GP_OP_KERNEL, 7u + device, at_ns + 20000, at_ns + work_ns, id)
				->device_id = device;
		}
		build_call(&b, 100, BUILD_DEVICE_SYNC, at_ns + 20000, 3 * MS + MS / 2, 0)
			->context_id = 2;
	}
	return build_end(&b);
}

/* Which GPU it is, and what another one does meanwhile. */
static void of_several_gpus_it_is_told_which(void **state)
{
	for (uint32_t times = 1; times <= 3; times += 2) {
		struct gp_model *model = wait_for_two(times);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "gpu-gaps");

		assert_non_null(found);
		if (times == 3) {
			assert_int_equal(strncmp(found->found, "GPU 0 is idle ", 14), 0);
			assert_non_null(strstr(
				found->found,
				" times, for 3.020ms on average, 3.020ms at most: mostly sync-bound, while GPU 1 worked for 78.00ms of it;"));
			assert_non_null(strstr(
				found->change,
				"give the GPUs equal shares of the work: GPU 1 worked for "));
		} else {
			assert_null(strstr(found->change, "equal shares"));
		}
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_waits_are_one_finding),
		cmocka_unit_test(test_long_waits_among_short_ones),
		cmocka_unit_test(gaps_of_the_same_work_are_one_finding),
		cmocka_unit_test(samples_of_a_few_gaps_are_counted),
		cmocka_unit_test(work_that_recurs_is_no_one_time_cost),
		cmocka_unit_test(test_reading_within_the_program_is_no_finding),
		cmocka_unit_test(test_few_and_short_waits),
		cmocka_unit_test(test_shorter_waits_where_a_long_one_is),
		cmocka_unit_test(test_a_large_part_of_a_short_run),
		cmocka_unit_test(test_waits_at_no_place_of_their_own),
		cmocka_unit_test(test_what_begins_late_now_and_then),
		cmocka_unit_test(test_what_is_new_behind_it),
		cmocka_unit_test(test_no_call_before),
		cmocka_unit_test(test_a_wait_that_ends_late_beside_others),
		cmocka_unit_test(test_long_waits),
		cmocka_unit_test(test_allocations_are_where_to_look),
		cmocka_unit_test(test_what_was_launched_and_does_not_begin),
		cmocka_unit_test(test_what_others_keep_waiting_is_one_finding),
		cmocka_unit_test(test_what_the_host_took_is_not_of_others),
		cmocka_unit_test(of_several_gpus_it_is_told_which),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
