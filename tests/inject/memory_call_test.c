/* memory_call: parameters in the structs of CUPTI's own headers. */

#include "tests/unit.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cupti.h>

#include "inject/memory_call.h"

static int init(void **state)
{
	gp_api_table_init();
	return 0;
}

static struct gp_record_memory read_call(bool driver, uint32_t cbid, const void *parameters)
{
	const struct gp_api_entry *entry = gp_api_table_find(driver, cbid);
	struct gp_record_memory memory = {.address = 0};

	assert_non_null(entry);
	gp_memory_call_read(entry, parameters, &memory);
	return memory;
}

#define RUNTIME(call, parameters) read_call(false, CUPTI_RUNTIME_TRACE_CBID_##call, parameters)
#define DRIVER(call, parameters)  read_call(true, CUPTI_DRIVER_TRACE_CBID_##call, parameters)

static void *const somewhere = (void *)0x7f0012340000;

static void plain_allocations(void **state)
{
	void *address = somewhere;
	CUdeviceptr device = 0x7f00aa;
	struct gp_record_memory memory =
		RUNTIME(cudaMalloc_v3020, (&(cudaMalloc_v3020_params){&address, 4096}));

	assert_int_equal(memory.address, 0x7f0012340000);
	assert_int_equal(memory.bytes, 4096);
	assert_int_equal(memory.op, GP_MEMORY_ALLOC);
	assert_int_equal(memory.memory_kind, GP_MEMORY_DEVICE);
	assert_int_equal(memory.device_id, GP_DEVICE_UNKNOWN);
	memory = DRIVER(cuMemAlloc_v2, (&(cuMemAlloc_v2_params){&device, 100}));
	assert_int_equal(memory.address, 0x7f00aa);
	assert_int_equal(memory.bytes, 100);
	memory = RUNTIME(cudaMallocManaged_v6000,
			 (&(cudaMallocManaged_v6000_params){&address, 5, 1}));
	assert_int_equal(memory.memory_kind, GP_MEMORY_MANAGED);
	memory = RUNTIME(cudaHostAlloc_v3020, (&(cudaHostAlloc_v3020_params){&address, 6, 0}));
	assert_int_equal(memory.memory_kind, GP_MEMORY_PINNED);
	assert_int_equal(memory.bytes, 6);
}

static void stream_ordered_allocations(void **state)
{
	void *address = somewhere;
	cudaMemPool_t pool = (cudaMemPool_t)0x5500;
	struct gp_record_memory memory = RUNTIME(
		cudaMallocAsync_v11020, (&(cudaMallocAsync_v11020_params){&address, 7, NULL}));

	assert_int_equal(memory.memory_kind, GP_MEMORY_ASYNC);
	assert_int_equal(memory.bytes, 7);
	assert_int_equal(memory.pool, 0);
	memory = RUNTIME(cudaMallocFromPoolAsync_v11020,
			 (&(cudaMallocFromPoolAsync_v11020_params){&address, 8, pool, NULL}));
	assert_int_equal(memory.pool, 0x5500);
}

/* Only the results of the call contain the real size. */
static void pitched_allocations(void **state)
{
	void *address = somewhere;
	size_t pitch = 1024;
	struct cudaPitchedPtr pitched = {.ptr = somewhere, .pitch = 512, .xsize = 100, .ysize = 10};
	struct gp_record_memory memory =
		RUNTIME(cudaMallocPitch_v3020,
			(&(cudaMallocPitch_v3020_params){&address, &pitch, 1000, 10}));

	assert_int_equal(memory.bytes, 10240);
	memory =
		RUNTIME(cudaMalloc3D_v3020, (&(cudaMalloc3D_v3020_params){&pitched, {100, 10, 3}}));
	assert_int_equal(memory.address, 0x7f0012340000);
	assert_int_equal(memory.bytes, 512 * 10 * 3);
}

static void arrays(void **state)
{
	cudaArray_t array = (cudaArray_t)0x99;
	cudaMipmappedArray_t mipmap = (cudaMipmappedArray_t)0x98;
	struct cudaChannelFormatDesc rgba = {32, 32, 32, 32, cudaChannelFormatKindFloat};
	CUarray driver_array = (CUarray)0x97;
	CUDA_ARRAY_DESCRIPTOR half = {
		.Width = 10, .Height = 0, .Format = CU_AD_FORMAT_HALF, .NumChannels = 2};
	struct gp_record_memory memory = RUNTIME(
		cudaMallocArray_v3020, (&(cudaMallocArray_v3020_params){&array, &rgba, 64, 0, 0}));

	assert_int_equal(memory.address, 0x99);
	assert_int_equal(memory.bytes, 64 * 16);
	assert_int_equal(memory.memory_kind, GP_MEMORY_ARRAY);
	memory = RUNTIME(cudaMalloc3DArray_v3020,
			 (&(cudaMalloc3DArray_v3020_params){&array, &rgba, {4, 5, 6}, 0}));
	assert_int_equal(memory.bytes, 4 * 5 * 6 * 16);
	memory = RUNTIME(cudaMallocMipmappedArray_v5000, (&(cudaMallocMipmappedArray_v5000_params){
								 &mipmap, &rgba, {4, 4, 0}, 3, 0}));
	assert_int_equal(memory.bytes, (16 + 4 + 1) * 16);
	memory = DRIVER(cuArrayCreate_v2, (&(cuArrayCreate_v2_params){&driver_array, &half}));
	assert_int_equal(memory.bytes, 10 * 2 * 2);
}

static void arrays_with_flags(void **state)
{
	cudaArray_t array = (cudaArray_t)0x99;
	cudaMipmappedArray_t mipmap = (cudaMipmappedArray_t)0x98;
	struct cudaChannelFormatDesc rgba = {32, 32, 32, 32, cudaChannelFormatKindFloat};
	CUarray driver_array = (CUarray)0x97;
	CUDA_ARRAY3D_DESCRIPTOR layers = {.Width = 4,
					  .Height = 4,
					  .Depth = 6,
					  .Format = CU_AD_FORMAT_HALF,
					  .NumChannels = 1,
					  .Flags = CUDA_ARRAY3D_LAYERED};
	CUmipmappedArray driver_mipmap = (CUmipmappedArray)0x96;
	struct gp_record_memory memory =
		RUNTIME(cudaMallocArray_v3020,
			(&(cudaMallocArray_v3020_params){&array, &rgba, 64, 64, cudaArraySparse}));

	assert_int_equal(memory.bytes, 0);
	memory = RUNTIME(cudaMalloc3DArray_v3020,
			 (&(cudaMalloc3DArray_v3020_params){
				 &array, &rgba, {4, 5, 6}, cudaArrayDeferredMapping}));
	assert_int_equal(memory.bytes, 0);
	memory = RUNTIME(cudaMallocMipmappedArray_v5000,
			 (&(cudaMallocMipmappedArray_v5000_params){
				 &mipmap, &rgba, {4, 4, 6}, 3, cudaArrayLayered}));
	assert_int_equal(memory.bytes, 6 * (16 + 4 + 1) * 16);
	memory = DRIVER(cuMipmappedArrayCreate,
			(&(cuMipmappedArrayCreate_params){&driver_mipmap, &layers, 3}));
	assert_int_equal(memory.bytes, 6 * (16 + 4 + 1) * 2);
	layers.Flags = CUDA_ARRAY3D_SPARSE;
	memory = DRIVER(cuArray3DCreate_v2, (&(cuArray3DCreate_v2_params){&driver_array, &layers}));
	assert_int_equal(memory.bytes, 0);
}

static void physical_memory_names_its_device(void **state)
{
	CUmemGenericAllocationHandle handle = 0x4242;
	CUmemAllocationProp properties = {
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 3}};
	struct gp_record_memory memory =
		DRIVER(cuMemCreate, (&(cuMemCreate_params){&handle, 2 << 20, &properties, 0}));

	assert_int_equal(memory.address, 0x4242);
	assert_int_equal(memory.bytes, 2 << 20);
	assert_int_equal(memory.device_id, 3);
	assert_int_equal(memory.memory_kind, GP_MEMORY_PHYSICAL);
}

static void frees(void **state)
{
	struct gp_record_memory memory =
		RUNTIME(cudaFree_v3020, (&(cudaFree_v3020_params){somewhere}));

	assert_int_equal(memory.op, GP_MEMORY_FREE);
	assert_int_equal(memory.address, 0x7f0012340000);
	assert_int_equal(memory.bytes, 0);
	memory = DRIVER(cuMemHostUnregister, (&(cuMemHostUnregister_params){somewhere}));
	assert_int_equal(memory.memory_kind, GP_MEMORY_REGISTERED);
	memory = RUNTIME(cudaHostRegister_v4000,
			 (&(cudaHostRegister_v4000_params){somewhere, 77, 0}));
	assert_int_equal(memory.op, GP_MEMORY_ALLOC);
	assert_int_equal(memory.bytes, 77);
}

/* The bytes belong to the process that allocated them. */
static void memory_of_another_process_has_no_bytes(void **state)
{
	void *address = somewhere;
	cudaIpcOpenMemHandle_v4010_params parameters = {.devPtr = &address};
	struct gp_record_memory memory = RUNTIME(cudaIpcOpenMemHandle_v4010, &parameters);

	assert_int_equal(memory.address, 0x7f0012340000);
	assert_int_equal(memory.bytes, 0);
	assert_int_equal(memory.memory_kind, GP_MEMORY_IPC);
}

/* The reader needs mappings and ownerships to know when physical memory is freed. */
static void physical_memory_is_mapped_and_retained(void **state)
{
	CUmemGenericAllocationHandle handle = 0x55aa;
	struct gp_record_memory memory =
		DRIVER(cuMemMap, (&(cuMemMap_params){0x7f0000200000, 0x200000, 0, handle, 0}));

	assert_int_equal(memory.op, GP_MEMORY_MAP);
	assert_int_equal(memory.memory_kind, GP_MEMORY_PHYSICAL);
	assert_int_equal(memory.address, 0x7f0000200000);
	assert_int_equal(memory.bytes, 0x200000);
	assert_int_equal(memory.pool, handle);
	memory = DRIVER(cuMemUnmap, (&(cuMemUnmap_params){0x7f0000200000, 0x200000}));
	assert_int_equal(memory.op, GP_MEMORY_UNMAP);
	assert_int_equal(memory.address, 0x7f0000200000);
	assert_int_equal(memory.bytes, 0x200000);
	memory = DRIVER(cuMemRetainAllocationHandle,
			(&(cuMemRetainAllocationHandle_params){&handle, somewhere}));
	assert_int_equal(memory.op, GP_MEMORY_RETAIN);
	assert_int_equal(memory.address, handle);
	memory = DRIVER(cuMemImportFromShareableHandle,
			(&(cuMemImportFromShareableHandle_params){&handle, NULL, 1}));
	assert_int_equal(memory.op, GP_MEMORY_ALLOC);
	assert_int_equal(memory.address, handle);
	assert_int_equal(memory.bytes, 0);
}

static uint64_t asked_of(bool driver, uint32_t cbid, const void *parameters)
{
	struct gp_record_memory memory = {.address = 0};

	assert_true(
		gp_memory_call_read_failed(gp_api_table_find(driver, cbid), parameters, &memory));
	assert_int_equal(memory.address, 0);
	assert_int_equal(memory.op, GP_MEMORY_ALLOC);
	assert_int_equal(memory.device_id, GP_DEVICE_UNKNOWN);
	return memory.bytes;
}

/* No pointer is followed, because the call may have failed because of it. */
static void requested_sizes_of_failed_calls(void **state)
{
	static void *const wild = (void *)1;

	assert_int_equal(asked_of(false, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020,
				  &(cudaMalloc_v3020_params){wild, SIZE_MAX}),
			 UINT64_MAX);
	assert_int_equal(asked_of(true, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2,
				  &(cuMemAlloc_v2_params){wild, 0}),
			 0);
	assert_int_equal(asked_of(false, CUPTI_RUNTIME_TRACE_CBID_cudaMallocAsync_v11020,
				  &(cudaMallocAsync_v11020_params){wild, 7, NULL}),
			 7);
	assert_int_equal(asked_of(false, CUPTI_RUNTIME_TRACE_CBID_cudaMallocPitch_v3020,
				  &(cudaMallocPitch_v3020_params){wild, wild, 100, 30}),
			 3000);
	assert_int_equal(asked_of(false, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc3D_v3020,
				  &(cudaMalloc3D_v3020_params){wild, {10, 20, 30}}),
			 6000);
	assert_int_equal(asked_of(true, CUPTI_DRIVER_TRACE_CBID_cuMemCreate,
				  &(cuMemCreate_params){wild, 4096, wild, 0}),
			 4096);
	assert_int_equal(asked_of(false, CUPTI_RUNTIME_TRACE_CBID_cudaHostRegister_v4000,
				  &(cudaHostRegister_v4000_params){wild, 55, 0}),
			 55);
}

static void other_failed_calls_have_no_size(void **state)
{
	struct gp_record_memory memory = {.address = 0};

	assert_false(gp_memory_call_read_failed(
		gp_api_table_find(false, CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020),
		&(cudaFree_v3020_params){somewhere}, &memory));
	assert_false(gp_memory_call_read_failed(
		gp_api_table_find(false, CUPTI_RUNTIME_TRACE_CBID_cudaMallocArray_v3020),
		&(cudaMallocArray_v3020_params){0}, &memory));
	assert_false(gp_memory_call_read_failed(
		gp_api_table_find(false, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000),
		&(cudaLaunchKernel_v7000_params){0}, &memory));
	assert_false(gp_memory_call_read_failed(
		gp_api_table_find(false,
				  CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000),
		&(cudaLaunchCooperativeKernel_v9000_params){0}, &memory));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_allocations),
		cmocka_unit_test(stream_ordered_allocations),
		cmocka_unit_test(pitched_allocations),
		cmocka_unit_test(arrays),
		cmocka_unit_test(arrays_with_flags),
		cmocka_unit_test(physical_memory_names_its_device),
		cmocka_unit_test(frees),
		cmocka_unit_test(memory_of_another_process_has_no_bytes),
		cmocka_unit_test(physical_memory_is_mapped_and_retained),
		cmocka_unit_test(requested_sizes_of_failed_calls),
		cmocka_unit_test(other_failed_calls_have_no_size),
	};

	return cmocka_run_group_tests(tests, init, NULL);
}
