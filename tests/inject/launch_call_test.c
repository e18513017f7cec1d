/* launch_call: attributes of launches, in the parameter structs of CUPTI's own headers. */

#include "tests/unit.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cupti.h>

#include "gpuprof/record.h"
#include "inject/launch_call.h"

static int init(void **state)
{
	gp_api_table_init();
	return 0;
}

static uint16_t flags_of(bool driver, uint32_t cbid, const void *parameters)
{
	const struct gp_api_entry *entry = gp_api_table_find(driver, cbid);

	assert_non_null(entry);
	assert_int_equal(entry->class, GP_API_LAUNCH);
	assert_true(entry->shape >= GP_SHAPE_LAUNCHES);
	return gp_launch_call_flags(entry, parameters);
}

static uint16_t flags_of_runtime(cudaLaunchAttribute *attributes, unsigned count)
{
	cudaLaunchConfig_t config = {.attrs = attributes, .numAttrs = count};
	cudaLaunchKernelExC_v11060_params parameters = {.config = &config};

	return flags_of(false, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060, &parameters);
}

static uint16_t flags_of_driver(CUlaunchAttribute *attributes, unsigned count)
{
	CUlaunchConfig config = {.attrs = attributes, .numAttrs = count};
	cuLaunchKernelEx_params parameters = {.config = &config};

	return flags_of(true, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, &parameters);
}

static void attributes_of_the_runtime(void **state)
{
	cudaLaunchAttribute attributes[3] = {
		{.id = cudaLaunchAttributeClusterDimension, .val.clusterDim = {2, 1, 1}},
		{.id = cudaLaunchAttributeCooperative, .val.cooperative = 1},
		{.id = cudaLaunchAttributeProgrammaticStreamSerialization,
		 .val.programmaticStreamSerializationAllowed = 1},
	};

	assert_int_equal(flags_of_runtime(NULL, 0), 0);
	assert_int_equal(flags_of_runtime(NULL, 3), 0);
	assert_int_equal(flags_of_runtime(attributes, 1), 0);
	assert_int_equal(flags_of_runtime(attributes, 2), GP_CALL_COOPERATIVE);
	assert_int_equal(flags_of_runtime(attributes, 3),
			 GP_CALL_COOPERATIVE | GP_CALL_OVERLAPPING);
	attributes[1].val.cooperative = 0; /* present, but not enabled */
	attributes[2].val.programmaticStreamSerializationAllowed = 0;
	assert_int_equal(flags_of_runtime(attributes, 3), 0);
}

static void attributes_of_the_driver(void **state)
{
	CUlaunchAttribute attributes[2] = {
		{.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
		 .value.programmaticEvent = {.event = (CUevent)0x10}},
		{.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1},
	};

	assert_int_equal(flags_of_driver(attributes, 1), GP_CALL_OVERLAPPING);
	assert_int_equal(flags_of_driver(attributes, 2), GP_CALL_OVERLAPPING | GP_CALL_COOPERATIVE);
	attributes[0].value.programmaticEvent.event = NULL;
	assert_int_equal(flags_of_driver(attributes, 1), 0);
}

static void a_configuration_may_be_missing(void **state)
{
	cuLaunchKernelEx_params parameters = {.config = NULL};

	assert_int_equal(flags_of(true, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &parameters), 0);
}

static void cooperative_calls_need_no_attribute(void **state)
{
	static const uint32_t runtime[] = {
		CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000,
		CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000,
		CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernelMultiDevice_v9000,
	};
	static const uint32_t driver[] = {
		CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
		CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
		CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice,
	};

	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(flags_of(false, runtime[i], NULL), GP_CALL_COOPERATIVE);
		assert_int_equal(flags_of(true, driver[i], NULL), GP_CALL_COOPERATIVE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_of_the_runtime),
		cmocka_unit_test(attributes_of_the_driver),
		cmocka_unit_test(a_configuration_may_be_missing),
		cmocka_unit_test(cooperative_calls_need_no_attribute),
	};

	return cmocka_run_group_tests(tests, init, NULL);
}
