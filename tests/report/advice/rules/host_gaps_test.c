#include "tests/unit.h"

#include <stdio.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/advice/advice.h"
#include "report/advice/advice_print.h"
#include "tests/report/ask_advice.h"
#include "tests/report/stack_builder.h"

#define MS 1000000ull

/*
 * So many kernels, and after each but the last the host does something of its own for that long; on
 * so many GPUs at once.
 */
static struct gp_model *compute_between(uint32_t kernels, uint64_t kernel_ns, uint64_t host_ns,
					uint16_t devices)
{
	struct build b = build_begin(1);
	uint64_t at_ns = MS;
	uint32_t id = 0;

	for (uint16_t device = 0; device < devices; device++)
		build_device(&b, device, "GPU");
	for (uint32_t i = 1; i <= kernels; i++) {
		for (uint16_t device = 0; device < devices; device++) {
			build_call(&b, 100, BUILD_LAUNCH, at_ns + device * 1000u, 500, ++id);
			build_op(&b, GP_OP_KERNEL, 7u + device, at_ns + 10000, at_ns + kernel_ns,
				 id)
				->device_id = device;
		}
		at_ns += kernel_ns + host_ns;
	}
	return build_end(&b);
}

static void what_takes_long_in_sum_is_one_finding(void **state)
{
	for (uint16_t devices = 1; devices <= 2; devices++) {
		struct gp_model *model = compute_between(6, 60 * MS, 31 * MS, devices);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "host-gaps");

		assert_int_equal(advice.count, 1);
		assert_non_null(found);
		assert_int_equal(found->count, 5u * devices);
		assert_in_range(found->saves_ns, 155 * MS, 156 * MS);
		assert_non_null(strstr(
			found->found,
			devices == 1
				? "the GPU is idle 5 times, for 31.01ms on average, "
				: "one of the GPUs is idle 10 times, for 31.01ms on average, "));
		assert_non_null(strstr(
			found->found,
			": host-bound; the host was in no recorded call, the longest time from cudaLaunchKernel to cudaLaunchKernel"));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * A loop that keeps the GPU at work; now and then something else takes the processor, for 9 or 49
 * ms: for 50 the program itself does something, as to compile.
 */
static void what_is_rare_at_its_place_is_not_the_programs(void **state)
{
	static const uint64_t host_ms[] = {9, 49, 51};

	for (size_t k = 0; k < sizeof(host_ms) / sizeof(host_ms[0]); k++) {
		struct build b = build_begin(1);
		struct gp_model *model;
		struct gp_advice advice;
		uint64_t at_ns = MS;

		build_device(&b, 0, "GPU");
		for (uint32_t i = 1; i <= 400; i++) {
			build_call(&b, 100, BUILD_LAUNCH, at_ns, 500, i);
			build_op(&b, GP_OP_KERNEL, 7, at_ns + 10000, at_ns + 105000, i);
			at_ns += 100000 + (i % 10 == 0 ? host_ms[k] * MS : 0);
		}
		model = build_end(&b);
		advice = ask(&model, 1);
		assert_true((find(&advice, "host-gaps") != NULL) == (host_ms[k] > 50));
		assert_null(find(&advice, "gpu-gaps"));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * The same, but always before another operation, which is a habit: one of another name, kind, or
 * way of a copy.
 */
static void what_always_comes_before_an_operation_is_the_programs(void **state)
{
	static const struct {
		enum gp_op_kind kind;
		uint32_t name;
		uint8_t copy_kind;
	} others[] = {{GP_OP_KERNEL, 1, 0},
		      {GP_OP_SET, GP_NONE, 0},
		      {GP_OP_COPY, GP_NONE, GP_COPY_DTOD},
		      {GP_OP_COPY, GP_NONE, GP_COPY_HTOD}};

	(void)state;
	for (size_t k = 0; k < COUNT(others); k++) {
		struct build b = build_begin(1);
		struct gp_model *model;
		struct gp_advice advice;
		uint64_t at_ns = MS;

		build_device(&b, 0, "GPU");
		build_name(&b, "scale");
		build_name(&b, "add");
		for (uint32_t i = 1; i <= 400; i++) {
			struct gp_op *op;

			build_call(&b, 100, BUILD_LAUNCH, at_ns, 500, i);
			op = build_op(&b, GP_OP_KERNEL, 7, at_ns + 10000, at_ns + 105000, i);
			op->name = 0;
			if (others[k].copy_kind == GP_COPY_HTOD) { /* all are copies */
				op->kind = GP_OP_COPY;
				op->copy_kind = GP_COPY_DTOD;
			}
			if (i % 10 == 1) {
				op->kind = (uint8_t)others[k].kind;
				op->name = others[k].name;
				op->copy_kind = others[k].copy_kind;
			}
			at_ns += 100000 + (i % 10 == 0 ? 9 * MS : 0);
		}
		model = build_end(&b);
		advice = ask(&model, 1);
		if (!find(&advice, "gpu-gaps"))
			fail_msg("case %zu", k);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* Of a short run a fifth and 20 ms are enough. */
static void a_large_part_of_a_short_run_is_told(void **state)
{
	struct gp_model *model = compute_between(4, 20 * MS, 12 * MS, 1);
	struct gp_advice advice = ask(&model, 1);

	assert_non_null(find(&advice, "host-gaps"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * Too little of the time, of a short run or a long one; too short each, as a system's own doings
 * are; and what gpu-gaps tells.
 */
static void what_is_little_is_not_told(void **state)
{
	static const struct {
		uint32_t kernels;
		uint64_t kernel_ns, host_ns;
	} quiet[] = {{4, 60 * MS, 12 * MS},
		     {12, 200 * MS, 10 * MS},
		     {3, 5 * MS, 4 * MS},
		     {400, MS, 150000},
		     {3, 90 * MS, 150 * MS}};

	for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++) {
		struct gp_model *model =
			compute_between(quiet[i].kernels, quiet[i].kernel_ns, quiet[i].host_ns, 1);
		struct gp_advice advice = ask(&model, 1);

		assert_null(find(&advice, "host-gaps"));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * The place is where most of them end; of twelve places none has half, and that of the longest is
 * told as such.
 */
static void a_place_is_told_where_half_ends(void **state)
{
	for (int many = 0; many <= 1; many++) {
		struct build b = build_begin(1);
		const struct gp_finding *found;
		struct gp_advice advice;
		struct gp_model *model;
		uint64_t at_ns = MS;

		build_device(&b, 0, "GPU");
		for (uint32_t i = 1; i <= 12; i++) {
			char function[16];
			struct gp_call *call;

			snprintf(function, sizeof(function), "f%u", many || i == 3 ? i : 1);
			call = build_call(&b, 100, BUILD_LAUNCH, at_ns, 500, i);
			call->stack = build_python(&b, BUILD_OUTERMOST, "main.py", function, 1);
			build_op(&b, GP_OP_KERNEL, 7, at_ns + 10000, at_ns + 30 * MS, i);
			at_ns += 60 * MS + (i == 2 ? MS : 0);
		}
		build_stacks_end(&b);
		model = build_end(&b);
		advice = ask(&model, 1);
		found = find(&advice, "host-gaps");
		assert_non_null(found);
		assert_string_equal(found->place, many ? "" : "f1 (main.py:1)");
		/* the longest ends there, whatever the others do */
		assert_true(!!strstr(found->found, " to cudaLaunchKernel at f3 (main.py:1)"));
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/*
 * The GPU's last operation is a copy; then the host waits for it, and begins to write only when
 * that is over.
 */
static void the_calls_around_what_the_host_did_are_told(void **state)
{
	struct build b = build_begin(1);
	uint32_t copy = build_python(&b, BUILD_OUTERMOST, "main.py", "copy", 13);
	uint32_t wait = build_python(&b, BUILD_OUTERMOST, "main.py", "wait", 14);
	uint32_t solve = build_python(&b, BUILD_OUTERMOST, "main.py", "solve", 11);
	const struct gp_finding *found;
	struct gp_advice advice;
	struct gp_model *model;
	char page[4000] = "";
	FILE *out = fmemopen(page, sizeof(page), "w");

	assert_non_null(out);
	build_device(&b, 0, "GPU");
	build_name(&b, "step");
	for (uint32_t i = 0; i < 4; i++) {
		uint64_t at_ns = (1 + i * 80ull) * MS;
		struct gp_op *op;

		build_call(&b, 100, BUILD_LAUNCH, at_ns, 10000, 2 * i + 1);
		build_stack_of_last(&b, solve);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 20000, at_ns + 20 * MS, 2 * i + 1);
		build_call(&b, 100, BUILD_MEMCPY_ASYNC, at_ns + 20000, 10000, 2 * i + 2);
		build_stack_of_last(&b, copy);
		op = build_op(&b, GP_OP_COPY, 7, at_ns + 20 * MS, at_ns + 21 * MS, 2 * i + 2);
		op->copy_kind = GP_COPY_DTOH;
		build_call(&b, 100, BUILD_DEVICE_SYNC, at_ns + 40000, 21 * MS, 0);
		build_stack_of_last(&b, wait);
		build_call(&b, 100, BUILD_DEVICE_SYNC, at_ns + 50000, 1000, 0); /* in that one */
	}
	build_stacks_end(&b);
	model = build_end(&b);
	advice = ask(&model, 1);
	found = find(&advice, "host-gaps");
	assert_non_null(found);
	gp_advice_print_brief(out, &advice, 4, 2);
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(
		found->found,
		", the longest time from cudaDeviceSynchronize at wait (main.py:14) to cudaLaunchKernel at solve (main.py:11)"));
	assert_non_null(strstr(page, "(main.py:14)"));
	assert_non_null(strstr(page, "(main.py:11)"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * The host works for 20 ms in each step.  Then it loads code in all steps, in more than half or less,
 * or too rarely to tell that from kernels that are used for the first time.
 */
static void code_that_is_loaded_in_many_steps_is_of_new_shapes(void **state)
{
	static const struct {
		uint32_t steps, loads;
		uint64_t told;
	} cases[] = {{24, 24, 24}, {24, 13, 13}, {24, 11, 0}, {13, 7, 0}};

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct build b = build_begin(1);
		const struct gp_finding *found;
		struct gp_advice advice;
		struct gp_model *model;
		uint64_t at_ns = MS;

		build_device(&b, 0, "GPU");
		build_name(&b, "first");
		build_name(&b, "second");
		build_api(&b, 99, "cuLibraryLoadData", GP_API_MODULE);
		for (uint32_t i = 0; i < cases[k].steps; i++) {
			bool loads = i < cases[k].loads;

			build_call(&b, 100, BUILD_LAUNCH, at_ns, 500, 2 * i + 1);
			build_op(&b, GP_OP_KERNEL, 7, at_ns + 1000, at_ns + MS, 2 * i + 1)->name =
				0;
			if (loads)
				build_call(&b, 100, 99, at_ns + 21 * MS, 100000, 0);
			at_ns += 22 * MS;
			build_call(&b, 100, BUILD_LAUNCH, at_ns, 500, 2 * i + 2);
			build_op(&b, GP_OP_KERNEL, 7, at_ns + 1000, at_ns + MS, 2 * i + 2)->name =
				1;
			at_ns += MS;
		}
		model = build_end(&b);
		advice = ask(&model, 1);
		assert_int_equal(advice.count, 1);
		found = &advice.findings[0]; /* of gpu-gaps, or of host-gaps */
		assert_int_equal(value_of(found, "new_code_count"), cases[k].told);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_takes_long_in_sum_is_one_finding),
		cmocka_unit_test(what_is_rare_at_its_place_is_not_the_programs),
		cmocka_unit_test(what_always_comes_before_an_operation_is_the_programs),
		cmocka_unit_test(a_large_part_of_a_short_run_is_told),
		cmocka_unit_test(what_is_little_is_not_told),
		cmocka_unit_test(a_place_is_told_where_half_ends),
		cmocka_unit_test(the_calls_around_what_the_host_did_are_told),
		cmocka_unit_test(code_that_is_loaded_in_many_steps_is_of_new_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
