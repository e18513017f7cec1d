#include "report/diff/machine.h"
#include "tests/report/model_builder.h"
#include "tests/report/trace_builder.h"
#include "tests/unit.h"

static void a_machine_is_its_gpus_versions_and_options(void **state)
{
	struct build b = build_begin(1);
	struct gp_machine machine;
	struct gp_model *model;

	build_device(&b, 0, "GPU\x1b one");
	build_device(&b, 1, "");
	build_device(&b, 2, "");
	build_info(&b, GP_INFO_DRIVER_VERSION, "12090");
	build_info(&b, GP_INFO_CUPTI_VERSION, "130001");
	build_info(&b, GP_INFO_VERSION, "1.2.3");
	build_info(&b, GP_INFO_PROGRAM, "app");
	build_info(&b, GP_INFO_OPTIONS, "OUTPUT=x\nTRACE=gpu\nQUIET=1\nKERNELS=gemm*");
	model = build_end(&b);
	assert_int_equal(gp_machine_of(&model, 1, &machine), 0);
	assert_string_equal(
		gp_machine_fact(&machine, GP_MACHINE_GPUS),
		"GPU\\x1b one, 132 SMs, 139.8GiB, compute capability 9.0, clock not known; 2 x unknown device, 132 SMs, 139.8GiB, compute capability 9.0, clock not known");
	assert_string_equal(gp_machine_fact(&machine, GP_MACHINE_DRIVER), "12.9");
	assert_string_equal(gp_machine_fact(&machine, GP_MACHINE_CUPTI), "13.0.1");
	assert_string_equal(gp_machine_fact(&machine, GP_MACHINE_GPUPROF), "1.2.3");
	assert_string_equal(gp_machine_fact(&machine, GP_MACHINE_PROGRAM), "app");
	assert_string_equal(gp_machine_fact(&machine, GP_MACHINE_OPTIONS),
			    "TRACE=gpu KERNELS=gemm*");
	assert_string_equal(gp_machine_fact_text(&machine, GP_MACHINE_CUPTI), "13.0.1");
	gp_machine_free(&machine);
	assert_string_equal(gp_machine_fact(&machine, GP_MACHINE_GPUS), "");
	gp_model_free(model);
}

/* Without options a recording of ours has the default ones. */
static void what_another_recorder_does_not_say_is_not_known(void **state)
{
	struct build b = build_begin(1);
	struct gp_machine machine;
	struct gp_model *model;

	build_device(&b, 0, "GPU");
	model = build_end(&b);
	assert_int_equal(gp_machine_of(&model, 1, &machine), 0);
	assert_string_equal(gp_machine_fact_text(&machine, GP_MACHINE_OPTIONS), "the default");
	assert_string_equal(gp_machine_fact_text(&machine, GP_MACHINE_CUPTI), "unknown");
	gp_machine_free(&machine);
	model->recorder = "another";
	assert_int_equal(gp_machine_of(&model, 1, &machine), 0);
	assert_string_equal(gp_machine_fact(&machine, GP_MACHINE_OPTIONS), "");
	assert_string_equal(gp_machine_fact_text(&machine, GP_MACHINE_OPTIONS), "unknown");
	assert_string_equal(gp_machine_fact_text(&machine, GP_MACHINE_GPUPROF), "unknown");
	gp_machine_free(&machine);
	gp_model_free(model);
}

/* Frameworks name devices by the process, through NVTX: that is no other device. */
static void what_a_program_calls_a_device_does_not_count(void **state)
{
	struct gp_machine machine;
	struct gp_builder b;
	struct gp_model *model;

	gp_builder_init(&b);
	gp_builder_start(&b);
	gp_builder_chunk(&b, 1, 100);
	gp_builder_add(&b, &(struct gp_record_device){.kind = GP_RECORD_DEVICE,
						      .device_id = 3,
						      .core_clock_khz = 1980000});
	gp_builder_string(&b, GP_STRING_DEVICE, 3, 0, "NVIDIA H200");
	gp_builder_string(&b, GP_STRING_DEVICE, 3, GP_NAME_GIVEN, "(rank 7)");
	model = gp_builder_load(&b);
	assert_string_equal(model->device_names[0], "NVIDIA H200 ((rank 7))");
	assert_int_equal(gp_machine_of(&model, 1, &machine), 0);
	assert_string_equal(gp_machine_fact(&machine, GP_MACHINE_GPUS),
			    "NVIDIA H200, 0 SMs, 0B, 1980 MHz");
	gp_machine_free(&machine);
	gp_model_free(model);
	gp_builder_free(&b);
}

static void equal_gpus_are_counted(void **state)
{
	static const char *const cases[][2] = {
		{"", ""},
		{"A", "A"},
		{"A; A", "2 x A"},
		{"A; AB; A", "A; AB; A"},
		{"A; A; B; B; B", "2 x A; 3 x B"},
		{"2 x A; B", "2 x A; B"},
		{"; ", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *joined = gp_machine_join_gpus(cases[i][0]);

		assert_string_equal(joined, cases[i][1]);
		free(joined);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_is_its_gpus_versions_and_options),
		cmocka_unit_test(what_another_recorder_does_not_say_is_not_known),
		cmocka_unit_test(what_a_program_calls_a_device_does_not_count),
		cmocka_unit_test(equal_gpus_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
