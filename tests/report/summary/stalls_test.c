/* The summary's section of samples of warps: the top reason and line of each kernel; losses. */
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/counter.h"
#include "report/summary/summary.h"
#include "tests/report/expect.h"
#include "tests/report/model_builder.h"
#include "tests/report/stack_builder.h"

#define MS 1000000u

/* A process with a launch and its kernel. */
static struct build begin(void)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "NVIDIA H200");
	build_name(&b, "step");
	build_context_made_by(&b, 1, 7, 1);
	build_call(&b, 100, BUILD_LAUNCH, MS, 10000, 2);
	build_op(&b, GP_OP_KERNEL, 7, 2 * MS, 100 * MS, 2);
	return b;
}

/* The whole summary; frees the model. */
static char *print(struct gp_model *model)
{
	const struct gp_summary_options options = {.row_limit = 12};
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(gp_summary_print(out, &model, 1, &options), 0);
	fclose(out);
	gp_model_free(model);
	return text;
}

static void each_kernel_has_its_top_reason_and_line(void **state)
{
	struct build b = begin();
	char *text;

	build_stall(&b, "few", 0, "selected", 60);
	build_stall(&b, "few", 3, "wait", 15);
	build_stall(&b, "few", 4, "barrier", 25);
	build_stall(&b, "many", 8, "wait", 100);
	build_stall(&b, "many", 9, "barrier", 100);
	build_stall(&b, "many", 9, "wait", 100);
	b.model->counters[GP_COUNTER_STALL_SAMPLES] = 800;
	b.model->counters[GP_COUNTER_STALL_OUTSIDE] = 400;
	text = print(build_end(&b));
	expect(text, "\n  75.0 %  many\n    66.7 % (error 5.3) wait: ");
	expect(text, "\n    66.7 % at a.cu:9\n  25.0 %  few\n    25.0 % (error 8.5) barrier: ");
	expect(text, "\n    25.0 % at a.cu:4\n  50.0 % of all samples are outside ");
	free(text);
}

static void samples_outside_of_kernels_only(void **state)
{
	struct build b = begin();
	char *text;

	b.model->counters[GP_COUNTER_STALL_SAMPLES] = 80;
	b.model->counters[GP_COUNTER_STALL_OUTSIDE] = 80;
	text = print(build_end(&b));
	expect(text, "\nWhy warps wait: no samples in the program's kernels\n  100.0 % of all ");
	expect_not(text, "--by stalls");
	free(text);
}

static void no_section_without_samples(void **state)
{
	struct build b = begin();
	char *text = print(build_end(&b));

	expect_not(text, "warps");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kernel_has_its_top_reason_and_line),
		cmocka_unit_test(samples_outside_of_kernels_only),
		cmocka_unit_test(no_section_without_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
