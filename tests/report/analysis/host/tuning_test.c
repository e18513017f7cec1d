#include <stdlib.h>

#include "report/analysis/loop/iterations.h"
#include "report/analysis/host/tuning.h"
#include "tests/unit.h"
#include "tests/report/stack_builder.h"

#define MANY 200000u /* what takes a step for each pair of them takes minutes */

#define TORCH "/x/site-packages/torch/_inductor/runtime/"

/* A kernel that is launched with that stack, and runs for 100 ns. */
static void build_kernel(struct build *b, uint32_t thread, uint64_t time_ns, uint32_t name,
			 uint32_t stack)
{
	uint32_t id = b->model->call_count + 1;

	build_call(b, thread, BUILD_LAUNCH, time_ns, 5, id);
	b->model->calls[b->model->call_count - 1].stack = stack;
	build_op(b, GP_OP_KERNEL, 7, time_ns + 100, time_ns + 200, id)->name = name;
}

static struct gp_tuning find(const struct gp_model *model)
{
	struct gp_tuning tuning;
	uint64_t ops = 0;

	assert_int_equal(gp_tuning_of(&tuning, model), 0);
	for (int i = 0; i < GP_TUNERS; i++)
		ops += tuning.ops[i];
	assert_int_equal(ops, model->op_count);
	assert_int_equal(gp_tuning_has_any(model, &tuning),
			 tuning.ops[GP_TUNER_NONE] < model->op_count);
	return tuning;
}

/* Whatever is called by a benchmark is of it; the outermost has it. */
static void stacks_tell_who_tries_kernels_out(void **state)
{
	struct build b = build_begin(1);
	uint32_t user = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "main", 3);
	uint32_t choice =
		build_python(&b, user, "/x/torch/_inductor/scheduler.py", "Scheduler.fuse", 7);
	uint32_t inductor =
		build_python(&b, choice, TORCH "benchmarking.py", "Benchmarker.benchmark_gpu", 1);
	uint32_t within = build_python(&b, inductor, "/x/triton/testing.py", "do_bench", 1);
	uint32_t triton =
		build_python(&b, user, "/x/triton/runtime/autotuner.py", "Autotuner._bench", 1);
	uint32_t launcher = build_python(&b, within, "/home/me/train.py", "launch", 9);
	uint32_t name = build_name(&b, "k");
	const uint32_t stacks[] = {user, inductor, launcher, triton, within};
	struct gp_tuning tuning;
	struct gp_model *model;

	for (uint32_t i = 0; i < 5; i++)
		build_kernel(&b, 1, i * 1000, name, stacks[i]);
	b.model->ops[2].kind = GP_OP_COPY; /* from host to host: no time of a GPU */
	b.model->ops[2].copy_kind = GP_COPY_HTOH;
	build_stacks_end(&b);
	model = build_end(&b);
	tuning = find(model);
	assert_int_equal(tuning.ops[GP_TUNER_NONE], 1);
	assert_int_equal(tuning.ops[GP_TUNER_INDUCTOR], 3);
	assert_int_equal(tuning.ops[GP_TUNER_TRITON], 1);
	assert_int_equal(tuning.ns[GP_TUNER_INDUCTOR], 200);
	assert_int_equal(tuning.of[0], GP_TUNER_NONE);
	assert_false(tuning.lacks_stacks);
	gp_tuning_free(&tuning);
	gp_model_free(model);
}

/*
 * A user's own function or file of that name is not the library's; nor is a benchmark that the user
 * asked a library for.
 */
static void users_own_benchmarks_are_work(void **state)
{
	struct build b = build_begin(1);
	uint32_t user = build_python(&b, BUILD_OUTERMOST, "/home/me/benchmarking.py", "bench", 3);
	uint32_t torch =
		build_python(&b, user, TORCH "triton_heuristics.py", "CachingAutotuner.run", 3);
	uint32_t script = build_python(&b, user, "/x/triton/testing.py", "do_bench", 1);
	uint32_t bench =
		build_python(&b, user, TORCH "benchmarking.py", "Benchmarker.benchmark_gpu", 1);
	uint32_t timed = build_python(&b, bench, "/x/torch/_inductor/output_code.py", "call", 1);
	struct gp_tuning tuning;
	struct gp_model *model;

	build_kernel(&b, 1, 0, build_name(&b, "DelayKernel_of_mine"), torch);
	build_kernel(&b, 1, 500, 0, script);
	build_kernel(&b, 1, 600, 0, bench);
	build_kernel(&b, 1, 700, 0, timed);
	build_kernel(&b, 1, 1000, 0, GP_NONE);
	build_stacks_end(&b);
	model = build_end(&b);
	tuning = find(model);
	assert_int_equal(tuning.ops[GP_TUNER_NONE], 5);
	assert_true(tuning.lacks_stacks);
	gp_tuning_free(&tuning);
	gp_model_free(model);
}

/*
 * Without stacks of calls: what a thread started between two looks that both found it in the tuner,
 * or in a run of such looks.
 */
static void looks_tell_of_calls_without_stacks(void **state)
{
	static const uint64_t calls_ms[] = {5, 15, 25, 35, 45, 55};
	struct build b = build_begin(1);
	uint32_t user = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "main", 3);
	uint32_t triton =
		build_python(&b, user, "/x/triton/runtime/autotuner.py", "Autotuner._bench", 1);
	uint32_t within = build_python(&b, triton, "/x/triton/testing.py", "do_bench", 1);
	uint32_t name = build_name(&b, "k");
	/* the other thread's tuner is around the last two */
	const struct gp_sample looks[] = {
		build_sample(1, user, 0, 0),     build_sample(1, triton, 10, 10),
		build_sample(1, within, 20, 30), build_sample(1, user, 40, 40),
		build_sample(2, triton, 40, 60),
	};
	struct gp_tuning tuning;
	struct gp_model *model;

	for (uint32_t i = 0; i < 6; i++)
		build_kernel(&b, 1, calls_ms[i] * 1000000, name, GP_NONE);
	/* what has a stack needs no sample; nothing is known of what has no call */
	build_kernel(&b, 1, 57000000, name, user);
	build_op(&b, GP_OP_KERNEL, 7, 90000000, 90001000, 0);
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t at = BUILD_GROW(&b, samples, sample_count);

		b.model->samples[at] = looks[i];
	}
	build_stacks_end(&b);
	model = build_end(&b);
	tuning = find(model);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(tuning.of[i], i == 1 || i == 2 ? GP_TUNER_TRITON : GP_TUNER_NONE);
	assert_true(tuning.lacks_stacks);
	gp_tuning_free(&tuning);
	gp_model_free(model);
}

/*
 * XLA's autotuner without stacks: its kernels, and modules that run while it compiles but are no
 * programs.
 */
static struct gp_model *build_jax(void)
{
	struct build b = build_begin(1);
	uint32_t checker =
		build_name(&b, "_ZN15stream_executor3gpu26RedzoneAllocatorKernelImplEPhhmPm");
	uint32_t dot = build_name(&b, "gemm_fusion_dot_1"), add = build_name(&b, "loop_add");

	build_range(&b, 1, "XlaCompile:#module=jit_step#", 0, 100000);
	for (uint32_t i = 0; i < 12; i++) {
		uint64_t at = 200000 + i * 1000;

		build_range(&b, 1, "XlaModule:#hlo_module=jit_step,program_id=7#", at, at + 900);
		build_kernel(&b, 1, at + 10, dot, GP_NONE);
		build_kernel(&b, 1, at + 300, add, GP_NONE);
	}
	for (uint32_t i = 0; i < 40; i++) {
		uint64_t at = 1000 + i * 2000;

		build_range(&b, 2, "XlaModule:#hlo_module=gemm_fusion_dot.1#", at, at + 900);
		build_kernel(&b, 2, at + 10, dot, GP_NONE);
		build_kernel(&b, 2, at + 1000, checker, GP_NONE);
	}
	return build_end(&b);
}

static void xla_is_known_by_names(void **state)
{
	struct gp_model *model = build_jax();
	struct gp_tuning tuning = find(model);

	assert_int_equal(tuning.ops[GP_TUNER_XLA], 80);
	assert_int_equal(tuning.ops[GP_TUNER_NONE], 24);
	assert_true(tuning.lacks_stacks);
	gp_tuning_free(&tuning);
	gp_model_free(model);
}

/* The program's steps are, though the autotuner's repeat more often and for longer. */
static void autotuning_is_no_loop(void **state)
{
	struct gp_model *model = build_jax();
	struct gp_tuning tuning = find(model);
	struct gp_iterations found;

	assert_int_equal(gp_iterations_of(&found, model, &tuning), 0);
	assert_true(found.by_range);
	assert_int_equal(found.count, 12);
	assert_string_equal(found.name, "XlaModule:#hlo_module=jit_step,program_id=*#");
	gp_iterations_free(&found);
	/* the same without ranges */
	model->range_count = 0;
	assert_int_equal(gp_iterations_of(&found, model, &tuning), 0);
	assert_false(found.by_range);
	assert_int_equal(found.count, 12);
	gp_iterations_free(&found);
	gp_tuning_free(&tuning);
	gp_model_free(model);
}

/* A step that runs beside a compilation is still the program's. */
static void programs_beside_a_compilation_are_work(void **state)
{
	struct build b = build_begin(1);
	struct gp_tuning tuning;
	struct gp_model *model;

	build_name(&b, "k");
	build_range(&b, 1, "XlaCompile:#module=jit_f#", 0, 5000);
	build_range(&b, 1, "XlaCompile:#module=jit_g#", 8000, 9000);
	build_range(&b, 2, "XlaModule:#hlo_module=jit_g,program_id=1#", 1000, 2000);
	build_range(&b, 2, "XlaModule:#hlo_module=dot#", 6000, 7000);
	build_range(&b, 2, "XlaModule:#hlo_module=dot#", 8500, 9500);
	for (uint32_t i = 0; i < 9; i++)
		build_kernel(&b, 2, 500 + i * 1000, 0, GP_NONE);
	model = build_end(&b);
	tuning = find(model);
	assert_false(gp_tuning_has_any(model, &tuning));
	gp_tuning_free(&tuning);
	gp_model_free(model);
}

/*
 * Modules in modules and behind modules, of threads that overlap: each operation in any of them,
 * and no other.
 */
static void modules_are_marked_to_the_last_of_them(void **state)
{
	struct build b = build_begin(1);
	const bool inside[] = {false, true, true, true, true, true, true, false, true, false};
	struct gp_tuning tuning;
	struct gp_model *model;

	build_name(&b, "k");
	build_range(&b, 1, "XlaCompile:#module=jit_f#", 0, 100000);
	for (uint32_t thread = 2; thread <= 3; thread++) {
		build_range(&b, thread, "XlaModule:#hlo_module=a#", 1000, 6000);
		build_range(&b, thread, "XlaModule:#hlo_module=b#", 2000, 3000);
		build_range(&b, thread, "XlaModule:#hlo_module=c#", 2500, 2700);
		build_range(&b, thread, "XlaModule:#hlo_module=d#", 8000, 8000);
		for (uint32_t i = 0; i < 10; i++)
			build_kernel(&b, thread, i * 1000, 0, GP_NONE);
	}
	model = build_end(&b);
	tuning = find(model);
	assert_int_equal(tuning.ops[GP_TUNER_XLA], 14);
	for (uint32_t i = 0; i < model->op_count; i++)
		assert_int_equal(tuning.of[i],
				 inside[model->calls[model->ops[i].call].start_ns / 1000]
					 ? GP_TUNER_XLA
					 : GP_TUNER_NONE);
	gp_tuning_free(&tuning);
	gp_model_free(model);
}

/* Every module lies in all that were opened before it, every operation in all modules. */
static void time_does_not_grow_with_the_square_of_ranges(void **state)
{
	struct build b = build_begin(1);
	struct gp_iterations found;
	struct gp_tuning tuning;
	struct gp_model *model;

	build_name(&b, "k");
	build_range(&b, 1, "XlaCompile:#module=jit_f#", 0, 10 * MANY);
	for (uint32_t i = 1; i < MANY; i++)
		build_range(&b, 1, "XlaModule:#hlo_module=dot#", i, 9 * MANY - i);
	for (uint32_t i = 0; i < MANY; i++)
		build_kernel(&b, 1, 2 * MANY + i, 0, GP_NONE);
	build_kernel(&b, 1, 20 * MANY, 0, GP_NONE);
	model = build_end(&b);
	tuning = find(model);
	assert_int_equal(tuning.ops[GP_TUNER_XLA], MANY);
	assert_int_equal(tuning.ops[GP_TUNER_NONE], 1);
	assert_int_equal(gp_iterations_of(&found, model, &tuning), 0);
	assert_int_equal(found.count, 0);
	gp_iterations_free(&found);
	gp_tuning_free(&tuning);
	gp_model_free(model);
}

static void nothing_is_of_nothing(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model = build_end(&b);
	struct gp_tuning tuning = find(model);

	assert_false(gp_tuning_has_any(model, &tuning));
	assert_false(tuning.lacks_stacks);
	gp_tuning_free(&tuning);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_tell_who_tries_kernels_out),
		cmocka_unit_test(users_own_benchmarks_are_work),
		cmocka_unit_test(looks_tell_of_calls_without_stacks),
		cmocka_unit_test(xla_is_known_by_names),
		cmocka_unit_test(autotuning_is_no_loop),
		cmocka_unit_test(programs_beside_a_compilation_are_work),
		cmocka_unit_test(modules_are_marked_to_the_last_of_them),
		cmocka_unit_test(time_does_not_grow_with_the_square_of_ranges),
		cmocka_unit_test(nothing_is_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
