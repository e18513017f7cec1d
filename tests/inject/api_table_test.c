/*
 * api_table: the numbers and names in inject/api.def agree with the Toolkit's headers and libcupti.
 */

#include "tests/unit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <cupti.h>

#include "gpuprof/record.h"
#include "inject/api_table.h"

static int init(void **state)
{
	gp_api_table_init();
	return 0;
}

static void every_entry_is_found_by_its_number(void **state)
{
	uint32_t count;
	const struct gp_api_entry *entries = gp_api_table(&count);

	assert_true(count > 300);
	for (uint32_t i = 0; i < count; i++)
		assert_ptr_equal(gp_api_table_find(GP_API_IS_DRIVER(entries[i].api),
						   GP_API_CBID(entries[i].api)),
				 &entries[i]);
}

static void other_numbers_are_not_found(void **state)
{
	assert_null(gp_api_table_find(false, CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020));
	assert_null(gp_api_table_find(true, 0));
	assert_null(gp_api_table_find(true, GP_API_CBID_LIMIT));
	assert_null(gp_api_table_find(false, UINT32_MAX));
}

/* Every kind of launch is in the table: a missing one would be a kernel without a call. */
static void every_launch_is_there(void **state)
{
	static const struct {
		bool driver;
		uint32_t cbid;
	} launches[] = {
		{false, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000},
		{false, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000},
		{false, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060},
		{false, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060},
		{false, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000},
		{true, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel},
		{true, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz},
		{true, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx},
		{true, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz},
		{true, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel},
	};

	for (size_t i = 0; i < sizeof(launches) / sizeof(launches[0]); i++) {
		const struct gp_api_entry *entry =
			gp_api_table_find(launches[i].driver, launches[i].cbid);

		assert_non_null(entry);
		assert_int_equal(entry->class, GP_API_LAUNCH);
	}
}

/* Allocating and freeing calls have a parameter shape; calls that only manage memory need none. */
static void memory_calls_have_a_shape(void **state)
{
	uint32_t count;
	const struct gp_api_entry *entries = gp_api_table(&count);

	for (uint32_t i = 0; i < count; i++) {
		bool is_memory =
			entries[i].class == GP_API_ALLOC || entries[i].class == GP_API_FREE;
		bool has_shape =
			entries[i].shape >= GP_SHAPE_MEMORY && entries[i].shape < GP_SHAPE_LAUNCHES;

		if (is_memory || has_shape)
			assert_true(has_shape && entries[i].memory_kind != 0);
		if (!is_memory && entries[i].memory_kind != 0)
			assert_int_equal(entries[i].class, GP_API_CONTROL);
		if (is_memory)
			assert_int_equal(entries[i].shape == GP_SHAPE_FREED,
					 entries[i].class == GP_API_FREE);
	}
}

/* CUPTI's headers do not declare the parameters of these calls, so they are not read. */
static void undeclared_parameters_are_not_read(void **state)
{
	assert_int_equal(gp_api_table_find(false, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000)
				 ->stream_at,
			 GP_RUNTIME_LAUNCH_STREAM);
	assert_int_equal(gp_api_table_find(false, 505)->stream_at, 0); /* __cudaLaunchKernel */
	assert_int_equal(gp_api_table_find(false, 506)->stream_at, 0);
}

/* Calls that exist in several variants are recorded under every one of them. */
static void variants_are_together(void **state)
{
	static const struct {
		const char *name;
		uint32_t count;
		uint8_t class;
	} families[] = {
		{"cudaEventRecord", 4, GP_API_EVENT},
		{"cuEventRecord", 4, GP_API_EVENT},
		{"cudaLaunchHostFunc", 4, GP_API_HOST},
		{"cuLaunchHostFunc", 4, GP_API_HOST},
		{"cudaStreamAddCallback", 2, GP_API_HOST},
		{"cuModuleLoad", 4, GP_API_MODULE},
		{"cuLibraryLoad", 2, GP_API_MODULE},
		{"cuLink", 8, GP_API_MODULE},
		{"cudaMemcpyBatchAsync", 4, GP_API_COPY},
		{"cudaMemcpy3DBatchAsync", 4, GP_API_COPY},
		{"cudaMemPrefetch", 6, GP_API_CONTROL},
		{"cudaMemAdvise", 2, GP_API_CONTROL},
		{"cudaStreamCreate", 3, GP_API_CONTROL},
		{"cudaMemPool", 9, GP_API_CONTROL},
		{"cudaGraphInstantiate", 5, GP_API_CONTROL},
	};
	uint32_t count;
	const struct gp_api_entry *entries = gp_api_table(&count);

	for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
		uint32_t found = 0;

		for (uint32_t i = 0; i < count; i++) {
			if (strncmp(gp_api_cupti_name(&entries[i]), families[f].name,
				    strlen(families[f].name)) != 0)
				continue;
			assert_int_equal(entries[i].class, families[f].class);
			found++;
		}
		assert_int_equal(found, families[f].count);
	}
}

/* libcupti names its calls even without a driver.  An older one does not know the newest calls. */
static void names_are_those_of_libcupti(void **state)
{
	void *library = dlopen("libcupti.so.13", RTLD_NOW);
	uint32_t count, compared = 0;
	const struct gp_api_entry *entries = gp_api_table(&count);

	if (library == NULL)
		library = dlopen("/usr/local/cuda/lib64/libcupti.so", RTLD_NOW);
	if (library == NULL) {
		print_message("skipped: no libcupti to compare with\n");
		skip();
	}
	__typeof__(&cuptiGetCallbackName) name_of;

	*(void **)&name_of = dlsym(library, "cuptiGetCallbackName");
	for (uint32_t i = 0; i < count; i++) {
		const char *name = NULL;

		if (name_of(GP_API_IS_DRIVER(entries[i].api) ? CUPTI_CB_DOMAIN_DRIVER_API
							     : CUPTI_CB_DOMAIN_RUNTIME_API,
			    GP_API_CBID(entries[i].api), &name) != CUPTI_SUCCESS ||
		    name == NULL)
			continue;
		assert_string_equal(name, gp_api_cupti_name(&entries[i]));
		compared++;
	}
	assert_true(compared > count / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_entry_is_found_by_its_number),
		cmocka_unit_test(other_numbers_are_not_found),
		cmocka_unit_test(every_launch_is_there),
		cmocka_unit_test(memory_calls_have_a_shape),
		cmocka_unit_test(undeclared_parameters_are_not_read),
		cmocka_unit_test(variants_are_together),
		cmocka_unit_test(names_are_those_of_libcupti),
	};

	return cmocka_run_group_tests(tests, init, NULL);
}
