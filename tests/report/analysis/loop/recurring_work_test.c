/*
 * Whatever recurs on top of a loop (logs, evaluations, checkpoints), each round of the loop is an
 * iteration: for programs, intervals and lengths that a generator puts together.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/loop/iterations.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

enum thread { MAIN = 1, AUTOGRAD };

enum operation {
	H2D,
	INPUT, /* of a whole batch */
	D2H,
	FORWARD,
	ATTEND,
	NORM,
	NORM_BACK,
	ATTEND_BACK,
	BACKWARD,
	STEP,
	METRIC,
	FAKE,
	FAKE_BACK,
	FAKE_STEP,
	CLIP,
	SHAPES,
	TRIED = SHAPES + 6,
	NAMES = TRIED + 9
};

#define MOST_ROUNDS  2600
#define INTERVALS    3
#define ANY_PROGRAMS 60
#define BATCHES      4 /* of an evaluation */
#define IMAGES       16
#define EPOCH        10 /* rounds */
#define INPUT_BYTES  4096

struct program {
	struct build b;
	uint64_t time_ns;
	uint32_t round;
	uint64_t starts_ns[MOST_ROUNDS + 1];
};

static bool is_backward(enum operation what)
{
	return what == NORM_BACK || what == ATTEND_BACK || what == BACKWARD || what == FAKE_BACK;
}

static void put(struct program *program, enum operation what)
{
	uint32_t id = program->b.model->call_count + 1;
	bool copies = what == H2D || what == INPUT || what == D2H;
	uint64_t at_ns = program->time_ns;
	struct gp_op *op;

	build_call(&program->b, is_backward(what) ? AUTOGRAD : MAIN, BUILD_LAUNCH, at_ns, 5, id);
	op = build_op(&program->b, copies ? GP_OP_COPY : GP_OP_KERNEL, 7, at_ns + 100, at_ns + 150,
		      id);
	op->name = copies ? GP_NONE : (uint32_t)what;
	if (copies)
		op->copy_kind = what == D2H ? GP_COPY_DTOH : GP_COPY_HTOD;
	if (what == INPUT)
		op->bytes = INPUT_BYTES;
	program->time_ns += 200;
}

static void put_all(struct program *program, uint32_t times, const enum operation *what,
		    size_t count)
{
	for (uint32_t time = 0; time < times; time++)
		for (size_t i = 0; i < count; i++)
			put(program, what[i]);
}
#define PUT(program, times, ...)                                                                   \
	put_all(program, times, (const enum operation[]){__VA_ARGS__},                             \
		COUNT(((const enum operation[]){__VA_ARGS__})))

/* ---- what a round does ---- */

static void train(struct program *program)
{
	PUT(program, 1, H2D, FORWARD, ATTEND, NORM, NORM_BACK, ATTEND_BACK, BACKWARD, STEP, STEP);
}

static void infer(struct program *program)
{
	PUT(program, 1, H2D, FAKE, NORM, D2H);
}

static void train_layers(struct program *program)
{
	PUT(program, 1, H2D, FORWARD);
	PUT(program, 12, ATTEND, NORM);
	PUT(program, 12, NORM_BACK, ATTEND_BACK);
	PUT(program, 1, BACKWARD, STEP);
}

/* As XLA's loops over layers: whether another one follows is copied to the host. */
static void train_scanned_layers(struct program *program)
{
	PUT(program, 1, H2D, FORWARD);
	PUT(program, 12, ATTEND, NORM, D2H);
	PUT(program, 12, NORM_BACK, ATTEND_BACK, NORM, CLIP, D2H);
	PUT(program, 1, BACKWARD, STEP);
}

static void train_two_models(struct program *program)
{
	PUT(program, 1, H2D, FAKE, FORWARD, METRIC, BACKWARD, STEP);
	PUT(program, 1, FAKE, FORWARD, METRIC, BACKWARD, FAKE_BACK, FAKE_STEP);
}

static void accumulate(struct program *program)
{
	PUT(program, 4, H2D, FORWARD, ATTEND, ATTEND_BACK, BACKWARD);
	PUT(program, 1, STEP, STEP, STEP);
}

/* Every third or so has a kernel of another shape. */
static void train_shapes(struct program *program)
{
	PUT(program, 1, H2D, FORWARD, ATTEND, NORM);
	put(program, rand() % 3 == 0 ? SHAPES + (enum operation)(rand() % 6) : SHAPES);
	PUT(program, 1, NORM_BACK, ATTEND_BACK, BACKWARD, STEP);
}

static void train_rare_branch(struct program *program)
{
	PUT(program, 1, H2D, FORWARD, ATTEND, NORM, NORM_BACK, ATTEND_BACK, BACKWARD);
	if (rand() % 11 == 0)
		PUT(program, 1, CLIP, CLIP);
	PUT(program, 1, STEP, STEP);
}

static void train_after_warm_up(struct program *program)
{
	PUT(program, 1, H2D, FORWARD);
	for (uint32_t i = 0; program->round < 3 && i < 9; i++)
		put(program, TRIED + (enum operation)i);
	PUT(program, 1, ATTEND, NORM, NORM_BACK, ATTEND_BACK, BACKWARD, STEP);
}

/* What is done for each image depends on it: no two batches are the same. */
static void match_images(struct program *program)
{
	PUT(program, 1, INPUT, H2D, FORWARD, ATTEND);
	for (uint32_t image = 0; image < IMAGES; image++) {
		PUT(program, 1, H2D, NORM, FAKE, CLIP, METRIC);
		PUT(program, (uint32_t)rand() % 4, D2H, FAKE_STEP);
	}
}

static void train_images(struct program *program)
{
	match_images(program);
	PUT(program, 1, NORM, NORM_BACK, ATTEND_BACK, BACKWARD, STEP, STEP);
}

static void infer_images(struct program *program)
{
	match_images(program);
	PUT(program, 1, NORM, STEP, STEP);
}

/* After an epoch, much with another model. */
static void train_epochs(struct program *program)
{
	train(program);
	for (uint32_t i = 0; (program->round + 1) % EPOCH == 0 && i < 6 * EPOCH; i++)
		infer(program);
}

/* All data is on the GPU. */
static void train_without_copies(struct program *program)
{
	PUT(program, 1, FORWARD, ATTEND, NORM, NORM_BACK, ATTEND_BACK, BACKWARD, STEP);
}

/* ---- what recurs on top of it ---- */

static void recur(struct program *program, size_t which, uint32_t batches)
{
	if (which == 0)
		PUT(program, 1, METRIC, D2H);
	else if (which == 1)
		PUT(program, batches, H2D, FORWARD, ATTEND, METRIC);
	else
		PUT(program, 7, D2H);
}

typedef void put_round(struct program *program);

static struct gp_model *run(struct program *program, put_round *round, uint32_t rounds,
			    const uint32_t *intervals, uint32_t batches)
{
	*program = (struct program){.b = build_begin(1)};
	build_thread(&program->b, AUTOGRAD, "pt_autograd_0");
	for (char name = 'a'; name < 'a' + NAMES; name++)
		build_name(&program->b, (char[]){name, '\0'});
	PUT(program, 1, TRIED, SHAPES, CLIP, H2D);
	for (program->round = 0; program->round < rounds; program->round++) {
		program->starts_ns[program->round] = program->time_ns;
		round(program);
		for (size_t i = 0; i < INTERVALS; i++)
			if (intervals[i] > 0 && (program->round + 1) % intervals[i] == 0)
				recur(program, i, batches);
	}
	return build_end(&program->b);
}

static struct gp_iterations find(const struct gp_model *model)
{
	struct gp_iterations found;
	struct gp_tuning tuning;

	assert_int_equal(gp_tuning_of(&tuning, model), 0);
	assert_int_equal(gp_iterations_of(&found, model, &tuning), 0);
	gp_tuning_free(&tuning);
	return found;
}

/* Each iteration begins with a round; the first or last round alone may be in none. */
static void expect_rounds(put_round *round, uint32_t rounds, const uint32_t *intervals,
			  uint32_t batches)
{
	struct program *program = malloc(sizeof(*program));
	struct gp_iterations found;
	struct gp_model *model;
	uint32_t first = 0;

	build_check(program != NULL);
	srand(rounds);
	model = run(program, round, rounds, intervals, batches);
	found = find(model);
	assert_in_range(found.count, rounds - 1, rounds);
	while (program->starts_ns[first] < found.rows[0].start_ns)
		first++;
	for (uint32_t i = 0; i < found.count; i++)
		assert_int_equal(found.rows[i].start_ns, program->starts_ns[first + i]);
	gp_iterations_free(&found);
	gp_model_free(model);
	free(program);
}

static uint32_t any(uint32_t least, uint32_t most)
{
	return least + (uint32_t)rand() % (most - least + 1);
}

/* As programs have them, and any others of eight and more: fewer are parts of an iteration. */
static void expect_all(put_round *round)
{
	static const uint32_t usual[][INTERVALS] = {
		{0},          {10},       {10, 37},     {10, 100},   {10, 100, 1000}, {20, 50, 200},
		{8, 13, 100}, {50, 1000}, {12, 18, 45}, {0, 25, 70}, {0, 31},         {100, 0, 250},
	};
	static const uint32_t rounds[] = {40, 120, 333, 800, 1120, 2500};

	for (size_t i = 0; i < COUNT(usual); i++)
		for (size_t k = 0; k < COUNT(rounds); k++)
			expect_rounds(round, rounds[k], usual[i], BATCHES);
	for (uint32_t seed = 1; seed <= ANY_PROGRAMS; seed++) {
		uint32_t intervals[INTERVALS];

		srand(seed);
		for (size_t i = 0; i < INTERVALS; i++)
			intervals[i] = any(0, 3) > 0 ? any(8, 120) : 0;
		expect_rounds(round, any(40, 1500), intervals, BATCHES);
	}
}

/* Where nothing is copied, a constant number of rounds may be the layers of a model. */
static void expect_changing(put_round *round)
{
	static const uint32_t usual[][INTERVALS] = {{0},          {10, 37},     {20, 50, 200},
						    {8, 13, 100}, {12, 18, 45}, {0, 25, 70}};
	static const uint32_t rounds[] = {40, 120, 333, 800, 1120, 2500};

	for (size_t i = 0; i < COUNT(usual); i++)
		for (size_t k = 0; k < COUNT(rounds); k++)
			expect_rounds(round, rounds[k], usual[i], BATCHES);
}

static void each_step_of_a_training(void **state)
{
	expect_all(train);
}

static void each_batch_of_an_inference(void **state)
{
	expect_all(infer);
}

static void steps_not_layers(void **state)
{
	expect_all(train_layers);
}

static void steps_not_scanned_layers(void **state)
{
	expect_all(train_scanned_layers);
}

static void two_models_in_a_step(void **state)
{
	expect_all(train_two_models);
}

static void steps_not_parts_of_a_batch(void **state)
{
	expect_all(accumulate);
}

static void steps_with_other_shapes(void **state)
{
	expect_all(train_shapes);
}

static void steps_with_a_rare_branch(void **state)
{
	expect_all(train_rare_branch);
}

static void steps_after_a_warm_up(void **state)
{
	expect_all(train_after_warm_up);
}

static void steps_not_images_of_a_batch(void **state)
{
	expect_all(train_images);
}

static void steps_without_copies(void **state)
{
	expect_changing(train_without_copies);
}

/* As many batches as there are rounds in an epoch. */
static void epochs_with_a_validation(void **state)
{
	for (uint32_t length = 8; length <= 60; length += 4) {
		const uint32_t intervals[INTERVALS] = {0, length, 3 * length};

		expect_rounds(train, 10 * length, intervals, length);
		expect_rounds(train_layers, 10 * length, intervals, length);
		expect_rounds(train_two_models, 10 * length, intervals, length);
	}
}

/* Fewer than eight, always as many, are parts of one iteration; several of these are none. */
static void a_few_rounds_are_parts_of_an_iteration(void **state)
{
	for (uint32_t few = 2; few < 8; few++) {
		const uint32_t intervals[INTERVALS] = {few, 5 * few, 20 * few};
		struct program *program = malloc(sizeof(*program));
		struct gp_iterations found;
		struct gp_model *model;

		build_check(program != NULL);
		model = run(program, train, 200 * few, intervals, 2);
		found = find(model);
		assert_in_range(found.count, 199, 200);
		assert_int_equal(found.passes, few);
		gp_iterations_free(&found);
		gp_model_free(model);
		free(program);
	}
}

static uint32_t count_found(put_round *round, uint32_t rounds, const uint32_t *intervals,
			    uint32_t batches)
{
	struct program *program = malloc(sizeof(*program));
	struct gp_iterations found;
	struct gp_model *model;
	uint32_t count;

	build_check(program != NULL);
	srand(rounds);
	model = run(program, round, rounds, intervals, batches);
	found = find(model);
	count = found.count;
	gp_iterations_free(&found);
	gp_model_free(model);
	free(program);
	return count;
}

/* Nothing tells that they are parts of something. */
static void images_without_a_backward_pass(void **state)
{
	assert_in_range(count_found(infer_images, 100, (const uint32_t[INTERVALS]){0}, BATCHES),
			100 * IMAGES - 1, 100 * IMAGES);
}

/* Each epoch has several backward passes in a row, and is no step of a training. */
static void batches_of_another_model_in_each_epoch(void **state)
{
	assert_in_range(count_found(train_epochs, 20 * EPOCH, (const uint32_t[INTERVALS]){0}, 0),
			20 * 6 * EPOCH - 1, 20 * 6 * EPOCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_step_of_a_training),
		cmocka_unit_test(each_batch_of_an_inference),
		cmocka_unit_test(steps_not_layers),
		cmocka_unit_test(steps_not_scanned_layers),
		cmocka_unit_test(two_models_in_a_step),
		cmocka_unit_test(steps_not_parts_of_a_batch),
		cmocka_unit_test(steps_with_other_shapes),
		cmocka_unit_test(steps_with_a_rare_branch),
		cmocka_unit_test(steps_after_a_warm_up),
		cmocka_unit_test(steps_not_images_of_a_batch),
		cmocka_unit_test(steps_without_copies),
		cmocka_unit_test(epochs_with_a_validation),
		cmocka_unit_test(images_without_a_backward_pass),
		cmocka_unit_test(batches_of_another_model_in_each_epoch),
		cmocka_unit_test(a_few_rounds_are_parts_of_an_iteration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
