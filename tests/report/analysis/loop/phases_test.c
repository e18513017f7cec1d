/* The phases of a loop's steps, and their times. */
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/analysis/loop/phases.h"
#include "report/summary/summary.h"
#include "tests/report/stack_builder.h"
#include "tests/unit.h"
#include "tests/report/expect.h"

#define TORCH    "/v/lib/python3.12/site-packages/torch/"
#define OWN      "/home/me/train.py"
#define STEPS    4u
#define US       1000u
#define STEP_NS  (2800 * US)
#define MAIN     1u
#define AUTOGRAD 2u

/* The stacks of the lines of main(). */
struct lines {
	uint32_t copy, forward, clip, step, save, evaluate;
};

static uint32_t build_line(struct build *b, uint8_t line)
{
	uint32_t frame = build_python(b, BUILD_OUTERMOST, OWN, "<module>", 50);

	return build_python(b, frame, OWN, "main", line);
}

static struct lines build_lines(struct build *b)
{
	return (struct lines){
		.copy = build_line(b, 10),
		.forward = build_python(b, build_line(b, 11), TORCH "nn/functional.py", "gelu", 1),
		.clip = build_python(b, build_line(b, 13), TORCH "nn/utils/clip_grad.py",
				     "clip_grad_norm_", 2),
		.step = build_python(b, build_line(b, 14), TORCH "optim/adam.py", "Adam.step", 3),
		.save = build_python(b, build_line(b, 15), TORCH "serialization.py", "save", 4),
		.evaluate = build_python(b, build_line(b, 16), OWN, "evaluate", 5),
	};
}

/* A call, and the operation that it starts 1 us later. */
static struct gp_op *build_work(struct build *b, uint32_t thread, uint32_t stack, uint64_t start_ns,
				uint64_t length_ns, uint64_t gpu_ns)
{
	uint32_t id = b->model->call_count + 1;
	struct gp_op *op;

	build_call(b, thread, BUILD_LAUNCH, start_ns, length_ns, id);
	build_stack_of_last(b, stack);
	op = build_op(b, GP_OP_KERNEL, 7, start_ns + US, start_ns + US + gpu_ns, id);
	op->name = 0;
	return op;
}

/* Gaps as long as the table of the phases' edges expects. */
static void build_step(struct build *b, const struct lines *lines, uint64_t at)
{
	struct gp_op *copy;

	build_range(b, MAIN, "step", at, at + STEP_NS);
	copy = build_work(b, MAIN, lines->copy, at, 20 * US, 5 * US);
	copy->kind = GP_OP_COPY;
	copy->copy_kind = GP_COPY_HTOD;
	build_work(b, MAIN, lines->forward, at + 160 * US, 40 * US, 10 * US);
	build_work(b, AUTOGRAD, GP_NONE, at + 340 * US, 60 * US, 20 * US);
	build_work(b, MAIN, lines->clip, at + 940 * US, 20 * US, 3 * US);
	build_work(b, MAIN, lines->step, at + 1430 * US, 30 * US, 7 * US);
}

static struct build build_training(struct lines *lines)
{
	struct build b = build_begin(1);

	build_thread(&b, AUTOGRAD, "pt_autograd_0");
	build_name(&b, "k");
	*lines = build_lines(&b);
	for (uint64_t step = 0; step < STEPS; step++)
		build_step(&b, lines, step * STEP_NS);
	return b;
}

static struct gp_phases find(struct build *b)
{
	struct gp_phases phases;
	struct gp_iterations iterations;
	struct gp_tuning tuning;
	struct gp_kinds *kinds = gp_kinds_new(NULL, NULL, 0);

	build_stacks_end(b);
	build_end(b);
	assert_non_null(kinds);
	assert_int_equal(gp_tuning_of(&tuning, b->model), 0);
	assert_int_equal(gp_iterations_of(&iterations, b->model, &tuning), 0);
	assert_int_equal(iterations.count, STEPS);
	gp_phases_of(&phases, b->model, &iterations, kinds);
	gp_iterations_free(&iterations);
	gp_tuning_free(&tuning);
	gp_kinds_free(kinds);
	return phases;
}

static void end(struct build *b, struct gp_phases *phases)
{
	gp_phases_free(phases);
	gp_model_free(b->model);
}

static const struct expected {
	enum gp_phase_kind phase;
	uint64_t host_us, split_us, gpu_us, step_us;
	const char *place;
} training[] = {
	/* after the last step's optimizer, no other phase is known */
	{GP_PHASE_DATA, 3 * 1000, 3 * 1000, 0, 1000, ""},
	{GP_PHASE_TO_DEVICE, 4 * 60 + 3 * 40, 4 * 40 + 3 * 40, 4 * 5, 100, "main (train.py:10)"},
	{GP_PHASE_FORWARD, 4 * 230, 4 * 190, 4 * 10, 230, "gelu < main (train.py:11)"},
	{GP_PHASE_BACKWARD, 4 * 280, 4 * 220, 4 * 20, 280, ""},
	{GP_PHASE_GRADIENTS, 4 * 410, 4 * 390, 4 * 3, 410, "clip_grad_norm_ < main (train.py:13)"},
	{GP_PHASE_OPTIMIZER, 4 * 780 + 1040, 4 * 450 + 3 * 300, 4 * 7, 780,
	 "Adam.step < main (train.py:14)"},
};

static void a_step_is_divided(void **state)
{
	struct lines lines;
	struct build b = build_training(&lines);
	struct gp_phases phases = find(&b);
	uint64_t sum_ns = 0;

	(void)state;
	assert_false(phases.by_functions);
	assert_int_equal(phases.step_count, STEPS);
	assert_int_equal(phases.host_ns, STEPS * STEP_NS);
	assert_int_equal(phases.launches, 5 * STEPS);
	assert_int_equal(phases.with_stack, 4 * STEPS);
	for (size_t i = 0; i < COUNT(training); i++) {
		const struct expected *expected = &training[i];
		const struct gp_phase *phase = &phases.rows[expected->phase];

		assert_string_equal(phase->name, gp_phase_kind_name(expected->phase));
		assert_int_equal(phase->host_ns, expected->host_us * US);
		assert_int_equal(phase->split_ns, expected->split_us * US);
		assert_int_equal(phase->gpu_ns, expected->gpu_us * US);
		assert_int_equal(gp_phases_step_ns(&phases, GP_PHASE_HOST, expected->phase),
				 expected->step_us * US);
		assert_string_equal(phase->place, expected->place);
		sum_ns += phase->host_ns;
	}
	assert_int_equal(sum_ns, phases.host_ns);
	assert_null(phases.rows[GP_PHASE_EVALUATION].name);
	end(&b, &phases);
}

/* Each instant of the loop is of one phase, in the order of a step. */
static void times_follow_each_other(void **state)
{
	static const uint8_t order[] = {GP_PHASE_TO_DEVICE, GP_PHASE_FORWARD,   GP_PHASE_BACKWARD,
					GP_PHASE_GRADIENTS, GP_PHASE_OPTIMIZER, GP_PHASE_DATA,
					GP_PHASE_TO_DEVICE};
	struct lines lines;
	struct build b = build_training(&lines);
	struct gp_phases phases = find(&b);

	(void)state;
	assert_int_equal(phases.time_count, COUNT(order) * (STEPS - 1) + 5);
	for (uint32_t i = 0; i < phases.time_count; i++) {
		assert_int_equal(phases.times[i].step, i / COUNT(order));
		assert_int_equal(phases.times[i].phase, order[i % COUNT(order)]);
		assert_int_equal(phases.times[i].start_ns, i > 0 ? phases.times[i - 1].end_ns : 0);
	}
	end(&b, &phases);
}

/* So many in each gap before a copy, of a checkpoint. */
static struct gp_phases find_with_samples(struct build *b, const struct lines *lines,
					  uint32_t count)
{
	for (uint64_t step = 0; step < STEPS - 1; step++) {
		uint32_t at = BUILD_GROW(b, samples, sample_count);
		uint64_t start_ns = step * STEP_NS + 1600 * US;

		b->model->samples[at] =
			(struct gp_sample){.start_ns = start_ns,
					   .end_ns = count > 1 ? start_ns + 1000 * US : start_ns,
					   .thread_id = MAIN,
					   .stack = lines->save,
					   .count = count};
	}
	return find(b);
}

/* Of three gaps of 1,340 us: the table counts as 16 samples. */
static void a_few_samples_weigh_little(void **state)
{
	struct lines lines;
	struct build b = build_training(&lines);
	struct gp_phases phases = find_with_samples(&b, &lines, 1);

	(void)state;
	assert_int_equal(phases.sample_count, STEPS - 1);
	/* 3 of 19 */
	assert_int_equal(phases.rows[GP_PHASE_CHECKPOINT].host_ns, 3 * 211579u);
	assert_int_equal(phases.rows[GP_PHASE_DATA].host_ns, 3 * 842105u);
	end(&b, &phases);
}

/* As one, where they say that the gap is not what it takes it for. */
static void samples_tell_what_a_gap_is(void **state)
{
	struct lines lines;
	struct build b = build_training(&lines);
	struct gp_phases phases = find_with_samples(&b, &lines, 2);

	(void)state;
	assert_int_equal(phases.sample_count, 2 * (STEPS - 1));
	/* pooled 6 of 7, and then 2 samples beside four: (2 + 4 * 6/7) / 6 of 1,340 us */
	assert_int_equal(phases.rows[GP_PHASE_CHECKPOINT].host_ns, 3 * 1212381u);
	assert_int_equal(phases.rows[GP_PHASE_DATA].host_ns, 3 * 95238u);
	assert_string_equal(phases.rows[GP_PHASE_CHECKPOINT].place, "save < main (train.py:15)");
	end(&b, &phases);
}

/* Between steps, before a copy: what the samples find, a loader or a wait for one; not any work. */
static void only_loaders_load_data(void **state)
{
	static const struct {
		const char *file, *function;
		enum gp_phase_kind phase;
	} cases[] = {{OWN, "collect", GP_PHASE_OTHER},
		     {OWN, "Batches.__next__", GP_PHASE_DATA},
		     {OWN, "make_batch", GP_PHASE_DATA},
		     {"/usr/lib/python3.12/queue.py", "Queue.get", GP_PHASE_DATA},
		     {TORCH "utils/data/dataloader.py", "__next__", GP_PHASE_DATA}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct lines lines;
		struct build b = build_training(&lines);
		struct gp_phases phases;

		lines.save =
			build_python(&b, build_line(&b, 21), cases[i].file, cases[i].function, 5);
		phases = find_with_samples(&b, &lines, 2);
		assert_false(phases.by_functions);
		/* as of samples_tell_what_a_gap_is(); or the table and samples agree */
		if (cases[i].phase == GP_PHASE_OTHER) {
			assert_int_equal(phases.rows[GP_PHASE_OTHER].host_ns, 3 * 1212381u);
			assert_int_equal(phases.rows[GP_PHASE_DATA].host_ns, 3 * 95238u);
			assert_string_equal(phases.rows[GP_PHASE_OTHER].place,
					    "collect (train.py:5)");
		} else {
			assert_null(phases.rows[GP_PHASE_OTHER].name);
			assert_in_range(phases.rows[GP_PHASE_DATA].host_ns, 3 * 1000 * US,
					3 * 1340 * US);
		}
		end(&b, &phases);
	}
}

static void a_wait_is_of_the_call_before(void **state)
{
	struct lines lines;
	struct build b = build_training(&lines);
	struct gp_phases phases;

	(void)state;
	for (uint64_t step = 0; step < STEPS; step++)
		build_call(&b, MAIN, BUILD_DEVICE_SYNC, step * STEP_NS + 20 * US, 100 * US, 0);
	phases = find(&b);
	assert_int_equal(gp_phases_step_ns(&phases, GP_PHASE_HOST, GP_PHASE_TO_DEVICE),
			 (20 + 100 + 11 + 40) * US + 429);
	end(&b, &phases);
}

static void a_run_of_samples_has_a_limit(void **state)
{
	struct lines lines;
	struct build b = build_training(&lines);
	struct gp_phases phases;
	uint32_t at = BUILD_GROW(&b, samples, sample_count);

	(void)state;
	b.model->samples[at] = (struct gp_sample){.start_ns = 1500 * US,
						  .end_ns = 2600 * US,
						  .thread_id = MAIN,
						  .stack = lines.save,
						  .count = UINT32_MAX};
	phases = find(&b);
	assert_int_equal(phases.sample_count, 256);
	end(&b, &phases);
}

/* The call at that time has the stack of a similar one. */
static void estimate(struct build *b, uint64_t start_ns, uint32_t stack)
{
	for (uint32_t i = 0; i < b->model->call_count; i++)
		if (b->model->calls[i].start_ns == start_ns) {
			b->model->calls[i].stack = stack;
			b->model->calls[i].is_estimated = true;
		}
}

/* Before a backward pass it is forward; else a recorded stack of the batch decides. */
static void an_estimated_stack_is_as_its_batch(void **state)
{
	struct lines lines;
	struct build b = build_training(&lines);
	uint64_t last_ns = (STEPS - 1) * STEP_NS;
	struct gp_phases phases;

	(void)state;
	b.model->ops[6].kind = GP_OP_COPY; /* the forward pass of the second step, on the device */
	b.model->ops[6].copy_kind = GP_COPY_DTOD;
	estimate(&b, STEP_NS, lines.evaluate);
	estimate(&b, STEP_NS + 160 * US, lines.evaluate);
	build_work(&b, MAIN, lines.evaluate, last_ns + 1700 * US, 10 * US, 4 * US);
	build_work(&b, MAIN, GP_NONE, last_ns + 1800 * US, 10 * US, 5 * US);
	estimate(&b, last_ns + 1800 * US, lines.forward);
	phases = find(&b);
	assert_int_equal(phases.rows[GP_PHASE_TO_DEVICE].gpu_ns, 4 * 5 * US);
	assert_int_equal(phases.rows[GP_PHASE_FORWARD].gpu_ns, 4 * 10 * US);
	assert_int_equal(phases.rows[GP_PHASE_FORWARD].host_ns, 4 * 230 * US);
	assert_int_equal(phases.rows[GP_PHASE_EVALUATION].gpu_ns, 9 * US);
	end(&b, &phases);
}

/* The data stay on the device: no copy parts an evaluation from the next step's forward pass. */
static void a_recorded_evaluation_ends_before_the_next_forward_pass(void **state)
{
	struct lines lines;
	struct build b = build_training(&lines);
	struct gp_phases phases;

	(void)state;
	b.model->ops[5].kind = GP_OP_KERNEL; /* the copy of the second step */
	b.model->ops[5].name = 0;
	estimate(&b, STEP_NS, lines.evaluate);
	build_work(&b, MAIN, GP_NONE, 1600 * US, 10 * US, 5 * US);
	estimate(&b, 1600 * US, lines.forward);
	build_work(&b, MAIN, lines.evaluate, 1700 * US, 10 * US, 4 * US);
	phases = find(&b);
	assert_int_equal(phases.rows[GP_PHASE_EVALUATION].gpu_ns, 9 * US);
	assert_int_equal(phases.rows[GP_PHASE_FORWARD].gpu_ns, (4 * 10 + 5) * US);
	assert_int_equal(phases.rows[GP_PHASE_TO_DEVICE].gpu_ns, 3 * 5 * US);
	end(&b, &phases);
}

/* Without any stack. What lies between two ranges is other, before a copy data loading. */
static void ranges_name_phases(void **state)
{
	struct build b = build_begin(1);
	struct gp_phases phases;

	(void)state;
	build_name(&b, "k");
	for (uint64_t step = 0; step < STEPS; step++) {
		uint64_t at = step * STEP_NS;

		build_range(&b, MAIN, "step", at, at + STEP_NS);
		build_range(&b, MAIN, "h2d", at, at + 200 * US);
		build_work(&b, MAIN, GP_NONE, at, 10 * US, 5 * US);
		build_range(&b, MAIN, "Forward", at + 300 * US, at + 1300 * US);
		build_work(&b, MAIN, GP_NONE, at + 400 * US, 10 * US, 6 * US);
		build_range(&b, MAIN, "allreduce", at + 500 * US, at + 600 * US);
		build_range(&b, MAIN, "Optimizer.step#Adam.step", at + 1300 * US, at + 1800 * US);
		build_work(&b, MAIN, GP_NONE, at + 1500 * US, 10 * US, 7 * US);
		build_range(&b, MAIN, "clip gradients", at + 1600 * US, at + 1700 * US);
	}
	phases = find(&b);
	assert_false(phases.by_functions);
	assert_int_equal(phases.rows[GP_PHASE_TO_DEVICE].host_ns, STEPS * 200 * US);
	assert_int_equal(phases.rows[GP_PHASE_TO_DEVICE].gpu_ns, STEPS * 5 * US);
	assert_int_equal(phases.rows[GP_PHASE_FORWARD].host_ns, STEPS * 1000 * US);
	assert_int_equal(phases.rows[GP_PHASE_FORWARD].gpu_ns, STEPS * 6 * US);
	assert_int_equal(phases.rows[GP_PHASE_OPTIMIZER].host_ns, (STEPS * 400 + 1000) * US);
	assert_int_equal(phases.rows[GP_PHASE_OPTIMIZER].gpu_ns, STEPS * 7 * US);
	assert_int_equal(phases.rows[GP_PHASE_GRADIENTS].host_ns, STEPS * 100 * US);
	assert_int_equal(phases.rows[GP_PHASE_OTHER].host_ns, STEPS * 100 * US);
	assert_int_equal(phases.rows[GP_PHASE_DATA].host_ns, (STEPS - 1) * 1000 * US);
	end(&b, &phases);
}

/* It had launched all steps before the GPU was done with the first one. */
static void a_host_that_runs_ahead_has_its_own_steps(void **state)
{
	struct build b = build_begin(1);
	struct gp_phases phases;
	uint32_t first, second;

	(void)state;
	build_name(&b, "k");
	first = build_python(&b, build_line(&b, 21), TORCH "nn/functional.py", "gelu", 3);
	second = build_python(&b, build_line(&b, 22), TORCH "optim/adam.py", "Adam.step", 4);
	for (uint64_t step = 0; step < STEPS; step++) {
		uint64_t at = step * 100 * US;
		struct gp_op *op;

		build_range(&b, MAIN, "step", at, at + 100 * US);
		build_work(&b, MAIN, first, at, 60 * US, 0);
		op = build_work(&b, MAIN, second, at + 60 * US, 40 * US, 0);
		op[-1].start_ns = STEPS * 100 * US + step * STEP_NS;
		op->end_ns = op[-1].start_ns + STEP_NS;
		op->start_ns = op[-1].end_ns = op[-1].start_ns + 1000 * US;
	}
	phases = find(&b);
	assert_int_equal(phases.host_ns, STEPS * 100 * US);
	assert_int_equal(phases.rows[GP_PHASE_FORWARD].steps, STEPS);
	assert_int_equal(phases.rows[GP_PHASE_FORWARD].host_ns, STEPS * 60 * US);
	assert_int_equal(phases.rows[GP_PHASE_FORWARD].gpu_ns, STEPS * 1000 * US);
	assert_int_equal(gp_phases_step_ns(&phases, GP_PHASE_GPU, GP_PHASE_OPTIMIZER),
			 STEP_NS - 1000 * US);
	assert_int_equal(phases.rows[GP_PHASE_OPTIMIZER].host_ns, STEPS * 40 * US);
	end(&b, &phases);
}

/*
 * As torch.profiler shows a training: ranges of the optimizer, operators as stacks; the backward
 * thread exchanges gradients for most of its calls, and runs the operators of the forward pass.
 */
static void operators_tell_forward_from_backward(void **state)
{
	struct build b = build_begin(1);
	struct gp_phases phases;
	uint32_t node, product, exchange, forward;

	(void)state;
	build_name(&b, "k");
	build_thread(&b, AUTOGRAD, "thread 2 (python)");
	node = build_python(&b, BUILD_OUTERMOST, "", "MmBackward0", 0);
	product = build_python(&b, node, "", "aten::mm", 0);
	exchange = build_python(&b, node, "", "c10d::allreduce_", 0);
	forward = build_python(&b, build_python(&b, BUILD_OUTERMOST, "", "Net", 0), "", "aten::mm",
			       0);
	for (uint64_t step = 0; step < STEPS; step++) {
		uint64_t at = step * STEP_NS;

		build_range(&b, MAIN, "step", at, at + STEP_NS);
		build_range(&b, MAIN, "Optimizer.zero_grad#SGD.zero_grad", at, at + 100 * US);
		build_work(&b, MAIN, GP_NONE, at, 100 * US, 1 * US);
		build_work(&b, MAIN, forward, at + 100 * US, 900 * US, 10 * US);
		build_work(&b, AUTOGRAD, product, at + 1000 * US, 300 * US, 20 * US);
		for (uint64_t i = 0; i < 4; i++)
			build_work(&b, AUTOGRAD, exchange, at + (1300 + i * 100) * US, 100 * US,
				   3 * US);
		build_work(&b, AUTOGRAD, product, at + 1700 * US, 300 * US, 20 * US);
		build_range(&b, MAIN, "Optimizer.step#SGD.step", at + 2000 * US, at + STEP_NS);
		build_work(&b, MAIN, GP_NONE, at + 2000 * US, 800 * US, 4 * US);
	}
	phases = find(&b);
	assert_int_equal(phases.rows[GP_PHASE_FORWARD].host_ns, STEPS * 900 * US);
	assert_int_equal(phases.rows[GP_PHASE_FORWARD].gpu_ns, STEPS * 10 * US);
	assert_int_equal(phases.rows[GP_PHASE_BACKWARD].host_ns, STEPS * 600 * US);
	assert_int_equal(phases.rows[GP_PHASE_BACKWARD].gpu_ns, STEPS * 40 * US);
	assert_int_equal(phases.rows[GP_PHASE_COMMUNICATION].host_ns, STEPS * 400 * US);
	assert_int_equal(phases.rows[GP_PHASE_OPTIMIZER].host_ns, STEPS * 900 * US);
	end(&b, &phases);
}

/* What is no training has the user's functions as phases. */
static void other_programs_have_functions(void **state)
{
	struct build b = build_begin(1);
	struct gp_phases phases;
	uint32_t line, first, second;

	(void)state;
	build_name(&b, "k");
	line = build_line(&b, 20);
	first = build_python(&b, build_line(&b, 21), OWN, "advance", 3);
	second = build_python(&b, build_line(&b, 22), OWN, "reduce", 4);
	for (uint64_t step = 0; step < STEPS; step++) {
		uint64_t at = step * STEP_NS;

		build_range(&b, MAIN, "step", at, at + STEP_NS);
		build_work(&b, MAIN, first, at, 1000 * US, 10 * US);
		build_work(&b, MAIN, first, at + 1000 * US, 500 * US, 10 * US);
		build_work(&b, MAIN, second, at + 1500 * US, 1000 * US, 3 * US);
		build_work(&b, MAIN, line, at + 2500 * US, 300 * US, 2 * US);
	}
	phases = find(&b);
	assert_true(phases.by_functions);
	assert_string_equal(phases.rows[1].name, "advance (train.py)");
	assert_int_equal(phases.rows[1].host_ns, STEPS * 1500 * US);
	assert_int_equal(phases.rows[1].gpu_ns, STEPS * 20 * US);
	assert_string_equal(phases.rows[2].name, "main (train.py:20)");
	assert_int_equal(phases.rows[2].host_ns, STEPS * 300 * US);
	assert_string_equal(phases.rows[3].name, "reduce (train.py)");
	assert_int_equal(phases.rows[3].host_ns, STEPS * 1000 * US);
	assert_string_equal(phases.rows[3].place, "reduce (train.py:4)");
	end(&b, &phases);
}

/* The line of a wrapper says less than the lines that call it. */
static void a_wrapper_is_no_phase(void **state)
{
	struct build b = build_begin(1);
	struct gp_phases phases;
	uint32_t lines[2];

	(void)state;
	build_name(&b, "k");
	for (uint8_t i = 0; i < COUNT(lines); i++) {
		lines[i] = build_python(&b, build_line(&b, 20), OWN, "advance", 30 + i);
		lines[i] = build_python(&b, lines[i], OWN, "launch", 3);
	}
	for (uint64_t step = 0; step < STEPS; step++) {
		uint64_t at = step * STEP_NS;

		build_range(&b, MAIN, "step", at, at + STEP_NS);
		for (uint64_t i = 0; i < 4; i++)
			build_work(&b, MAIN, lines[i / 3], at + i * 700 * US, 700 * US, 10 * US);
	}
	phases = find(&b);
	assert_string_equal(phases.rows[1].name, "advance (train.py:30)");
	assert_int_equal(phases.rows[1].op_count, STEPS * 3);
	assert_string_equal(phases.rows[2].name, "advance (train.py:31)");
	assert_int_equal(phases.rows[2].op_count, STEPS);
	end(&b, &phases);
}

/* Nearly all calls are of one function, and it makes them at one line. */
static void the_outermost_division_is_taken_if_none_is_even(void **state)
{
	struct build b = build_begin(1);
	struct gp_phases phases;
	uint32_t copy, step_line;

	(void)state;
	build_name(&b, "k");
	copy = build_python(&b, build_line(&b, 20), OWN, "load", 3);
	copy = build_python(&b, copy, OWN, "launch", 9);
	step_line = build_python(&b, build_line(&b, 21), OWN, "advance", 30);
	step_line = build_python(&b, step_line, OWN, "launch", 9);
	for (uint64_t step = 0; step < STEPS; step++) {
		uint64_t at = step * STEP_NS;

		build_range(&b, MAIN, "step", at, at + STEP_NS);
		build_work(&b, MAIN, copy, at, 500 * US, 10 * US);
		for (uint64_t i = 0; i < 23; i++)
			build_work(&b, MAIN, step_line, at + (500 + i * 100) * US, 100 * US,
				   10 * US);
	}
	phases = find(&b);
	assert_string_equal(phases.rows[1].name, "advance (train.py)");
	assert_int_equal(phases.rows[1].host_ns, STEPS * 2300 * US);
	assert_string_equal(phases.rows[1].place, "launch (train.py:9) < advance (train.py:30)");
	assert_string_equal(phases.rows[2].name, "load (train.py)");
	assert_string_equal(phases.rows[2].place, "launch (train.py:9) < load (train.py:3)");
	assert_int_equal(phases.rows[2].host_ns, STEPS * 500 * US);
	end(&b, &phases);
}

/* They have the numbers of phases, and not their meaning. */
static void a_function_is_no_evaluation(void **state)
{
	struct build b = build_begin(1);
	struct gp_phases phases;
	uint32_t functions[9];

	(void)state;
	build_name(&b, "k");
	for (uint8_t i = 0; i < COUNT(functions); i++)
		functions[i] = build_python(&b, build_line(&b, 20 + i), OWN,
					    (char[]){'f', (char)('0' + i), '\0'}, 50);
	for (uint64_t step = 0; step < STEPS; step++) {
		build_range(&b, MAIN, "step", step * STEP_NS, (step + 1) * STEP_NS);
		for (uint32_t i = 0; i < COUNT(functions); i++) {
			build_work(&b, MAIN, functions[i], step * STEP_NS + i * 300 * US, 300 * US,
				   US);
			if (step == 1)
				estimate(&b, step * STEP_NS + i * 300 * US, functions[i]);
		}
	}
	phases = find(&b);
	assert_true(phases.by_functions);
	for (uint32_t i = 0; i < COUNT(functions); i++)
		assert_int_equal(phases.rows[i + 1].gpu_ns, STEPS * US);
	end(&b, &phases);
}

/* A loop in a function that is called like a phase is none. */
static void a_loop_may_be_called_as_a_phase(void **state)
{
	struct build b = build_begin(1);
	struct gp_phases phases;
	uint32_t loop, forward, step;

	(void)state;
	build_name(&b, "k");
	loop = build_python(&b, BUILD_OUTERMOST, OWN, "test", 5);
	forward = build_python(&b, loop, TORCH "nn/functional.py", "gelu", 1);
	step = build_python(&b, loop, TORCH "optim/adam.py", "Adam.step", 3);
	for (uint64_t i = 0; i < STEPS; i++) {
		build_range(&b, MAIN, "step", i * STEP_NS, (i + 1) * STEP_NS);
		build_work(&b, MAIN, forward, i * STEP_NS, 1800 * US, US);
		build_work(&b, MAIN, step, i * STEP_NS + 1800 * US, 1000 * US, US);
	}
	phases = find(&b);
	assert_false(phases.by_functions);
	assert_null(phases.rows[GP_PHASE_EVALUATION].name);
	assert_int_equal(phases.rows[GP_PHASE_FORWARD].host_ns, STEPS * 1800 * US);
	assert_int_equal(phases.rows[GP_PHASE_OPTIMIZER].host_ns, STEPS * 1000 * US);
	end(&b, &phases);
}

static void without_stacks_nothing_is_known(void **state)
{
	struct build b = build_begin(1);
	struct gp_phases phases;

	(void)state;
	build_name(&b, "k");
	for (uint64_t i = 0; i < STEPS; i++) {
		build_range(&b, MAIN, "step", i * STEP_NS, (i + 1) * STEP_NS);
		build_work(&b, MAIN, GP_NONE, i * STEP_NS, 100 * US, US);
	}
	phases = find(&b);
	assert_int_equal(phases.time_count, 0);
	for (int i = 0; i < GP_PHASE_KINDS; i++)
		assert_null(phases.rows[i].name);
	end(&b, &phases);
}

/* Most of the idle time is startup, of the first step. */
static void the_warm_up_is_no_cause_of_later_steps(void **state)
{
	struct gp_phase phase = {.state_ns = {[GP_STATE_IDLE + GP_IDLE_SETUP] = 90 * US,
					      [GP_STATE_IDLE + GP_IDLE_HOST] = 30 * US}};
	uint64_t idle_ns;

	assert_int_equal(gp_phase_idle_cause(&phase, &idle_ns), GP_IDLE_SETUP);
	phase.after_ns[GP_STATE_IDLE + GP_IDLE_HOST] = 20 * US;
	assert_int_equal(gp_phase_idle_cause(&phase, &idle_ns), GP_IDLE_HOST);
	assert_int_equal(idle_ns, 120 * US);
}

/* In the summary, by the host's time of a step. */
static void the_summary_has_a_row_for_each_phase(void **state)
{
	const struct gp_summary_options options = {.brief = true};
	struct lines lines;
	struct build b = build_training(&lines);
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	struct gp_model *model;

	(void)state;
	build_stacks_end(&b);
	model = build_end(&b);
	assert_int_equal(gp_summary_print(out, &model, 1, &options), 0);
	fclose(out);
	expect(text,
	       "\n  780.0us  7.000us  773.0us      4  optimizer                   host-bound    Adam.step < main (train.py:14)\n"
	       "  1.000ms      0ns  1.000ms      3  data loading                host-bound    -\n"
	       "  410.0us  3.000us  407.0us      4  gradient clipping, scaling  host-bound    clip_grad_norm_ ...(train.py:13)\n"
	       "  280.0us  20.00us  260.0us      4  backward                    host-bound    -\n");
	free(text);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_warm_up_is_no_cause_of_later_steps),
		cmocka_unit_test(the_summary_has_a_row_for_each_phase),
		cmocka_unit_test(a_step_is_divided),
		cmocka_unit_test(times_follow_each_other),
		cmocka_unit_test(a_few_samples_weigh_little),
		cmocka_unit_test(samples_tell_what_a_gap_is),
		cmocka_unit_test(only_loaders_load_data),
		cmocka_unit_test(a_wait_is_of_the_call_before),
		cmocka_unit_test(a_run_of_samples_has_a_limit),
		cmocka_unit_test(an_estimated_stack_is_as_its_batch),
		cmocka_unit_test(a_recorded_evaluation_ends_before_the_next_forward_pass),
		cmocka_unit_test(ranges_name_phases),
		cmocka_unit_test(a_host_that_runs_ahead_has_its_own_steps),
		cmocka_unit_test(operators_tell_forward_from_backward),
		cmocka_unit_test(other_programs_have_functions),
		cmocka_unit_test(a_wrapper_is_no_phase),
		cmocka_unit_test(the_outermost_division_is_taken_if_none_is_even),
		cmocka_unit_test(a_function_is_no_evaluation),
		cmocka_unit_test(a_loop_may_be_called_as_a_phase),
		cmocka_unit_test(without_stacks_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
