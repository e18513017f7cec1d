/* Launches that cannot keep up: which places are told. */
#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/stack_builder.h"

#define US     1000u
#define TIMES  400
#define PLACES 4

/*
 * Who launches by turns: its function, and the line of step() that calls it; 0: step() itself
 * launches, there.
 */
struct place {
	const char *function;
	uint8_t line, step_line;
};

static uint32_t build_place(struct build *b, uint32_t step, const struct place *place)
{
	if (!place->function)
		return step;
	return build_python(b, step, "/home/me/model.py", place->function, place->line);
}

/* Kernels of 3 us every 60 us, from so many places by turns; no place: calls have no stack. */
static struct build launch(const struct place *places, uint32_t count)
{
	uint32_t stacks[PLACES] = {GP_NONE};
	struct build b = build_begin(1);
	uint32_t main = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "main", 9);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t step =
			build_python(&b, main, "/home/me/train.py", "step", places[i].step_line);

		stacks[i] = build_place(&b, step, &places[i]);
	}
	build_device(&b, 0, "GPU");
	for (uint32_t i = 1; i <= TIMES; i++) {
		uint64_t at_ns = (uint64_t)i * 60 * US;
		struct gp_op *op;

		build_call(&b, 100, BUILD_LAUNCH, at_ns, 10 * US, i);
		if (count > 0)
			build_stack_of_last(&b, stacks[i % count]);
		op = build_op(&b, GP_OP_KERNEL, 7, at_ns + 10 * US, at_ns + 13 * US, i);
		op->name = 0;
	}
	return b;
}

static void check_parts(struct build *b, const char *place, const char *found_part,
			const char *absent)
{
	struct gp_model *model;
	struct gp_advice advice;
	const struct gp_finding *found;

	build_stacks_end(b);
	model = build_end(b);
	advice = ask(&model, 1);
	found = find(&advice, "short-kernels");
	assert_non_null(found);
	assert_string_equal(found->place, place);
	assert_true(!found_part || strstr(found->found, found_part));
	assert_true(!absent || !strstr(found->found, absent));
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* NULL: nothing is told beside the times. */
static void check(struct build *b, const char *place, const char *found_part)
{
	check_parts(b, place, found_part, found_part ? NULL : ";");
}

static void one_place_is_the_place(void **state)
{
	static const struct place places[] = {{"forward", 12, 40}};
	struct build b = launch(places, 1);

	check(&b, "forward (model.py:12)", NULL);
}

/* One of 25 kernels takes 1 ms: on average they would take 43 us. */
static void long_kernels_among_them_do_not_count(void **state)
{
	struct build b = launch(NULL, 0);
	struct gp_model *model;
	struct gp_advice advice;

	for (uint32_t i = 0, later = 0; i < b.model->op_count; i++) {
		struct gp_op *op = &b.model->ops[i];

		op->start_ns += later * 1000 * US;
		op->end_ns += later * 1000 * US;
		b.model->calls[i].start_ns += later * 1000 * US;
		if (i % 25 == 24) {
			op->end_ns += 1000 * US;
			later++;
		}
	}
	build_stacks_end(&b);
	model = build_end(&b);
	advice = ask(&model, 1);
	assert_non_null(find(&advice, "short-kernels"));
	assert_int_equal(value_of(find(&advice, "short-kernels"), "median_ns"), 3 * US);
	gp_advice_free(&advice);
	gp_model_free(model);
}

static void several_have_what_calls_them_and_their_shares(void **state)
{
	static const struct place places[] = {
		{"forward", 12, 40}, {"forward", 12, 40}, {"attend", 30, 44}, {NULL, 0, 58}};
	struct build b = launch(places, PLACES);

	check(&b, "step (train.py:40-58)",
	      "; 3 places launch them: forward (model.py:12) 49.9 %, attend (model.py:30) 25.");
}

/* Those of a place are one share, whatever called it. */
static void a_place_that_is_called_twice_is_one(void **state)
{
	static const struct place places[] = {
		{"forward", 12, 40}, {"forward", 12, 42}, {"attend", 30, 44}};
	struct build b = launch(places, 3);

	check(&b, "forward (model.py:12)",
	      "; 2 places launch them: forward (model.py:12) 66.7 %, attend (model.py:30) 33.3 %");
}

/* A line at which one function is called that launches at many. */
static void the_innermost_function_of_all_is_told(void **state)
{
	static const struct place places[] = {{"forward", 12, 40}, {"forward", 14, 40}};
	struct build b = launch(places, 2);

	check(&b, "forward (model.py:12-14)", "; 2 places launch them: forward (model.py:1");
}

/* A function for all launches says nothing: who calls it does. */
static void what_only_launches_is_left_out(void **state)
{
	static const struct place places[] = {{"forward", 12, 40}, {"adam", 14, 44}};
	struct build b = launch(places, 2);

	for (uint32_t i = 0, last = b.model->frame_count; i < 2; i++) {
		uint32_t helper =
			build_python(&b, last - 1 - 2 * (1 - i), "/home/me/gpu.py", "launch", 3);

		for (uint32_t call = i == 0 ? 0 : 1; call < b.model->call_count; call += 2)
			b.model->calls[call].stack = helper;
	}
	check(&b, "step (train.py:40-44)", "; 2 places launch them: ");
}

/*
 * Three fifths are of one place, which is called in three ways; none of its sites has as much as
 * the other place's, nor do all have a caller in common.
 */
static void the_place_with_most_is_told_though_it_has_many_sites(void **state)
{
	static const char *const callers[] = {"a", "b", "c"};
	struct build b = launch(NULL, 0);
	uint32_t stacks[5];

	for (uint8_t i = 0; i < 3; i++)
		stacks[i] = build_python(
			&b, build_python(&b, BUILD_OUTERMOST, "/home/me/x.py", callers[i], i + 1),
			"/home/me/model.py", "forward", 12);
	stacks[3] = stacks[4] = build_python(&b, BUILD_OUTERMOST, "/home/me/opt.py", "adam", 14);
	for (uint32_t i = 0; i < b.model->call_count; i++)
		b.model->calls[i].stack = stacks[i % 5];
	check_parts(&b, "forward (model.py:12)",
		    "; 2 places launch them: forward (model.py:12) 59.9 %, adam (opt.py:14) 40.1 %",
		    NULL);
}

/* What is compiled need not be advised to be. */
static void kernels_of_a_compiler_are_fused(void **state)
{
	static const struct {
		const char *kernel, *range;
		bool compiled;
	} cases[] = {
		{"k", NULL, false},
		{"triton_softmax", NULL, false},
		{"triton_poi_fused_convolution_0", NULL, true},
		{"k", "Torch-Compiled Region: 0/0", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build b = launch(NULL, 0);
		const struct gp_finding *found;
		struct gp_advice advice;
		struct gp_model *model;

		build_name(&b, cases[i].kernel);
		if (cases[i].range)
			build_range(&b, 100, cases[i].range, 10 * US, 20 * US);
		build_stacks_end(&b);
		b.model->recorder = "torch.profiler";
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "short-kernels");
		assert_non_null(found);
		assert_non_null(strstr(found->change, "torch.cuda.graphs)"));
		assert_true((strstr(found->change, "fuse kernels") == NULL) == cases[i].compiled);
		gp_advice_free(&advice);
		model->recorder = NULL;
		gp_model_free(model);
	}
}

static void cells_of_a_loop_are_one_call(void **state)
{
	static const char *const kernels[] = {
		"k", "_ZN2at6native6kernel17lstm_cell_forwardIffiLi1EEEvv", "cudnn::RNN_lstm"};

	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		struct build b = launch(NULL, 0);
		struct gp_model *model;
		struct gp_advice advice;

		build_name(&b, kernels[i]);
		build_stacks_end(&b);
		model = build_end(&b);
		advice = ask(&model, 1);
		assert_int_equal(strstr(find(&advice, "short-kernels")->change, "nn.LSTM") != NULL,
				 i == 1);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * By default launches have no stack: then looks at Python tell what the thread did while it
 * launched, busy times and all.
 */
static void without_stacks_looks_at_python_tell(void **state)
{
	struct build b = launch(NULL, 0);
	uint32_t step = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "step", 40);
	uint32_t load = build_python(&b, BUILD_OUTERMOST, "/home/me/data.py", "load", 7);
	uint32_t first = BUILD_GROW(&b, samples, sample_count);
	uint32_t second = BUILD_GROW(&b, samples, sample_count);

	b.model->samples[first] = build_sample(100, step, 0, 18);
	b.model->samples[second] = build_sample(100, load, 18, 30);
	b.model->samples[first].count = 10;
	check(&b, "",
	      "; meanwhile the host was in step (train.py:40) for 74.9 % of the time; in load (data.py:7) for 25.1 %; from 10 Python samples");
}

/* Half of the launches, that much later. */
static struct build launch_with_pause(uint64_t pause_ns)
{
	struct build b = launch(NULL, 0);

	for (uint32_t i = TIMES / 2; i < TIMES; i++) {
		b.model->calls[i].start_ns += pause_ns;
		b.model->ops[i].start_ns += pause_ns;
		b.model->ops[i].end_ns += pause_ns;
	}
	return b;
}

static struct gp_sample *add_looks(struct build *b, uint32_t thread, uint32_t stack,
				   uint64_t start_ms, uint64_t end_ms)
{
	uint32_t index = BUILD_GROW(b, samples, sample_count);

	b->model->samples[index] = build_sample(thread, stack, start_ms, end_ms);
	return &b->model->samples[index];
}

/* The host reads something for 100 ms: that launches nothing. */
static void what_comes_between_launches_is_not_told(void **state)
{
	struct build b = launch_with_pause(100000 * US);
	uint32_t step = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "step", 40);
	uint32_t load = build_python(&b, BUILD_OUTERMOST, "/home/me/data.py", "load", 7);

	add_looks(&b, 100, step, 0, 10)->count = 9;
	add_looks(&b, 100, load, 20, 111);
	add_looks(&b, 100, step, 120, 122);
	check_parts(&b, "", "; meanwhile the host was in step (train.py:40) for 84.3 %", "load");
}

/*
 * Where the thread that launched was looked at once, what the main thread did is not told in its
 * place, when it was not looked at; nor shares of four looks.
 */
static void the_thread_that_is_looked_at_is_one(void **state)
{
	struct build b = launch_with_pause(130000 * US);
	uint32_t step = build_python(&b, BUILD_OUTERMOST, "/home/me/worker.py", "step", 40);
	uint32_t wait = build_python(&b, BUILD_OUTERMOST, "/home/me/main.py", "join", 7);

	b.model->pid = 42;
	add_looks(&b, 42, wait, 0, 5);
	add_looks(&b, 42, wait, 143, 153);
	add_looks(&b, 100, step, 1, 6);
	add_looks(&b, 100, step, 7, 11);
	check_parts(&b, "",
		    "; meanwhile the host was in step (worker.py:40); from 4 Python samples",
		    "join");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_place_is_the_place),
		cmocka_unit_test(long_kernels_among_them_do_not_count),
		cmocka_unit_test(several_have_what_calls_them_and_their_shares),
		cmocka_unit_test(a_place_that_is_called_twice_is_one),
		cmocka_unit_test(the_innermost_function_of_all_is_told),
		cmocka_unit_test(what_only_launches_is_left_out),
		cmocka_unit_test(the_place_with_most_is_told_though_it_has_many_sites),
		cmocka_unit_test(kernels_of_a_compiler_are_fused),
		cmocka_unit_test(cells_of_a_loop_are_one_call),
		cmocka_unit_test(without_stacks_looks_at_python_tell),
		cmocka_unit_test(what_comes_between_launches_is_not_told),
		cmocka_unit_test(the_thread_that_is_looked_at_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
