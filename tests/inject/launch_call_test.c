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

static __attribute__((noinline)) uint64_t kind_of(bool driver, uint32_t cbid,
						  const void *parameters)
{
	uint64_t kind = gp_launch_call_kind(gp_api_table_find(driver, cbid), parameters);

	return (uint32_t)(kind ^ kind >> 32); /* as inject/launch_sampler.h takes it */
}

#define RUNTIME(name) false, CUPTI_RUNTIME_TRACE_CBID_##name
#define DRIVER(name)  true, CUPTI_DRIVER_TRACE_CBID_##name

/* Whatever differs makes another kind, in each of the layouts. */
static void kinds_are_kernel_grid_and_block(void **state)
{
	cudaLaunchKernel_v7000_params runtime[] = {
		{.func = "a", .gridDim = {1, 1, 1}, .blockDim = {32, 1, 1}},
		{.func = "b", .gridDim = {1, 1, 1}, .blockDim = {32, 1, 1}},
		{.func = "a", .gridDim = {1, 1, 2}, .blockDim = {32, 1, 1}},
		{.func = "a", .gridDim = {1, 1, 1}, .blockDim = {32, 1, 2}},
	};
	cuLaunchKernel_params driver[] = {
		{.f = (CUfunction)1, .gridDimX = 1, .blockDimX = 32, .sharedMemBytes = 0},
		{.f = (CUfunction)2, .gridDimX = 1, .blockDimX = 32},
		{.f = (CUfunction)1, .gridDimX = 2, .blockDimX = 32},
		{.f = (CUfunction)1, .gridDimX = 1, .blockDimX = 64},
	};
	cudaLaunchConfig_t configs[] = {{.gridDim = {1, 1, 1}, .blockDim = {32, 1, 1}},
					{.gridDim = {2, 1, 1}, .blockDim = {32, 1, 1}},
					{.gridDim = {1, 1, 1}, .blockDim = {64, 1, 1}}};
	cudaLaunchKernelExC_v11060_params configured[] = {{.config = &configs[0], .func = "a"},
							  {.config = &configs[0], .func = "b"},
							  {.config = &configs[1], .func = "a"},
							  {.config = &configs[2], .func = "a"}};
	uint64_t kinds[12];

	for (int i = 0; i < 4; i++) {
		kinds[i] = kind_of(RUNTIME(cudaLaunchKernel_v7000), &runtime[i]);
		kinds[4 + i] = kind_of(DRIVER(cuLaunchKernel), &driver[i]);
		kinds[8 + i] = kind_of(RUNTIME(cudaLaunchKernelExC_v11060), &configured[i]);
	}
	for (int i = 0; i < 12; i++)
		for (int j = 0; j < i; j++)
			assert_int_not_equal(kinds[i], kinds[j]);
	runtime[0].sharedMem = 48;
	runtime[0].args = (void **)configs;
	assert_int_equal(kind_of(RUNTIME(cudaLaunchKernel_v7000), &runtime[0]), kinds[0]);
	configured[0].config = NULL;
	kind_of(RUNTIME(cudaLaunchKernelExC_v11060), &configured[0]);
}

static void kinds_of_copies_and_graphs(void **state)
{
	cudaMemcpyAsync_v3020_params up = {.count = 8, .kind = cudaMemcpyHostToDevice};
	cudaMemcpyAsync_v3020_params down = {.count = 9, .kind = cudaMemcpyDeviceToHost};
	cudaGraphLaunch_v10000_params one = {.graphExec = (cudaGraphExec_t)1};
	cudaGraphLaunch_v10000_params other = {.graphExec = (cudaGraphExec_t)2};
	uint64_t kind = kind_of(RUNTIME(cudaMemcpyAsync_v3020), &up);

	assert_int_not_equal(kind, kind_of(RUNTIME(cudaMemcpyAsync_v3020), &down));
	assert_int_not_equal(kind, kind_of(RUNTIME(cudaMemcpy_v3020), &up));
	up.count = 1000;
	assert_int_equal(kind, kind_of(RUNTIME(cudaMemcpyAsync_v3020), &up));
	assert_int_not_equal(kind_of(RUNTIME(cudaGraphLaunch_v10000), &one),
			     kind_of(RUNTIME(cudaGraphLaunch_v10000), &other));
	assert_int_not_equal(kind_of(DRIVER(cuMemcpyHtoDAsync_v2), NULL),
			     kind_of(DRIVER(cuMemcpyDtoHAsync_v2), NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_of_the_runtime),
		cmocka_unit_test(attributes_of_the_driver),
		cmocka_unit_test(a_configuration_may_be_missing),
		cmocka_unit_test(cooperative_calls_need_no_attribute),
		cmocka_unit_test(kinds_are_kernel_grid_and_block),
		cmocka_unit_test(kinds_of_copies_and_graphs),
	};

	return cmocka_run_group_tests(tests, init, NULL);
}
