/* What calls cost, by call stack. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/host/stack_profile.h"
#include "tests/unit.h"
#include "tests/report/stack_builder.h"

struct scene {
	struct build b;
	uint32_t train, other; /* stacks: "train" and "other" */
	struct gp_stack_profile profile;
};

static void begin(struct scene *s)
{
	s->b = build_begin(1);
	s->train = build_python(&s->b, BUILD_OUTERMOST, "/src/a.py", "train", 5);
	s->other = build_python(&s->b, BUILD_OUTERMOST, "/src/a.py", "other", 6);
}

static void end_in(struct scene *s, struct gp_slice_choice choice)
{
	build_stacks_end(&s->b);
	s->b.model = build_end(&s->b);
	assert_int_equal(gp_stack_profile_open(&s->profile, false, false), 0);
	s->profile.choice = choice;
	assert_int_equal(gp_stack_profile_add(&s->profile, s->b.model), 0);
	gp_model_free(s->b.model); /* the profile does without */
}

static void end(struct scene *s)
{
	end_in(s, (struct gp_slice_choice){0});
}

/* A launch by that stack of a kernel that runs for so long. */
static void build_launch(struct build *b, uint32_t stack, uint32_t name, uint64_t duration_ns)
{
	uint32_t correlation_id = b->model->call_count + 1;
	uint64_t start_ns = 1000 * (uint64_t)correlation_id;

	build_call(b, 100, BUILD_LAUNCH, start_ns, 10, correlation_id)->stack = stack;
	build_op(b, GP_OP_KERNEL, 7, start_ns + 50, start_ns + 50 + duration_ns, correlation_id)
		->name = name;
}

/* The value of the node whose path is that: "train (a.py);cudaMalloc". */
static uint64_t value_of(struct scene *s, const char *wanted, enum gp_stack_metric measure)
{
	struct gp_call_tree *tree = &s->profile.tree;
	char label[GP_SITE_LABEL_BYTES], text[1024];

	for (uint32_t node = 0; node < tree->node_count; node++) {
		uint32_t length;
		const uint32_t *path = gp_call_tree_path(tree, node, &length);

		text[0] = '\0';
		for (uint32_t i = 0; i < length; i++) {
			strcat(text, i > 0 ? ";" : "");
			strcat(text, gp_site_label(gp_call_tree_site(tree, path[i]), label));
		}
		if (strcmp(text, wanted) == 0)
			return gp_stack_profile_value(&s->profile, node, measure);
	}
	fail_msg("no stack %s", wanted);
	return 0;
}

static char *explanation(struct scene *s, enum gp_stack_metric measure)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	gp_stack_profile_explain(&s->profile, measure, out);
	fclose(out);
	return text;
}

static void test_gpu_time_is_below_the_call_that_launched(void **state)
{
	struct scene s;
	uint32_t gemm, relu;

	begin(&s);
	gemm = build_name(&s.b, "gemm");
	relu = build_name(&s.b, "relu");
	build_launch(&s.b, s.train, gemm, 100);
	build_launch(&s.b, s.train, gemm, 20);
	build_launch(&s.b, s.train, relu, 7);
	build_launch(&s.b, s.other, gemm, 3);
	build_launch(&s.b, GP_NONE, gemm, 1);
	end(&s);
	assert_int_equal(
		value_of(&s, "train (a.py);cudaLaunchKernel;gemm", GP_STACK_METRIC_GPU_TIME), 120);
	assert_int_equal(
		value_of(&s, "train (a.py);cudaLaunchKernel;gemm", GP_STACK_METRIC_OPERATIONS), 2);
	assert_int_equal(
		value_of(&s, "train (a.py);cudaLaunchKernel;relu", GP_STACK_METRIC_GPU_TIME), 7);
	assert_int_equal(
		value_of(&s, "other (a.py);cudaLaunchKernel;gemm", GP_STACK_METRIC_GPU_TIME), 3);
	assert_int_equal(
		value_of(&s, "(no call stack);cudaLaunchKernel;gemm", GP_STACK_METRIC_GPU_TIME), 1);
	assert_int_equal(value_of(&s, "train (a.py);cudaLaunchKernel", GP_STACK_METRIC_GPU_TIME),
			 0);
	assert_int_equal(value_of(&s, "train (a.py);cudaLaunchKernel", GP_STACK_METRIC_CALLS), 3);
	assert_int_equal(value_of(&s, "train (a.py);cudaLaunchKernel", GP_STACK_METRIC_API_TIME),
			 30);
	assert_int_equal(s.profile.totals[GP_STACK_METRIC_GPU_TIME], 131);
	assert_int_equal(s.profile.without_stack[GP_STACK_METRIC_GPU_TIME], 1);
	gp_stack_profile_close(&s.profile);
}

static void test_a_kernel_of_a_graph_has_the_stack_of_the_capture(void **state)
{
	struct scene s;
	uint32_t kernel, node;
	struct gp_op *op;

	begin(&s);
	kernel = build_name(&s.b, "gemm");
	build_call(&s.b, 100, BUILD_LAUNCH, 100, 10, 1)->stack = s.train;
	build_call(&s.b, 100, BUILD_GRAPH_LAUNCH, 200, 10, 2)->stack = s.other;
	node = BUILD_GROW(&s.b, nodes, node_count);
	s.b.model->nodes[node] = (struct gp_record_node){.node_id = 77, .correlation_id = 1};
	for (uint64_t i = 0; i < 2; i++) {
		op = build_op(&s.b, GP_OP_KERNEL, 7, 300 + 100 * i, 340 + 100 * i, 2);
		op->name = kernel;
		build_node(&s.b, op, i == 0 ? 77 : 78); /* of the latter nothing is known */
	}
	end(&s);
	assert_int_equal(
		value_of(&s, "train (a.py);cudaLaunchKernel;gemm", GP_STACK_METRIC_GPU_TIME), 40);
	assert_int_equal(
		value_of(&s, "other (a.py);cudaGraphLaunch;gemm", GP_STACK_METRIC_GPU_TIME), 40);
	gp_stack_profile_close(&s.profile);
}

static void test_memory_of_the_peak_and_what_leaked(void **state)
{
	struct scene s;

	begin(&s);
	build_memory(&s.b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 100, 0x1000, 1000);
	build_stack_of_last(&s.b, s.train);
	build_memory(&s.b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 200, 0x2000, 500);
	build_stack_of_last(&s.b, s.other);
	build_memory(&s.b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, 300, 0x1000, 0);
	build_memory(&s.b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 400, 0x3000, 70);
	build_stack_of_last(&s.b, s.train);
	end(&s);
	assert_int_equal(value_of(&s, "train (a.py);cudaMalloc", GP_STACK_METRIC_ALLOCATED), 1070);
	assert_int_equal(value_of(&s, "train (a.py);cudaMalloc", GP_STACK_METRIC_ALLOCATIONS), 2);
	assert_int_equal(value_of(&s, "train (a.py);cudaMalloc", GP_STACK_METRIC_PEAK), 1000);
	assert_int_equal(value_of(&s, "train (a.py);cudaMalloc", GP_STACK_METRIC_LEAKED), 70);
	assert_int_equal(value_of(&s, "other (a.py);cudaMalloc", GP_STACK_METRIC_PEAK), 500);
	assert_int_equal(value_of(&s, "other (a.py);cudaMalloc", GP_STACK_METRIC_LEAKED), 500);
	gp_stack_profile_close(&s.profile);
}

static void test_each_kind_of_memory_has_its_own_peak(void **state)
{
	struct scene s;

	begin(&s);
	build_memory(&s.b, GP_MEMORY_ALLOC, GP_MEMORY_PINNED, 100, 0x1000, 10);
	build_stack_of_last(&s.b, s.train);
	build_memory(&s.b, GP_MEMORY_FREE, GP_MEMORY_PINNED, 200, 0x1000, 0);
	build_memory(&s.b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 300, 0x2000, 500);
	build_stack_of_last(&s.b, s.other);
	end(&s);
	assert_int_equal(value_of(&s, "train (a.py);cudaMalloc", GP_STACK_METRIC_PEAK), 10);
	assert_int_equal(value_of(&s, "other (a.py);cudaMalloc", GP_STACK_METRIC_PEAK), 500);
	gp_stack_profile_close(&s.profile);
}

/* Waits count for the thread that calls CUDA alone. */
static void test_idle_threads_do_not_run(void **state)
{
	struct scene s;
	struct gp_sample *samples = calloc(4, sizeof(*samples));
	uint32_t wait;

	assert_non_null(samples);
	begin(&s);
	wait = build_python(&s.b, s.train, "/usr/lib/python3.12/threading.py", "Condition.wait", 7);
	build_launch(&s.b, s.train, build_name(&s.b, "gemm"), 5);
	samples[0] = build_sample(100, wait, 10, 20);
	samples[1] = build_sample(100, s.train, 20, 30);
	samples[2] = build_sample(200, wait, 10, 14);
	samples[3] = build_sample(200, s.other, 14, 16);
	s.b.model->samples = samples;
	s.b.model->sample_count = 4;
	end(&s);
	assert_int_equal(value_of(&s, "train (a.py);Condition.wait (threading.py)",
				  GP_STACK_METRIC_HOST_TIME),
			 14000000);
	assert_int_equal(value_of(&s, "train (a.py);Condition.wait (threading.py)",
				  GP_STACK_METRIC_HOST_RUNNING),
			 10000000);
	assert_int_equal(value_of(&s, "other (a.py)", GP_STACK_METRIC_HOST_RUNNING), 2000000);
	gp_stack_profile_close(&s.profile);
}

static void test_samples_of_warps(void **state)
{
	struct scene s;

	begin(&s);
	build_stall(&s.b, "_Z4gemmPf", 7, "wait", 30);
	build_stall(&s.b, "_Z4gemmPf", 0, "wait", 4);
	end(&s);
	assert_int_equal(value_of(&s, "gemm;a.cu:7;wait", GP_STACK_METRIC_STALLS), 30);
	assert_int_equal(value_of(&s, "gemm;(no line information);wait", GP_STACK_METRIC_STALLS),
			 4);
	assert_int_equal(s.profile.totals[GP_STACK_METRIC_STALLS], 34);
	assert_int_equal(s.profile.without_stack[GP_STACK_METRIC_STALLS], 0);
	gp_stack_profile_close(&s.profile);
}

/* Of the kernel's GPU time, three quarters were launched by one stack. */
static void test_samples_of_warps_by_stack(void **state)
{
	struct scene s;
	uint32_t gemm;

	begin(&s);
	gemm = build_name(&s.b, "_Z4gemmPf");
	build_launch(&s.b, s.train, gemm, 50);
	build_launch(&s.b, s.other, gemm, 25);
	build_launch(&s.b, s.train, gemm, 25);
	build_launch(&s.b, s.other, build_name(&s.b, "_Z4axpyPf"), 1000);
	build_stall(&s.b, "_Z4gemmPf", 7, "wait", 3);
	build_stall(&s.b, "_Z4gemmPf", 7, "barrier", 10);
	build_stall(&s.b, "_Z4gemmPf", 7, "wait", 30);
	end(&s);
	assert_int_equal(value_of(&s, "train (a.py);cudaLaunchKernel;gemm;a.cu:7;wait",
				  GP_STACK_METRIC_STALLS),
			 25);
	assert_int_equal(value_of(&s, "other (a.py);cudaLaunchKernel;gemm;a.cu:7;wait",
				  GP_STACK_METRIC_STALLS),
			 8);
	assert_int_equal(value_of(&s, "train (a.py);cudaLaunchKernel;gemm;a.cu:7;barrier",
				  GP_STACK_METRIC_STALLS),
			 8);
	assert_int_equal(value_of(&s, "other (a.py);cudaLaunchKernel;gemm;a.cu:7;barrier",
				  GP_STACK_METRIC_STALLS),
			 2);
	assert_int_equal(s.profile.totals[GP_STACK_METRIC_STALLS], 43);
	gp_stack_profile_close(&s.profile);
}

/* Of two events of each kind the first one is before the window. */
static void test_a_window_has_what_runs_into_it(void **state)
{
	struct scene s;
	struct gp_sample *samples = calloc(3, sizeof(*samples));
	uint32_t gemm;

	(void)state;
	assert_non_null(samples);
	begin(&s);
	gemm = build_name(&s.b, "gemm");
	for (uint64_t i = 0; i < 2; i++) {
		struct gp_record_stall *stall;

		build_launch(&s.b, s.train, gemm, 5 + i);
		build_stall(&s.b, "_Z4gemmPf", 7, "wait", 30 + (uint32_t)i);
		stall = &s.b.model->stalls[i];
		stall->start_ns = 1000 * (1 + i);
		stall->end_ns = stall->start_ns + 10;
		samples[i] = (struct gp_sample){.start_ns = 1000 * (1 + i),
						.end_ns = 1020 * (1 + i),
						.thread_id = 100 + (uint32_t)i,
						.stack = s.train,
						.count = 2};
	}
	samples[2] = samples[1];
	samples[2].start_ns = samples[2].end_ns = 2500;
	samples[2].thread_id = 102;
	samples[2].stack = GP_NONE;
	s.b.model->samples = samples;
	s.b.model->sample_count = 3;
	s.b.model->recorder = "torch.profiler";
	end_in(&s, (struct gp_slice_choice){.from_ns = 1900});
	assert_int_equal(s.profile.totals[GP_STACK_METRIC_GPU_TIME], 6);
	assert_int_equal(s.profile.totals[GP_STACK_METRIC_STALLS], 31);
	assert_int_equal(s.profile.totals[GP_STACK_METRIC_CALLS], 1);
	assert_int_equal(s.profile.totals[GP_STACK_METRIC_HOST_TIME], 40);
	assert_string_equal(s.profile.recorder, "torch.profiler");
	gp_stack_profile_close(&s.profile);
}

/* How many stacks are estimated; of parts of a large trace, why they are not. */
static void test_estimates_are_told(void **state)
{
	struct scene s;
	char *text;

	(void)state;
	for (uint32_t is_part = 0; is_part < 2; is_part++) {
		begin(&s);
		build_launch(&s.b, s.train, build_name(&s.b, "gemm"), 5);
		build_launch(&s.b, GP_NONE, 0, 5);
		s.b.model->part = (struct gp_part){.is_one = is_part, .to_ns = UINT64_MAX};
		s.b.model->stack_estimate.sampled_calls = 3;
		s.b.model->stack_estimate.estimated_calls = is_part ? 0 : 1;
		end(&s);
		text = explanation(&s, GP_STACK_METRIC_GPU_TIME);
		assert_int_equal(strstr(text, " 25.0 % of the launches") != NULL, !is_part);
		assert_int_equal(strstr(text, "--at-once") != NULL, is_part);
		free(text);
		text = explanation(&s, GP_STACK_METRIC_LEAKED);
		assert_null(strstr(text, "launches"));
		free(text);
		gp_stack_profile_close(&s.profile);
	}
}

static void test_what_is_missing_is_said(void **state)
{
	struct scene s;
	char *text;

	begin(&s);
	build_launch(&s.b, GP_NONE, build_name(&s.b, "gemm"), 5);
	end(&s);
	text = explanation(&s, GP_STACK_METRIC_GPU_TIME);
	assert_non_null(strstr(text, "--stacks=all"));
	free(text);
	text = explanation(&s, GP_STACK_METRIC_LEAKED);
	assert_non_null(strstr(text, "nothing to show"));
	free(text);
	gp_stack_profile_close(&s.profile);
	begin(&s);
	build_memory(&s.b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 100, 0x1000, 10);
	end(&s);
	text = explanation(&s, GP_STACK_METRIC_PEAK);
	assert_non_null(strstr(text, "--stacks=alloc PROGRAM"));
	free(text);
	gp_stack_profile_close(&s.profile);
}

static void test_words_of_measures(void **state)
{
	for (int i = 0; i < GP_STACK_METRICS; i++)
		assert_int_equal(gp_stack_metric_find(gp_stack_metrics[i].word), i);
	assert_int_equal(gp_stack_metric_find("gpu"), GP_STACK_METRICS);
	assert_int_equal(gp_stack_metric_find(""), GP_STACK_METRICS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gpu_time_is_below_the_call_that_launched),
		cmocka_unit_test(test_a_kernel_of_a_graph_has_the_stack_of_the_capture),
		cmocka_unit_test(test_memory_of_the_peak_and_what_leaked),
		cmocka_unit_test(test_each_kind_of_memory_has_its_own_peak),
		cmocka_unit_test(test_idle_threads_do_not_run),
		cmocka_unit_test(test_samples_of_warps),
		cmocka_unit_test(test_samples_of_warps_by_stack),
		cmocka_unit_test(test_a_window_has_what_runs_into_it),
		cmocka_unit_test(test_estimates_are_told),
		cmocka_unit_test(test_what_is_missing_is_said),
		cmocka_unit_test(test_words_of_measures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
