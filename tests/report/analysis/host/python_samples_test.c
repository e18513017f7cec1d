#include "report/analysis/host/python_samples.h"
#include "report/base/spill_memory.h"
#include "tests/unit.h"
#include "tests/report/stack_builder.h"

#define MS 1000000u

static struct scene {
	struct build b;
	uint32_t main, line, load, step, import, module;
	struct gp_host_span *spans;
	struct gp_host_turn *turns;
	uint32_t count;
} scene;

static int set_up(void **state)
{
	struct build *b = &scene.b;

	*b = build_begin(1);
	scene.main = build_python(b, BUILD_OUTERMOST, "/home/me/train.py", "main", 1);
	/* another line of main(): the same code */
	scene.line = build_frame(b, GP_FRAME_PYTHON, BUILD_OUTERMOST,
				 b->model->frames[scene.main].origin, 8);
	scene.load = build_python(b, scene.main, "/home/me/train.py", "load", 5);
	scene.step = build_python(b, scene.line, "/home/me/train.py", "step", 9);
	scene.import =
		build_python(b, scene.line, "<frozen importlib._bootstrap>", "_find_and_load", 7);
	scene.module = build_python(b, scene.import, "/usr/lib/python3/json.py", "<module>", 1);
	build_stacks_end(b);
	return 0;
}

static int tear_down(void **state)
{
	gp_spill_free(scene.spans);
	gp_spill_free(scene.turns);
	scene.spans = NULL;
	scene.turns = NULL;
	scene.b.model->samples = NULL; /* the tests' own */
	gp_model_free(scene.b.model);
	return 0;
}

static void find(struct gp_sample *samples, uint32_t count)
{
	scene.b.model->samples = samples;
	scene.b.model->sample_count = count;
	assert_int_equal(gp_host_spans_find(scene.b.model, 0,
					    gp_python_samples_end(scene.b.model, 0),
					    gp_host_spans_depth(scene.b.model), &scene.spans,
					    &scene.count, &scene.turns),
			 0);
}

static void assert_span(uint32_t index, uint32_t frame, uint32_t depth, uint64_t start_ms,
			uint64_t end_ms, uint32_t looks)
{
	assert_true(index < scene.count);
	assert_int_equal(scene.spans[index].frame, frame);
	assert_int_equal(scene.spans[index].depth, depth);
	assert_int_equal(scene.spans[index].start_ns, start_ms * MS);
	assert_int_equal(scene.spans[index].end_ns, end_ms * MS);
	assert_int_equal(scene.spans[index].samples, looks);
}

/* main() goes on, whatever it calls and at whatever line. */
static void a_function_lasts_as_long_as_looks_find_it(void **state)
{
	struct gp_sample samples[] = {
		build_sample(1, scene.load, 0, 20), build_sample(1, scene.step, 40, 80),
		build_sample(1, scene.line, 100, 100), build_sample(1, scene.load, 120, 120),
		build_sample(2, scene.load, 0, 0)};

	find(samples, 5);
	assert_int_equal(scene.count, 4);
	assert_span(0, scene.main, 0, 0, 120, 6);
	assert_span(1, scene.load, 1, 0, 30, 2);
	assert_span(2, scene.step, 1, 30, 90, 2);
	assert_span(3, scene.load, 1, 110, 120, 1);
}

static void assert_turn(uint32_t at, uint64_t start_ms, uint32_t frame, bool is_last)
{
	assert_int_not_equal(at, GP_NONE);
	assert_int_equal(scene.turns[at].start_ns, start_ms * MS);
	assert_int_equal(scene.turns[at].frame, frame);
	assert_true((scene.turns[at].next == GP_NONE) == is_last);
}

/* load() is called at one line of main(), step() at another one. */
static void each_turn_to_another_instruction_is_known(void **state)
{
	struct gp_sample samples[] = {
		build_sample(1, scene.load, 0, 20), build_sample(1, scene.step, 40, 80),
		build_sample(1, scene.line, 100, 100), build_sample(1, scene.load, 120, 120)};

	find(samples, 4);
	assert_int_equal(scene.spans[0].frame, scene.main);
	assert_turn(scene.spans[0].turn, 30, scene.line, false);
	assert_turn(scene.turns[scene.spans[0].turn].next, 110, scene.main, true);
	for (uint32_t i = 1; i < scene.count; i++)
		assert_int_equal(scene.spans[i].turn, GP_NONE);
}

static void what_python_calls_to_import_is_left_out(void **state)
{
	struct gp_sample samples[] = {build_sample(1, scene.module, 0, 10),
				      build_sample(1, scene.import, 20, 20)};

	find(samples, 2);
	assert_int_equal(scene.count, 2);
	assert_span(0, scene.line, 0, 0, 20, 3);
	assert_span(1, scene.module, 1, 0, 15, 2);
	assert_false(scene.spans[0].is_imported);
	assert_true(scene.spans[1].is_imported);
}

/* Also where a look is 1 ns longer than twice its reach from the next one: halves are whole. */
static void spans_end_where_nothing_is_known(void **state)
{
	struct gp_sample samples[] = {build_sample(1, scene.main, 0, 0),
				      build_sample(1, scene.main, 250, 250),
				      build_sample(1, scene.main, 600, 600)};

	samples[1].start_ns++;
	samples[1].end_ns++;
	find(samples, 3);
	assert_int_equal(scene.count, 2);
	assert_int_equal(scene.spans[0].end_ns, 375 * MS + 1);
	assert_int_equal(scene.spans[0].samples, 2);
	assert_span(1, scene.main, 0, 475, 600, 1);
	assert_true(gp_python_sample_follows(scene.b.model, 1));
	assert_false(gp_python_sample_follows(scene.b.model, 2));
	assert_false(gp_python_sample_follows(scene.b.model, 0));
}

static void spans_of_a_damaged_trace_do_not_overlap(void **state)
{
	struct gp_sample samples[] = {
		build_sample(1, scene.load, 0, 50), build_sample(1, scene.step, 20, 30),
		build_sample(1, GP_NONE, 40, 40), build_sample(1, scene.load, 60, 70)};

	find(samples, 4);
	for (uint32_t i = 0; i < scene.count; i++)
		for (uint32_t k = i + 1; k < scene.count; k++)
			if (scene.spans[i].depth == scene.spans[k].depth)
				assert_true(scene.spans[i].end_ns <= scene.spans[k].start_ns);
	assert_int_equal(scene.spans[scene.count - 1].end_ns, 70 * MS);
}

#define DEEP_LOOKS 6000u

/* GP_FRAME_DEPTH functions of a file of its own. */
static uint32_t build_deep(struct build *b, const char *file)
{
	uint32_t frame = BUILD_OUTERMOST;

	for (uint32_t i = 0; i < GP_FRAME_DEPTH; i++)
		frame = build_python(b, frame, file, "f", 1);
	return frame;
}

/* A look takes some bytes of a file: those of a few MB would ask for tens of GB. */
static void spans_are_bounded_however_deep_stacks_are(void **state)
{
	static struct gp_sample samples[DEEP_LOOKS];
	struct build b = build_begin(1);
	uint32_t stacks[] = {build_deep(&b, "/home/me/a.py"), build_deep(&b, "/home/me/b.py")};
	struct gp_host_depth depth;
	struct gp_host_span *spans;
	uint32_t count;

	build_stacks_end(&b);
	for (uint32_t i = 0; i < DEEP_LOOKS; i++)
		samples[i] = build_sample(1, stacks[i % 2], i, i);
	b.model->samples = samples;
	b.model->sample_count = DEEP_LOOKS;
	depth = gp_host_spans_depth(b.model);
	assert_int_equal(depth.functions,
			 GP_HOST_FIRST_SPANS / DEEP_LOOKS + GP_HOST_SPANS_PER_SAMPLE);
	assert_int_equal(depth.left_out, (uint64_t)DEEP_LOOKS * (GP_FRAME_DEPTH - depth.functions));
	assert_int_equal(gp_host_spans_find(b.model, 0, DEEP_LOOKS, depth, &spans, &count, NULL),
			 0);
	assert_int_equal(count, DEEP_LOOKS * depth.functions);
	gp_spill_free(spans);
	b.model->sample_count = GP_HOST_FIRST_SPANS / GP_FRAME_DEPTH;
	depth = gp_host_spans_depth(b.model);
	assert_int_equal(depth.functions, GP_FRAME_DEPTH);
	assert_int_equal(depth.left_out, 0);
	b.model->samples = NULL;
	gp_model_free(b.model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_function_lasts_as_long_as_looks_find_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(each_turn_to_another_instruction_is_known, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_python_calls_to_import_is_left_out, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(spans_end_where_nothing_is_known, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(spans_of_a_damaged_trace_do_not_overlap, set_up,
						tear_down),
		cmocka_unit_test(spans_are_bounded_however_deep_stacks_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
