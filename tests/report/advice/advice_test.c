#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>

#include "report/advice/advice_document.h"
#include "report/advice/advice_print.h"
#include "report/analysis/analysis.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"
#include "tests/report/stack_builder.h"

#define MS 1000000u

/* A kernel of 1 ms, and a wait for it; returns its end. */
static uint64_t take_turn(struct build *b, uint32_t number, uint64_t at_ns)
{
	build_call(b, 100, BUILD_LAUNCH, at_ns, 10000, number);
	build_op(b, GP_OP_KERNEL, 7, at_ns + 20000, at_ns + 20000 + MS, number);
	build_call(b, 100, BUILD_DEVICE_SYNC, at_ns + 10000, MS + 15000, 0);
	return at_ns + MS + 30000;
}

/*
 * So many times, and a host that does something else for as long as it is told before it launches
 * the next.
 */
static struct gp_model *take_turns(uint32_t pid, uint32_t times, uint64_t host_ns)
{
	struct build b = build_begin(pid);
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 1; i <= times; i++)
		at_ns = take_turn(&b, i, at_ns) + host_ns;
	b.model->first_ns = MS;
	return build_end(&b);
}

static void test_turns_of_host_and_gpu(void **state)
{
	struct gp_model *model = take_turns(1, 50, MS / 2);
	struct gp_advice advice = ask(&model, 1);

	assert_int_equal(advice.count, 1);
	assert_string_equal(advice.findings[0].rule->id, "sync-in-loop");
	/* of 50 waits the last one is followed by nothing; the gaps are half a millisecond each */
	assert_int_equal(advice.findings[0].count, 49);
	assert_true(advice.findings[0].saves_ns > 49 * (MS / 2) &&
		    advice.findings[0].saves_ns < 49 * (MS / 2 + 50000));
	assert_true(advice.lacks_stacks);
	assert_null(advice.doubt);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* Steps that are marked, and after them a call that fails. */
static struct gp_model *take_steps(uint32_t pid, uint32_t steps, uint64_t host_ns,
				   const char *recorder)
{
	struct build b = build_begin(pid);
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 1; i <= steps; i++) {
		uint64_t start_ns = at_ns;

		at_ns = take_turn(&b, i, at_ns) + host_ns;
		build_range(&b, 100, "step", start_ns, at_ns - 1000);
	}
	build_call(&b, 100, BUILD_MALLOC, at_ns - MS / 12, 1000, 0)->status = 2;
	b.model->first_ns = MS;
	b.model->recorder = recorder;
	return build_end(&b);
}

/*
 * A few steps of torch.profiler's stand for all: a tenth of the least is enough of what costs time;
 * not of what is only counted, and of no recorder that records a run as a whole.
 */
static void test_few_steps_stand_for_all(void **state)
{
	static const struct {
		const char *recorder;
		bool stands_for_all;
	} cases[] = {
		{"torch.profiler", true},
		{"nsys", false},
		{"gpuprof, from an exported SQLite file", false},
		{"gpuprof, from an exported Chrome trace", false},
		{NULL, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model = take_steps(1, 6, MS / 6, cases[i].recorder);
		struct gp_advice advice = ask(&model, 1);

		assert_int_equal(find(&advice, "sync-calls") != NULL, cases[i].stands_for_all);
		assert_int_equal(advice.loop_ns > 0, cases[i].stands_for_all);
		assert_null(find(&advice, "failed-calls"));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* The host does next to nothing: the GPU hardly waits for it, and nobody needs to be told. */
static void test_quiet(void **state)
{
	struct gp_model *model = take_turns(1, 50, 1000);
	struct gp_advice advice = ask(&model, 1);

	assert_int_equal(advice.count, 0);
	gp_advice_free(&advice);
	gp_model_free(model);
	model = take_turns(1, 0, 0);
	advice = ask(&model, 1);
	assert_int_equal(advice.count, 0);
	gp_advice_free(&advice);
	gp_model_free(model);
	advice = ask(NULL, 0);
	assert_int_equal(advice.count, 0);
	gp_advice_free(&advice);
}

/* Processes run side by side: all that is told is of the one that could save most. */
static void test_several_processes(void **state)
{
	struct gp_model *models[2] = {take_turns(1, 50, MS / 2), take_turns(2, 60, MS / 2)};
	struct gp_advice one = ask(&models[1], 1), both;

	models[1]->devices[0].uuid[0] = 77; /* a GPU of its own */
	both = ask(models, 2);
	assert_int_equal(both.count, 1);
	assert_int_equal(both.findings[0].count, one.findings[0].count);
	assert_int_equal(both.findings[0].time_ns, one.findings[0].time_ns);
	assert_int_equal(both.findings[0].saves_ns, one.findings[0].saves_ns);
	assert_string_equal(both.findings[0].found, one.findings[0].found);
	assert_int_equal(both.findings[0].processes, 2);
	assert_int_equal(both.findings[0].pid, 2);
	gp_advice_free(&one);
	gp_advice_free(&both);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/* Six long steps are those of the summary: advice tells no step of another process. */
static void test_steps_are_those_of_the_main_process(void **state)
{
	struct gp_model *models[2] = {take_steps(2, 50, MS / 2, NULL),
				      take_steps(3, 6, 100 * MS, NULL)};
	struct gp_advice alone = ask(models, 1), both;

	models[1]->devices[0].uuid[0] = 77; /* a GPU of its own */
	both = ask(models, 2);
	assert_true(alone.loop_ns > 0);
	assert_int_equal(both.loop_ns, 0);
	assert_int_equal(both.loop_steps, 0);
	gp_advice_free(&alone);
	gp_advice_free(&both);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/*
 * Five kernels of 10 ms; before each but the first the host makes calls of that name, so often for
 * so long, looks something up and unloads something, within the launch.
 */
static struct gp_model *call_for_code(const char *name, uint32_t times, uint64_t each_ns,
				      uint64_t launch_ns)
{
	struct build b = build_begin(1);
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	build_api(&b, 99, name, GP_API_MODULE);
	build_api(&b, 98, "cuKernelGetFunction", GP_API_MODULE);
	build_api(&b, 97, "cuLibraryUnload", GP_API_MODULE);
	for (uint32_t i = 1; i <= 5; i++) {
		uint64_t load_ns = i > 1 ? launch_ns : 0;

		for (uint32_t k = 0; i > 1 && k < times; k++)
			build_call(&b, 100, 99, at_ns + 1000 + k * each_ns, each_ns, 0);
		for (uint16_t k = 97; i > 1 && k <= 98; k++)
			build_call(&b, 100, k, at_ns + 1000 + times * each_ns + (k - 97) * 4000,
				   3000, 0);
		build_call(&b, 100, BUILD_LAUNCH, at_ns, load_ns + 10000, i);
		at_ns += load_ns + 20000;
		build_op(&b, GP_OP_KERNEL, 7, at_ns, at_ns + 10 * MS, i);
		at_ns += 10 * MS;
	}
	build_call(&b, 100, BUILD_DEVICE_SYNC, at_ns, MS, 0);
	return build_end(&b);
}

static struct gp_model *load_code(uint32_t times, uint64_t each_ns, uint64_t launch_ns)
{
	return call_for_code("cuLibraryLoadData", times, each_ns, launch_ns);
}

/* Code is unloaded, or looked up: that is a load only where it takes as long. */
static void test_what_is_no_load(void **state)
{
	static const char *const names[] = {"cuLibraryUnload", "cuLibraryGetKernel"};

	for (size_t i = 0; i < 2; i++) {
		struct gp_model *model = call_for_code(names[i], 1, 10 * MS, 10 * MS);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "first-use");

		assert_true((found != NULL) == (i == 1));
		if (found)
			assert_int_equal(found->count, 4);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

static void test_loading_of_code(void **state)
{
	struct gp_model *model = load_code(1, 10 * MS, 10 * MS);
	struct gp_advice advice = ask(&model, 1);

	assert_int_equal(advice.count, 1);
	assert_string_equal(advice.findings[0].rule->id, "first-use");
	assert_int_equal(advice.findings[0].count, 4);
	assert_int_equal(advice.findings[0].time_ns, 40 * MS);
	assert_int_equal(advice.findings[0].saves_ns, 0); /* no run is shorter */
	assert_string_equal(gp_finding_worth(&advice.findings[0], &advice).text, "one-time");
	assert_int_equal(advice.findings[0].show_ns, 10 * MS);
	gp_advice_free(&advice);
	gp_model_free(model);
	model = load_code(0, 0, 0);
	advice = ask(&model, 1);
	assert_int_equal(advice.count, 0);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* Idle time that several loads fill is told once. */
static void test_several_loads(void **state)
{
	struct gp_model *model = load_code(4, 30 * MS, 120 * MS);
	struct gp_advice advice = ask(&model, 1);

	assert_int_equal(advice.count, 1);
	assert_string_equal(advice.findings[0].rule->id, "first-use");
	assert_int_equal(advice.findings[0].count, 16);
	gp_advice_free(&advice);
	gp_model_free(model);
	model = load_code(1, 30 * MS, 120 * MS); /* that is not why */
	advice = ask(&model, 1);
	assert_int_equal(advice.count, 2);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * Code is loaded for 480 ms; then the host does something else for 150 ms: without that a run is
 * shorter.
 */
static void test_what_shortens_no_run_comes_last(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_advice advice;
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	build_api(&b, 99, "cuLibraryLoadData", GP_API_MODULE);
	for (uint32_t i = 1; i <= 6; i++) {
		if (i > 1 && i < 6)
			build_call(&b, 100, 99, at_ns, 120 * MS, 0);
		at_ns += i == 6 ? 150 * MS : 120 * MS + 1000;
		build_call(&b, 100, BUILD_LAUNCH, at_ns, 10000, i);
		at_ns += 20000;
		build_op(&b, GP_OP_KERNEL, 7, at_ns, at_ns + 10 * MS, i);
		at_ns += 10 * MS;
	}
	model = build_end(&b);
	advice = ask(&model, 1);
	assert_int_equal(advice.count, 2);
	assert_string_equal(advice.findings[0].rule->id, "gpu-gaps");
	assert_string_equal(advice.findings[1].rule->id, "first-use");
	assert_true(advice.findings[1].time_ns > advice.findings[0].saves_ns);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * Ten kernels of 10 ms; before each but the first code is loaded for 10 ms: most of it in a
 * library's thread, the rest by two lines of the program, the second of them more.
 */
static struct gp_model *load_code_at_places(void)
{
	struct build b = build_begin(1);
	uint64_t at_ns = MS;
	uint32_t frames[3];

	build_device(&b, 0, "GPU");
	build_api(&b, 99, "cuLibraryLoadData", GP_API_MODULE);
	frames[0] = build_native(&b, BUILD_OUTERMOST, "/lib/libcudnn_ops.so.9", 0x1234);
	frames[1] = build_python(&b, BUILD_OUTERMOST, "t.py", "warm", 3);
	frames[2] = build_python(&b, BUILD_OUTERMOST, "t.py", "train", 7);
	for (uint32_t i = 0; i < 10; i++) {
		if (i > 0) {
			build_call(&b, 100, 99, at_ns, 10 * MS, 0);
			build_stack_of_last(&b, frames[i == 1 ? 1 : i < 4 ? 2 : 0]);
			at_ns += 10 * MS + 1000;
		}
		build_call(&b, 100, BUILD_LAUNCH, at_ns, 10000, i + 1);
		at_ns += 20000;
		build_op(&b, GP_OP_KERNEL, 7, at_ns, at_ns + 10 * MS, i + 1);
		at_ns += 10 * MS;
	}
	build_stacks_end(&b);
	return build_end(&b);
}

static void test_places_of_loads(void **state)
{
	struct gp_model *model = load_code_at_places();
	struct gp_advice advice = ask(&model, 1);

	assert_int_equal(advice.count, 1);
	assert_string_equal(advice.findings[0].rule->id, "first-use");
	assert_non_null(strstr(
		advice.findings[0].found,
		"waited 9 times for code to be loaded during the work, 90.00ms in all at 3 places, 20.00ms of it here:"));
	assert_string_equal(advice.findings[0].place, "train (t.py:7)");
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* So many times: a copy of 10 us to the host, in a call that takes as long as it is told. */
static void copy_back(struct build *b, uint64_t *at_ns, uint32_t times, uint64_t call_ns)
{
	for (uint32_t i = 0; i < times; i++) {
		uint32_t id = b->model->call_count + 1;
		struct gp_op *op;

		build_call(b, 100, 31, *at_ns, call_ns, id);
		op = build_op(b, GP_OP_COPY, 7, *at_ns + 5000, *at_ns + 15000, id);
		op->copy_kind = 2; /* device to host */
		op->bytes = 1 << 20;
		*at_ns += call_ns + 10000;
	}
}

/* A slow host is as slow as it is; what one call of many took longer, no change would save. */
static void test_slow_copies(void **state)
{
	struct build b = build_begin(1);
	uint64_t at_ns = MS;
	struct gp_model *model;
	struct gp_advice advice;

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
	copy_back(&b, &at_ns, 10, 300000);
	copy_back(&b, &at_ns, 1, 50 * MS);
	copy_back(&b, &at_ns, 10, 300000);
	model = build_end(&b);
	advice = ask(&model, 1);
	assert_true(advice.count > 0);
	assert_string_equal(advice.findings[0].rule->id, "sync-copy");
	assert_int_equal(advice.findings[0].time_ns, 20 * 300000 + 50 * MS);
	assert_int_equal(advice.findings[0].saves_ns, 20 * 300000 + 600000);
	assert_int_equal(advice.findings[0].show_at_ns, MS + 10 * 310000);
	assert_int_equal(advice.findings[0].show_ns, 50 * MS);
	assert_non_null(strstr(advice.findings[0].found, "blocked the host for 56.00ms"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

static void run_kernel(struct build *b, uint64_t *at_ns, uint64_t kernel_ns)
{
	uint32_t id = b->model->call_count + 1;

	build_call(b, 100, BUILD_LAUNCH, *at_ns, 10000, id);
	build_op(b, GP_OP_KERNEL, 7, *at_ns + 20000, *at_ns + 20000 + kernel_ns, id);
	*at_ns += 20000 + kernel_ns;
}

/*
 * Start-up of 200 ms with so many copies that hold up the host, 300 us each; then a loop of 40
 * passes, a kernel and a set each, with so many of those copies in each.
 */
static struct gp_model *set_up_and_pass(uint32_t pid, uint64_t kernel_ns, uint32_t in_set_up,
					uint32_t in_each_pass)
{
	struct build b = build_begin(pid);
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
	copy_back(&b, &at_ns, in_set_up, 300000);
	run_kernel(&b, &at_ns, 200 * MS);
	for (uint32_t i = 0; i < 40; i++) {
		uint32_t id = 10000 + i;

		run_kernel(&b, &at_ns, kernel_ns);
		build_call(&b, 100, BUILD_MEMSET_ASYNC, at_ns, 5000, id);
		build_op(&b, GP_OP_SET, 7, at_ns + 6000, at_ns + 10000, id);
		at_ns += 11000;
		copy_back(&b, &at_ns, in_each_pass, 300000);
	}
	return build_end(&b);
}

static struct gp_model *set_up_and_loop(uint32_t in_set_up, uint32_t in_each_pass)
{
	return set_up_and_pass(1, MS, in_set_up, in_each_pass);
}

/*
 * Short kernels, one launched after the other: what repeats among them is what a graph would be
 * made of.
 */
static void test_what_a_graph_would_launch(void **state)
{
	struct build b = build_begin(1);
	uint32_t names[2] = {build_name(&b, "scale"), build_name(&b, "add")};
	uint64_t at_ns = MS;
	struct gp_model *model;
	struct gp_advice advice;
	const struct gp_finding *found;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 1; i <= 300; i++) {
		build_call(&b, 100, BUILD_LAUNCH, at_ns, 10000, i);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 9000, at_ns + 11000, i)->name =
			names[i % 3 != 1];
		at_ns += 12000;
	}
	model = build_end(&b);
	advice = ask(&model, 1);
	found = find(&advice, "short-kernels");
	assert_non_null(found);
	assert_non_null(strstr(
		found->found,
		"; the same 3 operations repeat 100 times: scale > add (2 times); a graph needs 100 launches in place of 300"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* What start-up takes is held against all of the time, what the loop takes against the loop's. */
static void test_start_up_is_not_the_loop(void **state)
{
	struct gp_model *model = set_up_and_loop(20, 0); /* 6 ms of 250, of a loop of 41 */
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found;

	assert_in_range(advice.loop_ns, 40 * MS, 43 * MS);
	assert_int_equal(advice.loop_steps, 40);
	assert_null(find(&advice, "sync-copy"));
	gp_advice_free(&advice);
	gp_model_free(model);

	model = set_up_and_loop(0, 1); /* 12 ms of 250, of a loop of 53 */
	advice = ask(&model, 1);
	found = find(&advice, "sync-copy");
	assert_non_null(found);
	assert_int_equal(found->saves_in_loop_ns, found->saves_ns);
	gp_advice_free(&advice);
	gp_model_free(model);

	model = set_up_and_loop(1, 1); /* one of the loop is shown, not the first one */
	advice = ask(&model, 1);
	found = find(&advice, "sync-copy");
	assert_non_null(found);
	assert_true(found->show_at_ns > 200 * MS && found->show_ns == 300000);
	gp_advice_free(&advice);
	gp_model_free(model);

	model = set_up_and_loop(60, 0); /* 18 ms: much for all of it, too */
	advice = ask(&model, 1);
	found = find(&advice, "sync-copy");
	assert_non_null(found);
	assert_int_equal(found->saves_in_loop_ns, 0);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* Of two programs, savings are those of the steps of the one that has them, and so is said. */
static void test_a_program_saves_of_its_own_steps(void **state)
{
	struct gp_model *models[2] = {set_up_and_pass(1, MS, 0, 4),
				      set_up_and_pass(2, 5 * MS, 0, 0)};
	struct gp_advice alone = ask(models, 1), both;
	struct gp_saving saving, expected;
	const struct gp_finding *found;
	char when[128];

	models[1]->devices[0].uuid[0] = 77; /* a GPU of its own */
	both = ask(models, 2);
	assert_in_range(gp_advice_step_ns(&both), 5 * MS, 6 * MS);
	found = find(&both, "sync-copy");
	assert_non_null(found);
	saving = gp_finding_saving(found, &both);
	expected = gp_finding_saving(find(&alone, "sync-copy"), &alone);
	assert_int_equal(saving.ns, expected.ns);
	assert_int_equal(saving.of_ns, expected.of_ns);
	assert_in_range(saving.of_ns, 2 * MS, 3 * MS);
	gp_finding_say_when(when, sizeof(when), found, &both, 0);
	assert_non_null(strstr(when, "of its steps of 2."));
	gp_advice_free(&alone);
	gp_advice_free(&both);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/* Recording ends with the last of 40 launches, its kernels 10 ms later. */
static void test_no_loop_is_longer_than_the_time_that_was_recorded(void **state)
{
	struct build b = build_begin(1);
	uint32_t names[2] = {build_name(&b, "scale"), build_name(&b, "add")};
	struct gp_advice advice;
	struct gp_model *model;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 0; i < 40; i++) {
		uint64_t at_ns = MS + i * MS / 2;

		build_call(&b, 100, BUILD_LAUNCH, at_ns, 10000, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, MS + 20000 + i * MS * 3 / 4,
			 MS + i * MS * 3 / 4 + MS / 2, i + 1)
			->name = names[i % 2];
	}
	model = build_end(&b);
	advice = ask(&model, 1);
	assert_in_range(advice.loop_ns, advice.span_ns - MS / 10, advice.span_ns);
	gp_advice_free(&advice);
	gp_model_free(model);
}

static char *printed(const struct gp_advice *advice, size_t limit)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	gp_advice_print(out, advice, limit);
	assert_int_equal(fclose(out), 0);
	return text;
}

/*
 * Between passes of two kernels the recording pauses for 10 ms: no time of the loop, nor of what
 * savings are a part of.
 */
static void test_pauses_are_no_time(void **state)
{
	struct build b = build_begin(1);
	uint32_t names[2] = {build_name(&b, "scale"), build_name(&b, "add")};
	struct gp_advice advice;
	struct gp_model *model;

	build_device(&b, 0, "GPU");
	build_gate(&b, false, GP_GATE_START, 0);
	for (uint32_t i = 0; i < 80; i++) {
		uint64_t at_ns = MS + i / 2 * 12 * MS + i % 2 * MS;

		if (i % 2 == 0)
			build_gate(&b, true, GP_GATE_RANGE, at_ns - 1000);
		build_call(&b, 100, BUILD_LAUNCH, at_ns, 10000, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 20000, at_ns + MS / 2, i + 1)->name =
			names[i % 2];
		if (i % 2 == 1)
			build_gate(&b, false, GP_GATE_RANGE, at_ns + MS - 1000);
	}
	model = build_end(&b);
	advice = ask(&model, 1);
	assert_int_equal(advice.span_ns, 40 * 2 * MS);
	assert_int_equal(advice.loop_steps, 40);
	assert_in_range(advice.loop_ns, 40 * 3 * MS / 2, advice.span_ns);
	gp_advice_free(&advice);
	gp_model_free(model);
}

static void test_the_page(void **state)
{
	struct gp_finding findings[3] = {
		{.rule = gp_rules[0], .saves_ns = 3 * MS, .place = "", .callers = ""},
		{.rule = gp_rules[0], .bytes = 4096, .place = "f (a.c:1)", .callers = "main"},
		{.rule = gp_rules[0], .saves_ns = 1, .place = "", .callers = ""},
	};
	struct gp_advice advice = {.findings = findings, .count = 3, .span_ns = 10 * MS};
	char words[400], *text;

	for (size_t i = 0; i + 1 < sizeof(words); i++)
		words[i] = i % 7 == 6 ? ' ' : 'x';
	words[sizeof(words) - 1] = '\0';
	for (size_t i = 0; i < 3; i++)
		findings[i].found = findings[i].change = words;
	text = printed(&advice, 2);
	assert_non_null(strstr(text, "3.000ms  30.0 %"));
	assert_non_null(strstr(text, "4.000KiB"));
	assert_non_null(strstr(text, "at f (a.c:1) < main\n"));
	assert_non_null(strstr(text, "... 1 more"));
	assert_non_null(strstr(text, "savings must not be added up"));
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		assert_true(strcspn(line, "\n") <= 120);
		assert_true(strcspn(line, "\n") == 0 || line[strcspn(line, "\n") - 1] != ' ');
	}
	free(text);
	advice.count = 1;
	text = printed(&advice, 0);
	assert_null(strstr(text, "add up"));
	free(text);
	advice.count = 0;
	text = printed(&advice, 0);
	assert_string_equal(text, "");
	free(text);
}

static char *printed_none(const struct gp_advice *advice)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	gp_advice_print_none(out, advice);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* The note on idle time has these words. */
static void assert_idle_note(const struct gp_advice *advice, const char *words)
{
	struct gp_document document = {0};
	const struct gp_section *notes;
	bool is_there = false;

	gp_advice_add_notes(advice, false, &document);
	notes = gp_document_section(&document, "notes");
	for (uint32_t i = 0; i < notes->count; i++)
		is_there |= strcmp(gp_fields_text(&notes->rows[i], "id"), "idle") == 0 &&
			    strstr(gp_fields_text(&notes->rows[i], "text"), words);
	gp_document_free(&document);
	assert_true(is_there);
}

/*
 * It is said where a MiB and more is managed, with findings and without, but not of others' traces,
 * nor where that was recorded.
 */
static void test_managed_memory_is_hinted_at(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *options, *recorder;
		bool said;
	} cases[] = {
		{1 << 20, "TRACE=default", NULL, true},
		{1 << 19, "TRACE=default", NULL, false},
		{1 << 20, "TRACE=default,unified", NULL, false},
		{1 << 20, NULL, "torch.profiler", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = build_begin(1);
		struct gp_model *model;
		struct gp_advice advice;
		char *text;

		build_device(&b, 0, "GPU");
		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_MANAGED, 100, 0x1000, cases[i].bytes);
		build_call(&b, 100, BUILD_LAUNCH, 200, 10, 1);
		build_op(&b, GP_OP_KERNEL, 7, 300, 400, 1)->name = 0;
		if (cases[i].options)
			build_info(&b, GP_INFO_OPTIONS, cases[i].options);
		b.model->recorder = cases[i].recorder;
		model = build_end(&b);
		advice = ask(&model, 1);
		text = printed_none(&advice);
		assert_int_equal(strstr(text, "--trace=default,unified") != NULL, cases[i].said);
		free(text);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* No rule speaks of a moment, though the GPU is idle in it; nor of a GPU that is at work. */
/* Which process that is, is told where there are several. */
static void test_what_several_processes_save(void **state)
{
	struct gp_model *models[2] = {take_turns(1, 50, MS / 2), take_turns(2, 50, MS / 2)};
	struct gp_advice advice;
	char *text;

	models[1]->devices[0].uuid[0] = 77; /* a GPU of its own */
	for (size_t count = 1; count <= 2; count++) {
		advice = ask(models, count);
		text = printed(&advice, 0);
		assert_true((strstr(text, "sync-in-loop (pid 1, the most of 2 processes): ") !=
			     NULL) == (count == 2));
		free(text);
		gp_advice_free(&advice);
	}
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

static void test_no_advice(void **state)
{
	struct gp_model *model = take_turns(1, 2, 3 * MS);
	struct gp_advice advice = ask(&model, 1);
	char *text = printed_none(&advice);

	assert_int_equal(advice.count, 0);
	assert_non_null(strstr(
		text, "No advice: 5.055ms, first to last CUDA call, is too short for most rules"));
	assert_non_null(strstr(
		text,
		"\n  the GPU was idle for 60.4 % of 5.055ms, mostly host-bound: gpuprof summary --by idle,gap --top 20 FILE\n"));
	free(text);
	advice.idle_before_ns = 2 * MS;
	advice.idle_after_ns = MS / 10;
	text = printed_none(&advice);
	assert_non_null(strstr(text, " mostly host-bound, 2.000ms before its first operation:\n"
				     "    gpuprof summary --by idle,gap --top 20 FILE\n"));
	assert_null(strstr(text, "making a context"));
	free(text);
	advice.idle_cause = GP_IDLE_SETUP;
	advice.idle_before_ns = 3 * MS;
	text = printed_none(&advice);
	assert_non_null(strstr(
		text,
		" of 5.055ms, mostly startup, 3.000ms before its first operation:\n"
		"    gpuprof summary --by idle,gap --top 20 FILE\n"
		"  creating a context takes 100 to 300ms; a rule reports 500ms and more: gpuprof explain start-up\n"));
	free(text);
	advice.idle_before_ns = advice.idle_after_ns;
	advice.doubt = "operations are missing";
	advice.gpus = 2;
	text = printed_none(&advice);
	assert_non_null(strstr(text, "the busiest GPU was idle for at most 60.4 % of"));
	free(text);
	advice.idle_before_ns = MS;
	advice.idle_after_ns = 2 * MS;
	assert_idle_note(
		&advice,
		", 1.000ms before its first recorded operation and 2.000ms after its last recorded one");
	advice.idle_before_ns = 0;
	advice.doubt = NULL;
	text = printed_none(&advice);
	assert_non_null(strstr(text, ", 2.000ms after its last operation:\n"));
	free(text);
	advice.is_damaged = true;
	text = printed_none(&advice);
	assert_string_equal(
		text,
		"No advice: no rule found anything in the readable part of the trace (`gpuprof explain --list` names them)\n");
	free(text);
	gp_advice_free(&advice);
	gp_model_free(model);
	model = take_turns(1, 50, 1000);
	advice = ask(&model, 1);
	text = printed_none(&advice);
	assert_string_equal(
		text,
		"No advice: no rule found anything worth changing (`gpuprof explain --list` names them)\n");
	free(text);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * Of 200 ms, in which the kernels run for 100: 60 ms before the first of them, for the context; 40
 * ms of a copy amid them, which a rule may speak of.
 */
static struct gp_model *idle_twice(uint64_t copy_ns, bool is_told)
{
	struct build b = build_begin(1);

	build_api(&b, 98, "cudaSetDevice", GP_API_CONTROL);
	build_api(&b, 99, "cudaMemcpyToArrayAsync", GP_API_COPY);
	build_device(&b, 0, "GPU");
	build_context_made_by(&b, 1, 7, 9);
	build_call(&b, 100, 98, 0, 60 * MS, 9);
	build_call(&b, 100, BUILD_LAUNCH, 60 * MS, 1000, 1);
	build_op(&b, GP_OP_KERNEL, 7, 60 * MS + 2000, 110 * MS, 1)->name = 0;
	build_call(&b, 100, is_told ? BUILD_MALLOC : 99, 110 * MS, copy_ns, 0);
	build_call(&b, 100, BUILD_LAUNCH, 110 * MS + copy_ns, 1000, 2);
	build_op(&b, GP_OP_KERNEL, 7, 110 * MS + copy_ns + 2000, 160 * MS + copy_ns, 2)->name = 0;
	build_call(&b, 100, BUILD_DEVICE_SYNC, 110 * MS + copy_ns + 2000, 50 * MS, 0);
	return build_end(&b);
}

/*
 * What is a quarter of the run, and 20 ms, is told, and why: not what less is, nor what a rule is
 * about.
 */
static void test_idle_time_of_no_finding(void **state)
{
	static const struct {
		uint64_t copy_ns;
		bool is_told;
		const char *start, *copies; /* NULL: not told */
	} cases[] = {
		/* with that, it is told */
		{40 * MS, false, NULL, NULL},
		{79 * MS, false,
		 "\n  idle without a finding: startup, 25.1 % of 239.0ms, 60.00ms of it before the first operation, once in a\n    process\n",
		 "copy-bound, 33.1 % of 239.0ms, 1 gap, of 79.00ms at most: the rules of copies"},
		{81 * MS, false, NULL, "copy-bound, 33.6 % of 241.0ms"},
		{90 * MS, true, NULL, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model = idle_twice(cases[i].copy_ns, cases[i].is_told);
		struct gp_advice advice = ask(&model, 1);
		char *text = advice.count > 0 ? printed(&advice, 0) : printed_none(&advice);

		assert_true((advice.count > 0) == cases[i].is_told);
		if (i == 0)
			assert_non_null(strstr(
				text,
				"idle for 50.0 % of 200.0ms, mostly startup, 60.00ms before its first operation:"));
		assert_true((strstr(text, "finding: startup") != NULL) == (cases[i].start != NULL));
		assert_true((strstr(text, "finding: copy-bound") != NULL) ==
			    (cases[i].copies != NULL));
		assert_true(!cases[i].start || strstr(text, cases[i].start));
		assert_true(!cases[i].copies || strstr(text, cases[i].copies));
		assert_null(strstr(text, "finding: allocation"));
		free(text);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

static void test_no_work_is_said(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_advice advice;
	char *text;

	build_device(&b, 0, "GPU");
	build_call(&b, 100, BUILD_MALLOC, MS, 40 * MS, 0);
	build_call(&b, 100, BUILD_FREE, 50 * MS, 1000 * MS, 0);
	model = build_end(&b);
	advice = ask(&model, 1);
	text = printed_none(&advice);
	assert_non_null(
		strstr(text, "\n  no GPU had any work in 1.049s: gpuprof summary --by api FILE\n"));
	free(text);
	gp_advice_free(&advice);
	model->losses.launches_without_op = 1;
	advice = ask(&model, 1);
	text = printed_none(&advice);
	assert_null(strstr(text, "had any work"));
	free(text);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * A process that crashed soon: that, and the calls that failed, are more important than that no
 * rule speaks.
 */
static void test_why_there_may_be_no_advice(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_advice advice;
	char *text;

	build_device(&b, 0, "GPU");
	build_call(&b, 100, BUILD_LAUNCH, MS, 1000, 1);
	build_op(&b, GP_OP_KERNEL, 7, 2 * MS, 4 * MS, 1);
	build_call(&b, 100, BUILD_MALLOC, 3 * MS, 1000, 0)->status = 2;
	build_call(&b, 100, BUILD_FREE, 3 * MS + 5000, 1000, 0)->status = 4; /* as it ends */
	model = build_end(&b);
	model->losses.closed = false;
	model->losses.killed = true;
	advice = ask(&model, 1);
	text = printed_none(&advice);
	assert_non_null(strstr(text,
			       "is too short for most rules (`gpuprof explain --list` names them)\n"
			       "  the trace has no end: the process was killed or crashed\n"
			       "  1 call failed: gpuprof summary --by failure FILE\n"));
	free(text);
	gp_advice_free(&advice);
	gp_model_free(model);
}

static void test_a_trace_that_is_not_complete(void **state)
{
	struct gp_model *model = take_turns(1, 50, MS / 2);
	struct gp_advice advice;
	char *text;

	model->losses.damaged_bytes = 100;
	advice = ask(&model, 1);
	text = printed(&advice, 0);
	assert_non_null(strstr(text, "operations are missing, so idle times are upper bounds"));
	free(text);
	gp_advice_free(&advice);
	gp_model_free(model);
}

static void test_rules(void **state)
{
	for (size_t i = 0; gp_rules[i]; i++) {
		const struct gp_rule *rule = gp_rules[i];

		assert_ptr_equal(gp_rule_find(rule->id), rule);
		assert_true((rule->look != NULL) != (rule->look_at_all != NULL));
		assert_true(rule->threshold.count + rule->threshold.bytes > 0);
		assert_true(strspn(rule->id, "abcdefghijklmnopqrstuvwxyz-") == strlen(rule->id));
		assert_true(strlen(rule->id) <= 17);
	}
	assert_null(gp_rule_find("none"));
}

/* Three operations at 1, 3 and 7 ms, 1 ms each. */
static void test_idle_gaps(void **state)
{
	struct build b = build_begin(1);
	struct gp_device_list devices = {0};
	struct gp_model *model;
	struct gp_kinds *kinds = gp_kinds_new(NULL, (char[256]){0}, 256);
	struct gp_analysis basis;
	struct gp_idle_gaps *idle_gaps = &basis.idle_gaps;
	uint64_t base = BUILD_BASE_UNIX_NS;

	build_device(&b, 0, "GPU");
	for (uint64_t at = 1; at <= 7; at = 2 * at + 1) {
		build_call(&b, 100, BUILD_LAUNCH, at * MS - 20000, 10000, (uint32_t)at);
		build_op(&b, GP_OP_KERNEL, 7, at * MS, (at + 1) * MS, (uint32_t)at);
	}
	build_call(&b, 100, BUILD_DEVICE_SYNC, 7 * MS + 10, 2 * MS, 0);
	model = build_end(&b);
	build_check(gp_device_list_all(&devices, &model, 1) == 0);
	assert_int_equal(gp_analysis_of(&basis, &model, 1, &devices, kinds, 0), 0);
	assert_int_equal(idle_gaps->devices[0].count, 4); /* the two at the ends, too */
	assert_int_equal(gp_idle_gaps_busy_ns(idle_gaps, 0, 0, UINT64_MAX), 3 * MS);
	assert_int_equal(gp_idle_gaps_busy_ns(idle_gaps, 0, base + 3 * MS / 2, base + 7 * MS / 2),
			 MS);
	assert_int_equal(gp_idle_gaps_busy_ns(idle_gaps, 0, base + 5 * MS, base + 6 * MS), 0);
	assert_int_equal(gp_idle_gaps_busy_ns(idle_gaps, 99, 0, UINT64_MAX), 0);
	assert_null(gp_idle_gaps_at(idle_gaps, 0, base + 3 * MS / 2));
	assert_null(gp_idle_gaps_at(idle_gaps, 0, base));
	assert_null(gp_idle_gaps_at(idle_gaps, 99, base));
	assert_int_equal(gp_idle_gap_ns(gp_idle_gaps_at(idle_gaps, 0, base + 5 * MS)), 3 * MS);
	assert_int_equal(gp_idle_gap_ns(gp_idle_gaps_at(idle_gaps, 0, base + 2 * MS - 3000)), MS);
	gp_analysis_free(&basis);
	gp_kinds_free(kinds);
	gp_device_list_free(&devices);
	gp_model_free(model);
}

/* What one screen has of a finding. */
static char *print_brief(const struct gp_advice *advice)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	gp_advice_print_brief(out, advice, 3, 2);
	fclose(out);
	return text;
}

static char *print_on_screen(const char *found, const char *place, const char *callers)
{
	struct gp_finding finding = {.rule = gp_rule_find("low-occupancy"),
				     .saves_ns = MS,
				     .found = strdup(found),
				     .change = "do it otherwise",
				     .place = strdup(place),
				     .callers = strdup(callers)};
	struct gp_advice advice = {.findings = &finding, .count = 1, .span_ns = 4 * MS};
	char *text = print_brief(&advice);

	free(finding.found);
	free(finding.place);
	free(finding.callers);
	return text;
}

static void expect_on_screen(const char *found, const char *place, const char *callers,
			     const char *expected)
{
	char *text = print_on_screen(found, place, callers);
	char *from = strstr(text, "low-occupancy: ");

	assert_non_null(from);
	assert_string_equal(from, expected);
	free(text);
}

/* The place of an idle time is where it ends: where the words that say so are cut, others do. */
static void test_where_an_idle_time_ends(void **state)
{
	struct gp_finding finding = {.rule = gp_rule_find("gpu-gaps"),
				     .saves_ns = MS,
				     .change = "do it otherwise",
				     .place = "main (its_file.py:1)",
				     .callers = ""};
	struct gp_advice advice = {.findings = &finding, .count = 1, .span_ns = 4 * MS};
	char *text;

	finding.found = "it is idle; after cudaMemcpy, before cudaLaunchKernel";
	text = print_brief(&advice);
	assert_non_null(strstr(text, "before cudaLaunchKernel, at main (its_file.py:1)\n"));
	free(text);
	finding.found =
		"it is idle and idle and idle and idle and idle and idle and idle and idle and idle; after cudaMemcpy at a_place_of_a_very_long_name_of_its_own, before cudaLaunchKernel";
	text = print_brief(&advice);
	assert_non_null(strstr(text, " ending at"));
	free(text);
}

/* Two that are made in one function without a name are told apart by who calls it. */
static void test_callers_of_a_place_without_a_name_stay(void **state)
{
	struct gp_finding finding = {.rule = gp_rule_find("sync-copy"),
				     .saves_ns = MS,
				     .change = "do it otherwise",
				     .place = "main+0x7153a",
				     .callers = "main+0x96ef < main+0x9033"};
	struct gp_advice advice = {.findings = &finding, .count = 1, .span_ns = 4 * MS};
	char *text;

	finding.found =
		"so and so many copies, which took so and so long and were so and so large and blocked the host for that long; all of them were of pageable memory; these at so and so many GB/s, which is a part of what the link could do";
	for (int named = 0; named <= 1; named++) {
		finding.naming = named ? GP_NAMED : GP_WITHOUT_SYMBOLS;
		text = print_brief(&advice);
		assert_true((strstr(text, "main+0x9033") != NULL) == !named);
		free(text);
	}
}

#define WORDS  "so and so many words and some more, "
#define PLACE  "a_function_of_a_name (its_file.py:1)"
#define CHANGE "          -> do it otherwise\n"

/* Two lines of what was found: callers go first, then examples, then explanations. */
/* Two that save 3 ms each, of 6 ms in which the busiest GPU was idle, or 5. */
static void test_savings_that_overlap(void **state)
{
	for (uint64_t idle_ns = 5 * MS; idle_ns <= 6 * MS; idle_ns += MS) {
		struct gp_finding findings[] = {
			{.rule = gp_rule_find("sync-in-loop"), .saves_ns = 3 * MS},
			{.rule = gp_rule_find("gpu-gaps"), .saves_ns = 3 * MS},
			{.rule = gp_rule_find("few-blocks"), .saves_ns = 3 * MS}, /* on the GPU */
		};
		struct gp_advice advice = {.findings = findings,
					   .count = 3,
					   .span_ns = 10 * MS,
					   .idle_most_ns = idle_ns};
		char *text;

		for (size_t i = 0; i < 3; i++)
			findings[i].found = findings[i].change = findings[i].place =
				findings[i].callers = "";
		text = print_brief(&advice);
		assert_int_equal(strstr(text, "savings must not be added up") != NULL,
				 idle_ns == 5 * MS);
		free(text);
	}
}

static void test_what_does_not_fit_on_a_screen(void **state)
{
	expect_on_screen("it waits; for one", PLACE, "main",
			 "low-occupancy: it waits; for one, at " PLACE " < main\n" CHANGE);
	expect_on_screen(WORDS WORDS "for one", PLACE, WORDS WORDS,
			 "low-occupancy: " WORDS WORDS "for\n          one, at " PLACE "\n" CHANGE);
	expect_on_screen("it waits: for that; " WORDS WORDS WORDS WORDS WORDS, PLACE, "main",
			 "low-occupancy: it waits: for that, at " PLACE "\n" CHANGE);
	expect_on_screen("it waits: " WORDS WORDS WORDS WORDS WORDS, "", "",
			 "low-occupancy: it waits\n" CHANGE);
	/*
	 * what is left of the sentence stays, and the place loses the middle of its function, never
	 * of its line
	 */
	expect_on_screen(WORDS WORDS "for one", PLACE WORDS WORDS WORDS WORDS "(far.py:7)", "",
			 "low-occupancy: " WORDS WORDS "for\n          one, at " PLACE
			 "so and so many w... many words and some more, (far.py:7)\n" CHANGE);
	expect_on_screen(WORDS WORDS WORDS WORDS "and that", PLACE, "",
			 "low-occupancy: " WORDS WORDS
			 "so\n          and so many words and some more, " WORDS
			 "and that, at a_func...ame\n          (its_file.py:1)\n" CHANGE);
}

/* A place and its callers that have no room in one line have one each. */
static void test_a_long_place_keeps_its_line(void **state)
{
	char name[81] = "", place[128], *text;
	struct gp_finding finding = {
		.rule = gp_rules[0], .place = place, .callers = "main (a.c:9)"};
	struct gp_advice advice = {.findings = &finding, .count = 1, .span_ns = MS};

	finding.found = finding.change = "it waits";
	memset(name, 'f', sizeof(name) - 1);
	snprintf(place, sizeof(place), "%s (a.c:1)", name);
	text = printed(&advice, 0);
	assert_non_null(strstr(text, " (a.c:1)\n                      < main (a.c:9)\n"));
	free(text);
	snprintf(place, sizeof(place), "%s (a.c:1)", name + 10);
	text = printed(&advice, 0);
	assert_non_null(strstr(text, " (a.c:1) < main (a.c:9)\n"));
	free(text);
}

/* Where all are told, the fourth of a rule and those behind it have a line each. */
static void test_many_findings_of_one_rule(void **state)
{
	struct gp_finding findings[5];
	struct gp_advice advice = {.findings = findings, .count = 5, .span_ns = 10 * MS};
	char *text;

	for (size_t i = 0; i < advice.count; i++)
		findings[i] = (struct gp_finding){.rule = gp_rule_find("alloc-in-loop"),
						  .saves_ns = (5 - i) * MS,
						  .found = "it allocates",
						  .change = "do it before",
						  .place = "f (a.c:1)",
						  .callers = ""};
	text = printed(&advice, 0);
	assert_non_null(strstr(text, "   3.000ms  30.0 %  alloc-in-loop: it allocates\n"
				     "                    at f (a.c:1)\n"
				     "                    do it before\n"
				     "   2.000ms  20.0 %  alloc-in-loop: the same at f (a.c:1)\n"
				     "   1.000ms  10.0 %  alloc-in-loop: the same at f (a.c:1)\n"));
	free(text);
	findings[4].place = ""; /* nothing else says what it is about */
	text = printed(&advice, 0);
	assert_non_null(strstr(text, "   2.000ms  20.0 %  alloc-in-loop: the same at f (a.c:1)\n"
				     "   1.000ms  10.0 %  alloc-in-loop: it allocates\n"
				     "                    do it before\n"));
	free(text);
	text = printed(&advice, 2);
	assert_non_null(strstr(text, "   4.000ms  40.0 %  alloc-in-loop: it allocates\n"));
	assert_non_null(strstr(text, "alloc-in-loop (the most of 5 places): it allocates\n"));
	free(text);
}

/* A place without a name says how it gets one, as far as that is known. */
static void test_places_without_names(void **state)
{
	struct gp_finding finding = {.rule = gp_rules[0], .place = "main+0x11f0", .callers = ""};
	struct gp_advice advice = {.findings = &finding, .count = 1, .span_ns = MS};
	char *text;

	finding.found = finding.change = "it waits";
	finding.naming = GP_WITHOUT_SYMBOLS;
	text = printed(&advice, 0);
	assert_non_null(strstr(
		text,
		"  no symbols in main: build it with -g and do not strip it, to see its lines\n"));
	free(text);
	finding.naming = GP_FILE_UNREAD;
	text = printed(&advice, 0);
	assert_non_null(strstr(
		text,
		"  no names for main: the file is missing here, or is another build than the one that ran; `gpuprof finish\n"));
	assert_null(strstr(text, "no symbols"));
	free(text);
	finding.naming = GP_NAMED;
	text = printed(&advice, 0);
	assert_null(strstr(text, "no symbols"));
	assert_null(strstr(text, "no names"));
	free(text);
}

/* What each of several findings has below it, and which of them have a place. */
static void test_findings_share_a_screen(void **state)
{
	const struct gp_rule *errors = gp_rule_find("failed-calls"),
			     *time = gp_rule_find("short-kernels");
	struct gp_finding findings[] = {
		{.rule = errors, .found = "A", .change = "look"},
		{.rule = errors, .found = "B", .change = "look"},
		{.rule = time, .saves_ns = 3 * MS, .found = "C", .change = "do it"},
		{.rule = time, .saves_ns = 2 * MS, .found = "D", .change = "do it"},
	};
	struct gp_advice advice = {.findings = findings, .count = 4, .span_ns = 4 * MS};
	char *text = NULL;
	size_t bytes;
	FILE *out;

	for (size_t i = 0; i < advice.count; i++)
		findings[i].place = findings[i].callers = "";
	out = open_memstream(&text, &bytes);
	gp_advice_print_brief(out, &advice, 3, 2);
	fclose(out);
	assert_non_null(strstr(text, "failed-calls: A\n"));
	assert_non_null(strstr(text, "failed-calls: B\n          -> (both) look\n"));
	assert_non_null(strstr(
		text,
		"short-kernels (the most of 2 findings): C\n          -> do it\n  ... 1 more: "));
	free(text);

	out = open_memstream(&text, &bytes);
	gp_advice_print_brief(out, &advice, 2, 2);
	fclose(out);
	assert_non_null(
		strstr(text, "failed-calls (the most of 2 findings): A\n          -> look\n"));
	assert_non_null(strstr(text, "short-kernels (the most of 2 findings): C\n"));
	free(text);

	/* what is once is of several kinds, and no places */
	findings[2].rule = findings[3].rule = gp_rule_find("start-up");
	out = open_memstream(&text, &bytes);
	gp_advice_print_brief(out, &advice, 2, 2);
	fclose(out);
	assert_non_null(strstr(text, "start-up (one-time cost, the most of 2 findings): C\n"));
	free(text);

	out = open_memstream(&text, &bytes);
	gp_advice_print_brief(out, &advice, 4, 2);
	fclose(out);
	assert_non_null(strstr(text, ": B\n          -> (both) look\n"));
	free(text);

	findings[1].rule = time;
	findings[1].change = "do it";
	out = open_memstream(&text, &bytes);
	gp_advice_print_brief(out, &advice, 4, 2);
	fclose(out);
	assert_non_null(strstr(text, ": D\n          -> (all 3) do it\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns_of_host_and_gpu),
		cmocka_unit_test(test_what_does_not_fit_on_a_screen),
		cmocka_unit_test(test_savings_that_overlap),
		cmocka_unit_test(test_where_an_idle_time_ends),
		cmocka_unit_test(test_callers_of_a_place_without_a_name_stay),
		cmocka_unit_test(test_findings_share_a_screen),
		cmocka_unit_test(test_places_without_names),
		cmocka_unit_test(test_many_findings_of_one_rule),
		cmocka_unit_test(test_few_steps_stand_for_all),
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_several_processes),
		cmocka_unit_test(test_steps_are_those_of_the_main_process),
		cmocka_unit_test(test_loading_of_code),
		cmocka_unit_test(test_what_is_no_load),
		cmocka_unit_test(test_several_loads),
		cmocka_unit_test(test_what_shortens_no_run_comes_last),
		cmocka_unit_test(test_places_of_loads),
		cmocka_unit_test(test_slow_copies),
		cmocka_unit_test(test_start_up_is_not_the_loop),
		cmocka_unit_test(test_a_program_saves_of_its_own_steps),
		cmocka_unit_test(test_no_loop_is_longer_than_the_time_that_was_recorded),
		cmocka_unit_test(test_what_a_graph_would_launch),
		cmocka_unit_test(test_pauses_are_no_time),
		cmocka_unit_test(test_the_page),
		cmocka_unit_test(test_a_long_place_keeps_its_line),
		cmocka_unit_test(test_what_several_processes_save),
		cmocka_unit_test(test_no_advice),
		cmocka_unit_test(test_idle_time_of_no_finding),
		cmocka_unit_test(test_no_work_is_said),
		cmocka_unit_test(test_managed_memory_is_hinted_at),
		cmocka_unit_test(test_why_there_may_be_no_advice),
		cmocka_unit_test(test_a_trace_that_is_not_complete),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_idle_gaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
