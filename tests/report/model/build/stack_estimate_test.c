/* stack_estimate: launches without a stack get that of a similar one, and the error is measured. */
#include "tests/unit.h"

#include <stdlib.h>

#include "gpuprof/count.h"
#include "tests/report/trace_builder.h"

#define KERNELS 4
#define STACKS  9
#define MOST    20000

struct launch {
	uint32_t kernel, shape, stack;
};

/* A thread that launches, of which a trace has some stacks. */
struct program {
	struct launch launches[MOST];
	uint32_t count;
	uint32_t random;
};

static uint32_t draw(struct program *program, uint32_t below)
{
	program->random = program->random * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)program->random * below >> 32);
}

static void launch(struct program *program, uint32_t kernel, uint32_t shape, uint32_t stack)
{
	program->launches[program->count++] = (struct launch){kernel, shape, stack};
}

static void add_definitions(struct gp_builder *b)
{
	for (uint32_t i = 1; i <= KERNELS; i++) {
		char name[] = "kernel0";

		name[6] = (char)('0' + i);
		gp_builder_string(b, GP_STRING_KERNEL, 10 + i, 0, name);
		gp_builder_add(b, &(struct gp_record_shape){.kind = GP_RECORD_SHAPE,
							    .id = 10 + i,
							    .grid = {i, 1, 1},
							    .block = {32, 1, 1}});
	}
	for (uint32_t i = 1; i <= STACKS; i++)
		gp_builder_add(b, &(struct gp_record_frame){.kind = GP_RECORD_FRAME,
							    .frame_kind = GP_FRAME_NATIVE,
							    .id = i,
							    .parent_id = i < 5   ? 0
									 : i < 7 ? 4
									 : i > 7 ? 7
										 : 0,
							    .address = 0x1000 + i});
}

static void add_launch(struct gp_builder *b, uint32_t number, const struct launch *launch,
		       bool has_stack)
{
	uint64_t start_ns = 1000 * number;

	gp_builder_add(b, &(struct gp_record_call){.kind = GP_RECORD_CALL,
						   .api = GP_TEST_LAUNCH,
						   .correlation_id = number,
						   .start_ticks = GP_TEST_AT_TICK(start_ns),
						   .duration_low_ticks = 100,
						   .stack_id = has_stack ? launch->stack : 0});
	gp_builder_add(b, &(struct gp_record_kernel){.kind = GP_RECORD_KERNEL,
						     .correlation_id = number,
						     .start_ns = GP_TEST_CUPTI(start_ns + 200),
						     .end_ns = GP_TEST_CUPTI(start_ns + 700),
						     .name_id = 10 + launch->kernel,
						     .shape_id = 10 + launch->shape,
						     .context_id = 1,
						     .stream_id = 7});
}

/* One in so many has its stack, and the first of each kernel with its shape. */
static struct gp_model *record(struct program *program, uint32_t one_in, const char *options)
{
	bool seen[KERNELS + 1][KERNELS + 1] = {0};
	struct gp_builder b;

	gp_builder_begin(&b, 100);
	gp_builder_string(&b, GP_STRING_INFO, GP_INFO_OPTIONS, 0, options);
	add_definitions(&b);
	for (uint32_t i = 0; i < program->count; i++) {
		const struct launch *one = &program->launches[i];
		bool *is_known = &seen[one->kernel][one->shape];

		if (i % 1000 == 0)
			gp_builder_chunk(&b, 1, 100);
		add_launch(&b, i + 1, one, !*is_known || draw(program, one_in) == 0);
		*is_known = true;
	}
	return gp_builder_finish(&b);
}

static uint32_t count_wrong(const struct program *program, const struct gp_model *m)
{
	uint32_t wrong = 0;

	assert_int_equal(m->call_count, program->count);
	for (uint32_t i = 0; i < m->call_count; i++)
		wrong += m->calls[i].stack == GP_NONE ||
			 m->frames[m->calls[i].stack].id != program->launches[i].stack;
	return wrong;
}

static double error_of(const struct gp_model *m)
{
	return (double)m->stack_estimate.wrong_ns / (double)m->stack_estimate.checked_ns;
}

static struct program *new_program(void)
{
	struct program *program = calloc(1, sizeof(*program));

	assert_non_null(program);
	program->random = 7;
	return program;
}

/* Two layers of the same twelve launches, at two lines; only what comes before both differs. */
static void layers_are_told_apart_by_what_was_long_before(void **state)
{
	struct program *program = new_program();
	struct gp_model *m;

	for (uint32_t step = 0; step < 400; step++) {
		launch(program, 4, 4, 9);
		for (uint32_t line = 1; line <= 2; line++)
			for (uint32_t i = 0; i < 12; i++)
				launch(program, 1 + i % 2, 1, line);
	}
	m = record(program, 5, "--stacks=sample");
	/* of the first steps, not every place was sampled before */
	assert_true(count_wrong(program, m) * 100 < program->count);
	assert_true(error_of(m) < 0.05);
	gp_model_free(m);
	free(program);
}

/* Five lines launch the same kernel with the same shape; others come between. */
static void a_loop_is_exact(void **state)
{
	struct program *program = new_program();
	struct gp_model *m;

	for (uint32_t i = 0; i < 1500; i++) {
		launch(program, 1, 1, 1);
		launch(program, 2, 1, 2);
		launch(program, 2, 1, 3);
		launch(program, 3, 1, 4);
		launch(program, 2, 1, 5);
		launch(program, 2, 2, 6);
		launch(program, 3, 1, 4);
		launch(program, 1, 2, 7);
		launch(program, 2, 1, 8);
	}
	m = record(program, 20, "STACKS=alloc,sample");
	/* but for the beginning, where two launches ago nothing was */
	assert_true(count_wrong(program, m) <= 2);
	assert_int_equal(m->stack_estimate.sampled_calls + m->stack_estimate.estimated_calls,
			 program->count);
	assert_int_equal(m->stack_estimate.unknown_calls, 0);
	assert_int_equal(m->stack_estimate.sampled_ns + m->stack_estimate.estimated_ns,
			 500 * program->count);
	assert_true(m->stack_estimate.checked_calls > program->count / 2);
	assert_true(error_of(m) < 0.01);
	gp_model_free(m);
	free(program);
}

/* One of three lines at random: two of three estimates are wrong, and the error says so. */
static void the_error_of_an_irregular_program_is_known(void **state)
{
	struct program *program = new_program();
	struct gp_model *m;
	double wrong;

	for (uint32_t i = 0; i < MOST; i++)
		launch(program, 1, 1, 1 + draw(program, 3));
	m = record(program, 10, "STACKS=sample");
	wrong = count_wrong(program, m) / (double)m->stack_estimate.estimated_calls;
	assert_true(wrong > 0.62 && wrong < 0.72);
	assert_true(error_of(m) > wrong - 0.05 && error_of(m) < wrong + 0.05);
	gp_model_free(m);
	free(program);
}

/* Half of the time in a loop, half in random order. */
static void the_error_is_a_share_of_the_time(void **state)
{
	struct program *program = new_program();
	struct gp_model *m;
	double wrong;

	for (uint32_t i = 0; i < MOST / 4; i++) {
		launch(program, 1, 1, 1);
		launch(program, 2, 1, 2);
		launch(program, 3, 1, 3 + draw(program, 4));
		launch(program, 4, 1, 7 + draw(program, 2));
	}
	m = record(program, 6, "");
	wrong = count_wrong(program, m) / (double)m->stack_estimate.estimated_calls;
	assert_true(wrong > 0.27 && wrong < 0.36); /* (3/4 + 1/2) / 4 */
	assert_true(error_of(m) > wrong - 0.04 && error_of(m) < wrong + 0.04);
	gp_model_free(m);
	free(program);
}

static void other_recordings_are_left_alone(void **state)
{
	static const char *const options[] = {"STACKS=alloc", "STACKS=launch,sample", "STACKS=all",
					      "STACKS=none"};
	struct program *program = new_program();

	for (uint32_t i = 0; i < 100; i++)
		launch(program, 1, 1, 1);
	for (size_t i = 0; i < COUNT(options); i++) {
		struct gp_model *m = record(program, 10, options[i]);

		assert_int_equal(m->stack_estimate.estimated_calls, 0);
		assert_int_equal(m->calls[50].is_estimated, 0);
		gp_model_free(m);
	}
	free(program);
}

/* Neither a failed launch nor one of another thread before it tells what was called before. */
static void a_thread_has_its_own_order(void **state)
{
	static const struct launch mine[] = {{1, 1, 1}, {2, 1, 2}, {1, 1, 1}, {2, 1, 2}},
				   others[] = {{3, 1, 3}, {2, 1, 4}, {3, 1, 3}, {2, 1, 4}};
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, 100);
	add_definitions(&b);
	for (uint32_t i = 0; i < 4; i++) {
		gp_builder_chunk(&b, 1, 100);
		add_launch(&b, 10 + 4 * i, &mine[i], i < 2);
		gp_builder_chunk(&b, 2, 200);
		add_launch(&b, 11 + 4 * i, &others[i], i < 2);
	}
	m = gp_builder_finish(&b);
	assert_int_equal(m->call_count, 8);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(m->frames[m->calls[i].stack].id, mine[i].stack);
		assert_int_equal(m->frames[m->calls[4 + i].stack].id, others[i].stack);
		assert_int_equal(m->calls[i].is_estimated, i >= 2);
	}
	gp_model_free(m);
}

/* A kernel that one thread launches without any sample of it has the stack of another thread's. */
static void another_thread_is_the_last_resort(void **state)
{
	static const struct launch one = {1, 1, 1}, other = {1, 2, 2}, unknown = {2, 1, 3};
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_begin(&b, 100);
	add_definitions(&b);
	add_launch(&b, 1, &one, true);
	gp_builder_chunk(&b, 2, 200);
	add_launch(&b, 2, &other, false);
	add_launch(&b, 3, &unknown, false);
	m = gp_builder_finish(&b);
	assert_int_equal(m->frames[m->calls[1].stack].id, 1);
	assert_true(m->calls[1].is_estimated);
	assert_int_equal(m->calls[2].stack, GP_NONE);
	assert_int_equal(m->stack_estimate.unknown_calls, 1);
	assert_int_equal(m->stack_estimate.checked_calls, 0);
	gp_model_free(m);
}

/* Two functions launch the same kernels in the same order, by turns for a while. */
static void the_callers_of_neighbors_tell_which_work_it_is(void **state)
{
	struct program *program = new_program();
	struct gp_model *m;

	for (uint32_t turn = 0; turn < 20; turn++)
		for (uint32_t i = 0; i < 40; i++) {
			launch(program, 1, 1, turn % 2 == 0 ? 5 : 8);
			launch(program, 2, 1, turn % 2 == 0 ? 6 : 9);
		}
	m = record(program, 8, "STACKS=alloc,sample");
	/* up to the first sample of a turn nothing tells of it: 8 launches of 80 */
	assert_in_range(count_wrong(program, m), 20, 20 * 12);
	gp_model_free(m);
	free(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_is_exact),
		cmocka_unit_test(layers_are_told_apart_by_what_was_long_before),
		cmocka_unit_test(the_callers_of_neighbors_tell_which_work_it_is),
		cmocka_unit_test(the_error_of_an_irregular_program_is_known),
		cmocka_unit_test(the_error_is_a_share_of_the_time),
		cmocka_unit_test(other_recordings_are_left_alone),
		cmocka_unit_test(a_thread_has_its_own_order),
		cmocka_unit_test(another_thread_is_the_last_resort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
