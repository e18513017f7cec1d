#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/advice/advice.h"
#include "report/advice/rules/host_time.h"
#include "tests/report/ask_advice.h"
#include "tests/report/stack_builder.h"

#define MS 1000000u

#define DYNAMO  "/x/torch/_dynamo/convert_frame.py"
#define CUPY    "/x/cupy/cuda/compiler.py"
#define IMPORTS "<frozen importlib._bootstrap>"
#define BENCH   "/x/torch/_inductor/runtime/benchmarking.py"

/* The file of a function on the stack of each call; NULL = the user's own is all that there is. */
struct calls {
	const char *before, *within, *after;
	/* the same of a look at Python's stack meanwhile; NULL = there was none */
	const char *looked;
	uint32_t until_ms; /* looks found that; 0 = 210 */
	bool other_thread; /* the first is of one, which has no Python on its stacks */
	const char *command;
};

static uint32_t find_stack(struct build *b, uint32_t user, const char *file)
{
	if (!file)
		return user;
	if (strcmp(file, BENCH) == 0)
		user = build_python(b, user, "/x/torch/_inductor/scheduler.py", "f", 2);
	return build_python(b, user, file, strcmp(file, IMPORTS) ? "f" : "_find_and_load", 2);
}

/* A kernel, 500 ms of which the host has one call in the middle, and a kernel. */
static struct gp_model *wait_for_host(const struct calls *calls)
{
	struct build b = build_begin(1);
	const char *const files[] = {calls->before, calls->within, calls->after};
	uint32_t user = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "main", 1);

	build_device(&b, 0, "GPU");
	build_thread(&b, 100, "python3");
	if (calls->command)
		build_info(&b, GP_INFO_COMMAND, calls->command);
	build_api(&b, 98, "cuModuleLoadData", GP_API_MODULE);
	if (calls->other_thread) {
		build_call(&b, 100, BUILD_DEVICE_SYNC, MS / 2, 1000, 0);
		build_stack_of_last(&b, find_stack(&b, user, calls->before));
	}
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t at_ns = MS + i * 250 * MS;
		bool is_other = i == 0 && calls->other_thread;

		build_call(&b, is_other ? 101 : 100, i == 1 ? 98 : BUILD_LAUNCH, at_ns,
			   i == 1 ? 60 * MS : 10000, i + 1);
		if (!is_other)
			build_stack_of_last(&b, find_stack(&b, user, files[i]));
		if (i != 1)
			build_op(&b, GP_OP_KERNEL, 7, at_ns + 20000, at_ns + 50000, i + 1);
	}
	if (calls->looked) {
		uint32_t stack = find_stack(&b, user, calls->looked);
		uint32_t index = BUILD_GROW(&b, samples, sample_count);

		b.model->samples[index] =
			build_sample(100, stack, 10, calls->until_ms > 0 ? calls->until_ms : 210);
	}
	build_stacks_end(&b);
	return build_end(&b);
}

/* What gpu-gaps says of it holds these texts, and not that one. */
static void check(const struct calls *calls, const char *found_part, const char *change_part,
		  const char *not_found)
{
	struct gp_model *model = wait_for_host(calls);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "gpu-gaps");

	assert_non_null(found);
	assert_non_null(strstr(found->found, found_part));
	assert_non_null(strstr(found->change, change_part));
	if (not_found)
		assert_null(strstr(found->found, not_found));
	gp_advice_free(&advice);
	gp_model_free(model);
}

static void compilers_are_told_by_stacks(void **state)
{
	check(&(struct calls){.before = DYNAMO},
	      "torch.compile was compiling or loading compiled code when it began",
	      "TORCHINDUCTOR_CACHE_DIR", "ended");
	check(&(struct calls){.before = DYNAMO, .after = DYNAMO},
	      "torch.compile was compiling or loading compiled code when it began and when it ended",
	      "TORCHINDUCTOR_CACHE_DIR", NULL);
	check(&(struct calls){.within = CUPY}, "CuPy was compiling or loading compiled code in it",
	      "CUPY_CACHE_DIR", NULL);
	check(&(struct calls){.after = BENCH}, "the next call is of PyTorch Inductor's benchmarks",
	      "TORCHINDUCTOR_CACHE_DIR", "compiling");
	check(&(struct calls){.within = IMPORTS, .after = DYNAMO},
	      "torch.compile was compiling or loading compiled code when it ended",
	      "TORCHINDUCTOR_CACHE_DIR", "importing");
}

/* A program that is run by an import is in it all the time. */
static void imports_count_where_they_are_new(void **state)
{
	check(&(struct calls){.after = IMPORTS}, "Python was importing when it ended",
	      "import modules before the work", NULL);
	check(&(struct calls){.before = IMPORTS, .within = IMPORTS, .after = IMPORTS},
	      "loading code took 60.00ms", "py-spy record", "importing");
	/*
	 * what came before is another thread's, as PyTorch's of a backward pass; the thread itself
	 * was in it before
	 */
	check(&(struct calls){.other_thread = true, .before = IMPORTS, .after = IMPORTS},
	      "loading code took 60.00ms", "py-spy record", "importing");
	check(&(struct calls){.other_thread = true, .after = IMPORTS},
	      "Python was importing when it ended", "import modules before the work", NULL);
	/* nor does another thread's import say anything */
	check(&(struct calls){.before = IMPORTS}, "loading code", "py-spy record", "importing");
}

/* Where no call was made in it, either. */
static void compilers_are_told_by_samples(void **state)
{
	check(&(struct calls){.looked = CUPY}, "compiling (CuPy) at f (compiler.py:2) for 200.0ms",
	      "CUPY_CACHE_DIR", NULL);
	/* a call's stack says but what it began or ended in: imports took the time */
	check(&(struct calls){.within = CUPY, .looked = IMPORTS},
	      "meanwhile the host was importing", "import modules before the work", NULL);
	/* but not of a short look, which says nothing of the rest */
	check(&(struct calls){.within = CUPY, .looked = IMPORTS, .until_ms = 50},
	      "meanwhile the host was importing", "CUPY_CACHE_DIR", NULL);
}

/* Looks at the thread say what else another profiler would be asked for. */
static void looks_say_what_the_host_was_at(void **state)
{
	struct gp_model *model = wait_for_host(&(struct calls){.before = IMPORTS});
	struct gp_advice advice;
	const struct gp_finding *found;

	model->samples = calloc(1, sizeof(*model->samples));
	assert_non_null(model->samples);
	model->sample_count = 1;
	model->samples[0] = (struct gp_sample){.start_ns = 10 * MS,
					       .end_ns = 210 * MS,
					       .thread_id = 100,
					       .stack = 0, /* the user's line */
					       .count = 11};
	advice = ask(&model, 1);
	found = find(&advice, "gpu-gaps");
	assert_non_null(found);
	assert_non_null(
		strstr(found->found,
		       "host-bound; meanwhile the host was in main (train.py:1) for 200.0ms; "));
	assert_non_null(strstr(found->found, "; from 11 Python samples"));
	assert_non_null(strstr(found->change, "gpuprof trace host"));
	assert_null(strstr(found->change, "py-spy"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

static char *find_gaps_with_sample(uint64_t start_ns, uint64_t end_ns)
{
	struct gp_model *model = wait_for_host(&(struct calls){.before = IMPORTS});
	struct gp_advice advice;
	const struct gp_finding *found;
	char *text;

	model->samples = calloc(1, sizeof(*model->samples));
	assert_non_null(model->samples);
	model->sample_count = 1;
	model->samples[0] = (struct gp_sample){
		.start_ns = start_ns, .end_ns = end_ns, .thread_id = 100, .stack = 0, .count = 11};
	advice = ask(&model, 1);
	found = find(&advice, "gpu-gaps");
	assert_non_null(found);
	text = strdup(found->found);
	gp_advice_free(&advice);
	gp_model_free(model);
	return text;
}

/* The process was sampled, but not while the GPU had nothing to do. */
static void samples_outside_the_gap_tell_nothing_of_it(void **state)
{
	char *within = find_gaps_with_sample(10 * MS, 210 * MS);
	char *before = find_gaps_with_sample(0, MS / 4);

	assert_non_null(strstr(within, "11 Python samples"));
	assert_null(strstr(before, "sample"));
	assert_null(strstr(before, "meanwhile"));
	free(within);
	free(before);
}

/* Where no call has a stack, and there were no looks (--host-samples 0). */
static void without_any_stack_python_is_known_by_its_name(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_advice advice;
	const struct gp_finding *found;

	build_device(&b, 0, "GPU");
	build_thread(&b, 100, "python3");
	build_info(&b, GP_INFO_COMMAND, "/usr/bin/python3 sim.py");
	build_info(&b, GP_INFO_VERSION, "1");
	for (uint32_t i = 0; i < 2; i++) {
		build_call(&b, 100, BUILD_LAUNCH, MS + i * 500 * MS, 10000, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, MS + i * 500 * MS + 20000, MS + i * 500 * MS + 50000,
			 i + 1);
	}
	model = build_end(&b);
	advice = ask(&model, 1);
	found = find(&advice, "gpu-gaps");
	assert_non_null(found);
	assert_non_null(strstr(found->change, "py-spy record -o host.svg -- "));
	assert_null(strstr(found->change, "perf record"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* Of a trace that another profiler recorded ours can tell: no third one is needed. */
static void of_another_profiler_s_trace_ours_is_advised(void **state)
{
	struct gp_model *model = wait_for_host(&(struct calls){.before = IMPORTS});
	struct gp_advice advice;
	const struct gp_finding *found;

	model->recorder = "torch.profiler";
	advice = ask(&model, 1);
	found = find(&advice, "gpu-gaps");
	assert_non_null(found);
	assert_non_null(strstr(found->change, "with_stack=True"));
	assert_non_null(strstr(found->change, "with gpuprof-run, which samples Python"));
	assert_null(strstr(found->change, "py-spy"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* Without that option py-spy sees the first process alone. */
static void of_several_processes_all_are_sampled(void **state)
{
	struct gp_model *models[] = {wait_for_host(&(struct calls){.before = IMPORTS}),
				     wait_for_host(&(struct calls){.before = IMPORTS})};
	struct gp_advice advice = ask(models, 2);
	const struct gp_finding *found = find(&advice, "gpu-gaps");

	assert_non_null(found);
	assert_non_null(strstr(found->change, "`py-spy record --subprocesses -o host.svg -- "));
	gp_advice_free(&advice);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

/*
 * What the host did in all the times of a case is one sum, and the function with most of it comes
 * first.
 */
static void looks_in_all_of_them_are_added(void **state)
{
	struct build b = build_begin(1);
	uint32_t user = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "main", 1);
	uint32_t prepare = build_python(&b, user, "/home/me/train.py", "prepare", 9);
	uint32_t load = build_python(&b, user, "/home/me/train.py", "load", 7);
	struct gp_sample *samples = calloc(4, sizeof(*samples));
	struct gp_model *model;
	struct gp_advice advice;
	const struct gp_finding *found;

	assert_non_null(samples);
	build_device(&b, 0, "GPU");
	build_thread(&b, 100, "python3");
	/* 400 ms without work, then 200 ms twice */
	for (uint32_t i = 0; i < 4; i++) {
		uint64_t at_ns = MS + (i == 0 ? 0 : i + 1) * 200 * MS;

		build_call(&b, 100, BUILD_LAUNCH, at_ns, 10000, i + 1);
		build_stack_of_last(&b, user);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 20000, at_ns + 50000, i + 1);
	}
	build_stacks_end(&b);
	model = build_end(&b);
	/* prepare() has most of the longest time, load() of all */
	samples[0] = (struct gp_sample){20 * MS, 220 * MS, 100, prepare, 11, 0};
	samples[1] = (struct gp_sample){220 * MS, 380 * MS, 100, load, 8, 0};
	samples[2] = (struct gp_sample){410 * MS, 590 * MS, 100, load, 10, 0};
	samples[3] = (struct gp_sample){610 * MS, 790 * MS, 100, load, 10, 0};
	model->samples = samples;
	model->sample_count = 4;
	model->counters[GP_COUNTER_SAMPLES] = 63;
	model->counters[GP_COUNTER_SAMPLES_LOST] = 82;
	advice = ask(&model, 1);
	found = find(&advice, "gpu-gaps");
	assert_non_null(found);
	assert_non_null(strstr(found->found, "3 times"));
	assert_non_null(strstr(found->found, "meanwhile the host was in load (train.py:7) for 5"));
	assert_non_null(strstr(
		found->found,
		"; in prepare (train.py:9) for 200.0ms; from 39 Python samples (82 of the process's 145 found no stack)"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* Where nothing would be cut or marked in the text. */
static void the_command_is_offered_as_a_shell_takes_it(void **state)
{
	static const char *const commands[][2] = {
		{"python3 -c 'import train8'", "-- python3 -c 'import train8'`"},
		{"python3 t.py '*' \"", "-- python3 t.py '*' \"`"},
		{"python3 -c 'f(); g()'", "-- PROGRAM`"},
		{"python3 -c 'if x: g()'", "-- PROGRAM`"},
		{"python3 t.py 'a  b'", "-- PROGRAM`"},
		{"python3 t.py '`'", "-- PROGRAM`"},
		{"python3 t.py '\n'", "-- PROGRAM`"},
		{"python3 t.py '\303\244'", "-- PROGRAM`"},
		{NULL, "-- PROGRAM`"},
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		check(&(struct calls){.before = IMPORTS, .command = commands[i][0]}, "loading code",
		      commands[i][1], NULL);
}

/* Kernels and long waits in turn, the launches all at one place, in an import or not. */
static struct gp_model *wait_often(uint32_t times, uint32_t imports)
{
	struct build b = build_begin(1);
	uint32_t user = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "main", 1);
	uint32_t importer = build_python(&b, BUILD_OUTERMOST, IMPORTS, "_find_and_load", 2);
	uint32_t module = build_python(&b, importer, "/home/me/train.py", "main", 1);

	build_device(&b, 0, "GPU");
	build_thread(&b, 100, "python3");
	for (uint32_t i = 0; i < times; i++) {
		uint64_t at_ns = MS + (uint64_t)(200 + i) * i * MS;

		build_call(&b, 100, BUILD_LAUNCH, at_ns, 10000, i + 1);
		build_stack_of_last(&b, i >= times - imports ? module : user);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 20000, at_ns + 50000, i + 1);
		/* its last call before the next wait is in no import */
		build_call(&b, 100, BUILD_DEVICE_SYNC, at_ns + 30000, 1000, 0);
		build_stack_of_last(&b, user);
	}
	build_stacks_end(&b);
	return build_end(&b);
}

static bool tells_of_import(uint32_t times, uint32_t imports)
{
	struct gp_model *model = wait_often(times, imports);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "gpu-gaps");
	bool tells;

	assert_non_null(found);
	tells = strstr(found->found, "importing") != NULL;
	assert_int_equal(tells, strstr(found->change, "import modules") != NULL);
	gp_advice_free(&advice);
	gp_model_free(model);
	return tells;
}

/* Modules are imported once. */
static void what_is_always_in_an_import_is_work(void **state)
{
	assert_true(tells_of_import(6, 1));
	assert_false(tells_of_import(6, 5));
	assert_false(tells_of_import(6, 0));
}

/*
 * Of the thread's ranges that one is named in which it was nearly all of the time: not a shorter
 * one within, nor all that is around it.
 */
static void ranges_name_what_the_host_was_at(void **state)
{
	static const struct {
		uint64_t length_ms;
		const char *named;
	} cases[] = {{460, "; in range read the mesh"}, {300, "; in range epoch"}};

	for (size_t i = 0; i < 2; i++) {
		struct gp_model *model = wait_for_host(&(struct calls){0});
		struct build b = {.model = model};
		struct gp_advice advice;
		const struct gp_finding *found;

		build_range(&b, 99, "of another thread", 0, 600 * MS);
		build_range(&b, 100, "epoch", 0, 600 * MS);
		build_range(&b, 100, "read the mesh", 20 * MS, (20 + cases[i].length_ms) * MS);
		build_range(&b, 100, "unpack", 240 * MS, 250 * MS);
		model->ranges[2].parent = 1;
		model->ranges[3].parent = 2;
		advice = ask(&model, 1);
		found = find(&advice, "gpu-gaps");
		assert_non_null(found);
		assert_non_null(strstr(found->found, cases[i].named));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* The compiler or tuner whose change is advised, or "". */
static void check_change(const struct gp_host_time *host, const char *compiled_by)
{
	struct gp_document values = {0};

	gp_host_time_add_change(host, &values);
	assert_string_equal(gp_fields_text(&values.facts, "compiled_by"), compiled_by);
	assert_string_equal(gp_fields_text(&values.facts, "tuned_by"), "");
	gp_document_free(&values);
}

/* A compiler that mostly loads code has its cache already. */
static void loading_most_of_the_time_is_no_compiling(void **state)
{
	struct gp_host_time host = {
		.total_ns = 500 * MS, .load_ns = 200 * MS, .compiler = GP_COMPILER_CUPY};

	check_change(&host, "CuPy");
	host.load_ns = 250 * MS;
	check_change(&host, "");
	host.tuner = GP_TUNER_XLA;
	check_change(&host, "");
	/* XLA's ranges show that it compiled, whatever it loaded */
	host.xla_ns = 300 * MS;
	check_change(&host, "JAX");
}

static void what_is_not_known_is_not_said(void **state)
{
	check(&(struct calls){0}, "; loading code took 60.00ms of it",
	      "gpuprof records CUDA calls, not the host's computation", "compil");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compilers_are_told_by_stacks),
		cmocka_unit_test(imports_count_where_they_are_new),
		cmocka_unit_test(compilers_are_told_by_samples),
		cmocka_unit_test(looks_say_what_the_host_was_at),
		cmocka_unit_test(samples_outside_the_gap_tell_nothing_of_it),
		cmocka_unit_test(looks_in_all_of_them_are_added),
		cmocka_unit_test(without_any_stack_python_is_known_by_its_name),
		cmocka_unit_test(of_another_profiler_s_trace_ours_is_advised),
		cmocka_unit_test(of_several_processes_all_are_sampled),
		cmocka_unit_test(the_command_is_offered_as_a_shell_takes_it),
		cmocka_unit_test(what_is_always_in_an_import_is_work),
		cmocka_unit_test(ranges_name_what_the_host_was_at),
		cmocka_unit_test(loading_most_of_the_time_is_no_compiling),
		cmocka_unit_test(what_is_not_known_is_not_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
