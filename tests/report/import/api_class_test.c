#include <stdio.h>
#include <string.h>
#include "report/import/api_class.h"
#include "tests/unit.h"

/* What the recorder knows of the calls that it records. */
static const struct {
	const char *name;
	enum gp_api_class class;
} recorded[] = {
#define GP_API(domain, cbid, name, class, shape, memory) {#name, GP_API_##class},
#include "inject/api.def"
#undef GP_API
};

static void names_tell_what_the_recorder_knows(void **state)
{
	for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++) {
		const char *name = recorded[i].name;

		if (gp_import_api_class(name, strlen(name)) != recorded[i].class)
			fail_msg("%s is taken for another class of calls", name);
	}
}

static void functions_of_hip_are_as_cuda_s(void **state)
{
	static const struct {
		const char *name;
		enum gp_api_class class;
	} functions[] = {
		{"hipLaunchKernel", GP_API_LAUNCH},
		{"hipModuleLaunchKernel", GP_API_LAUNCH},
		{"hipExtModuleLaunchKernel", GP_API_LAUNCH},
		{"hipModuleLoadData", GP_API_MODULE},
		{"hipMemcpyWithStream", GP_API_COPY},
		{"hipHostMalloc", GP_API_ALLOC},
		{"hipHostFree", GP_API_FREE},
		{"hipStreamSynchronize", GP_API_SYNC},
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		assert_int_equal(gp_import_api_class(functions[i].name, strlen(functions[i].name)),
				 functions[i].class);
}

static void functions_of_other_devices_are_known(void **state)
{
	static const struct {
		const char *name;
		enum gp_api_class class;
	} functions[] = {
		{"urEnqueueKernelLaunch", GP_API_LAUNCH},
		{"urEnqueueUSMMemcpy", GP_API_COPY},
		{"urQueueFinish", GP_API_SYNC},
		{"urUSMDeviceAlloc", GP_API_ALLOC},
		{"urUSMFree", GP_API_FREE},
		{"urDeviceGet", GP_API_OTHER},
		{"zeCommandListAppendLaunchKernel", GP_API_LAUNCH},
		{"zeModuleCreate", GP_API_MODULE},
		{"cnInvokeKernel", GP_API_LAUNCH},
		{"cnnlMultiTensorScale", GP_API_OTHER},
		{"musaLaunchKernel", GP_API_LAUNCH},
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		assert_int_equal(gp_import_api_class(functions[i].name, strlen(functions[i].name)),
				 functions[i].class);
}

static void others_are_others(void **state)
{
	static const char *const others[] = {"cudaGetErrorString",
					     "cudaStreamIsCapturing",
					     "cudaEventQuery",
					     "cuInit",
					     "hipGetDevice",
					     "cuda",
					     "",
					     "MallocHost",
					     "cudaMemGetInfo"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(gp_import_api_class(others[i], strlen(others[i])), GP_API_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_tell_what_the_recorder_knows),
		cmocka_unit_test(functions_of_hip_are_as_cuda_s),
		cmocka_unit_test(functions_of_other_devices_are_known),
		cmocka_unit_test(others_are_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
