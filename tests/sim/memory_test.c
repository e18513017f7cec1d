/* Memory of the simulated device: sizes, limits, contents, errors, several devices. */
#include "tests/sim/harness.h"

#include <cuda.h>

#define MIB ((size_t)1 << 20)

static size_t free_bytes(void)
{
	size_t free_now, total;

	REQUIRE(!cudaMemGetInfo(&free_now, &total));
	return free_now;
}

static void account(void)
{
	size_t before = free_bytes();
	void *p, *q;

	REQUIRE(!cudaMalloc(&p, 100 * MIB));
	REQUIRE(before - free_bytes() == 100 * MIB);
	REQUIRE(cudaMalloc(&q, before) == cudaErrorMemoryAllocation);
	REQUIRE(cudaGetLastError() == cudaErrorMemoryAllocation);
	REQUIRE(!cudaFree(p) && free_bytes() == before);
	REQUIRE(cudaFree(p) == cudaErrorInvalidValue);
	REQUIRE(!cudaMalloc(&p, 0) && p == NULL && !cudaFree(NULL));
}

static void run_out(void)
{
	void *p;
	int count = 0;

	while (!cudaMalloc(&p, 64 * MIB))
		count++;
	REQUIRE(count > 0 && count <= 1024 / 64);
}

static void end_with_context(void)
{
	size_t before = free_bytes();
	void *p;

	for (int i = 0; i < 100; i++)
		REQUIRE(!cudaMalloc(&p, MIB));
	REQUIRE(!cudaDeviceReset());
	REQUIRE(free_bytes() == before);
}

static void move_bytes(void)
{
	char from[1000], to[1000];
	void *p, *q;

	memset(from, 42, sizeof(from));
	REQUIRE(!cudaMalloc(&p, 1000) && !cudaMalloc(&q, 1000));
	REQUIRE(!cudaMemcpy(p, from, 1000, cudaMemcpyHostToDevice));
	REQUIRE(!cudaMemset((char *)p + 10, 7, 10));
	REQUIRE(cudaMemset(p, 0, SIZE_MAX) == cudaErrorInvalidValue);
	REQUIRE(!cudaMemcpy(q, p, 1000, cudaMemcpyDeviceToDevice));
	REQUIRE(!cudaMemcpy(to, q, 1000, cudaMemcpyDefault));
	REQUIRE(to[9] == 42 && to[10] == 7 && to[19] == 7 && to[20] == 42 && to[999] == 42);
	REQUIRE(cudaMemcpy(p, from, 1001, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
	REQUIRE(cudaMemcpy(p, from, 10, (enum cudaMemcpyKind)99) ==
		cudaErrorInvalidMemcpyDirection);
}

static void move_rows(void)
{
	char from[64], to[64] = {0};
	size_t pitch;
	void *p;

	for (int i = 0; i < 64; i++)
		from[i] = (char)i;
	REQUIRE(!cudaMallocPitch(&p, &pitch, 8, 8) && pitch >= 8);
	REQUIRE(!cudaMemcpy2D(p, pitch, from, 8, 8, 8, cudaMemcpyHostToDevice));
	REQUIRE(!cudaMemcpy2D(to, 16, p, pitch, 8, 4, cudaMemcpyDeviceToHost));
	REQUIRE(to[7] == 7 && to[8] == 0 && to[16] == 8 && to[48 + 7] == 31);
}

static void describe_pointers(void)
{
	struct cudaPointerAttributes a;
	char own[10];
	void *p;

	REQUIRE(!cudaMalloc(&p, 100) && !cudaPointerGetAttributes(&a, (char *)p + 50));
	REQUIRE(a.type == cudaMemoryTypeDevice && a.device == 0);
	REQUIRE(!cudaMallocHost(&p, 100) && !cudaPointerGetAttributes(&a, p));
	REQUIRE(a.type == cudaMemoryTypeHost);
	REQUIRE(!cudaMallocManaged(&p, 100, 1) && !cudaPointerGetAttributes(&a, p));
	REQUIRE(a.type == cudaMemoryTypeManaged);
	REQUIRE(!cudaPointerGetAttributes(&a, own) && a.type == cudaMemoryTypeUnregistered);
	REQUIRE(!cudaHostRegister(own, 10, 0) && !cudaPointerGetAttributes(&a, own));
	REQUIRE(a.type == cudaMemoryTypeHost);
	REQUIRE(cudaHostRegister(own, 10, 0) == cudaErrorHostMemoryAlreadyRegistered);
	REQUIRE(!cudaHostUnregister(own));
	REQUIRE(cudaHostUnregister(own) == cudaErrorHostMemoryNotRegistered);
}

/* Memory mapped at a second address has the data written through the first address. */
static void remap(void)
{
	CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
				  .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
					  .location = access.location};
	CUmemGenericAllocationHandle handle;
	CUdeviceptr address;
	unsigned char byte = 0;

	REQUIRE(!cudaFree(NULL));
	REQUIRE(!cuMemAddressReserve(&address, 8 * MIB, 0, 0, 0));
	REQUIRE(!cuMemCreate(&handle, 2 * MIB, &properties, 0));
	REQUIRE(!cuMemMap(address, 2 * MIB, 0, handle, 0));
	REQUIRE(!cuMemSetAccess(address, 2 * MIB, &access, 1));
	REQUIRE(!cuMemsetD8(address, 99, 2 * MIB));
	REQUIRE(!cuMemUnmap(address, 2 * MIB));
	REQUIRE(cuMemsetD8(address, 1, 1) == CUDA_ERROR_INVALID_VALUE);
	REQUIRE(!cuMemMap(address + 4 * MIB, 2 * MIB, 0, handle, 0));
	REQUIRE(!cuMemSetAccess(address + 4 * MIB, 2 * MIB, &access, 1));
	REQUIRE(!cuMemcpyDtoH(&byte, address + 5 * MIB, 1) && byte == 99);
	REQUIRE(!cuMemUnmap(address + 4 * MIB, 2 * MIB) && !cuMemRelease(handle));
	REQUIRE(!cuMemAddressFree(address, 8 * MIB));
}

static void copy_between_devices(void)
{
	CUpti_ActivityMemcpyPtoP4 *record;
	char from[100] = {1}, to[100] = {0};
	void *p, *q;

	start_client();
	REQUIRE(!cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY2));
	REQUIRE(!cudaSetDevice(0) && !cudaMalloc(&p, 100));
	REQUIRE(!cudaSetDevice(1) && !cudaMalloc(&q, 100));
	REQUIRE(cudaSetDevice(2) == cudaErrorInvalidDevice);
	REQUIRE(!cudaMemcpy(p, from, 100, cudaMemcpyHostToDevice));
	REQUIRE(!cudaMemcpyPeer(q, 1, p, 0, 100));
	REQUIRE(!cudaMemcpy(to, q, 100, cudaMemcpyDeviceToHost) && to[0] == 1);
	REQUIRE(!cuptiActivityFlushAll(1));
	record = nth_record(CUPTI_ACTIVITY_KIND_MEMCPY2, 0);
	REQUIRE(record && record->srcDeviceId == 0 && record->dstDeviceId == 1);
	REQUIRE(record->srcContextId == 1 && record->dstContextId == 2 && record->bytes == 100);
}

static void *churn(void *unused)
{
	void *p[64];

	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 64; i++)
			REQUIRE(!cudaMalloc(&p[i], (size_t)1 << (i % 22)));
		for (int i = 0; i < 64; i++)
			REQUIRE(!cudaFree(p[i]));
	}
	return unused;
}

static void share_between_threads(void)
{
	size_t before = free_bytes();
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, churn, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	REQUIRE(free_bytes() == before);
}

/* One call makes three copies, each with its own record. */
static void move_batch(void)
{
	struct cudaMemcpyAttributes how = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
	size_t bytes[] = {10, 20, 30}, first = 0;
	cudaStream_t stream;
	char *p, seen[600];

	start_client();
	REQUIRE(!cudaMalloc((void **)&p, 600) && !cudaStreamCreate(&stream));
	REQUIRE(!cudaMemset(p, 1, 300) && !cudaMemset(p + 300, 0, 300));
	REQUIRE(!cudaMemcpyBatchAsync((void *[]){p + 300, p + 400, p + 500},
				      (const void *[]){p, p + 100, p + 200}, bytes, 3, &how, &first,
				      1, stream));
	REQUIRE(cudaMemcpyBatchAsync((void *[]){p}, (const void *[]){p + 300}, bytes, 1, &how,
				     &first, 1, NULL) == cudaErrorInvalidValue);
	REQUIRE(!cudaStreamSynchronize(stream) && !cuptiActivityFlushAll(1));
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_MEMCPY) == 3);
	REQUIRE(!cudaMemcpy(seen, p, 600, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 3; i++)
		REQUIRE(seen[300 + 100 * i + bytes[i] - 1] == 1 && !seen[300 + 100 * i + bytes[i]]);
}

/* Each mip level is half of the previous one, and is reported. */
static void shrink_levels(void)
{
	struct cudaChannelFormatDesc format =
		cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
	struct cudaExtent extent = {.width = 64, .height = 32};
	size_t before = free_bytes();
	cudaMipmappedArray_t mipmaps;
	cudaArray_t level;

	start_client();
	REQUIRE(!cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMORY2));
	REQUIRE(!cudaMallocMipmappedArray(&mipmaps, &format, extent, 3, 0));
	REQUIRE(!cudaGetMipmappedArrayLevel(&level, mipmaps, 2));
	REQUIRE(cudaGetMipmappedArrayLevel(&level, mipmaps, 3) == cudaErrorInvalidValue);
	REQUIRE(!cudaFreeMipmappedArray(mipmaps) && free_bytes() == before);
	REQUIRE(!cuptiActivityFlushAll(1));
	REQUIRE(count_records(CUPTI_ACTIVITY_KIND_MEMORY2) == 6);
	for (size_t i = 0; i < 3; i++)
		REQUIRE(((CUpti_ActivityMemory4 *)nth_record(CUPTI_ACTIVITY_KIND_MEMORY2, i))
				->bytes == (size_t)2048 >> (2 * i));
}

/*
 * The exporting process keeps the memory until the pipe is closed.  It cannot open its own handle.
 */
static void lend(int out, int in)
{
	cudaIpcMemHandle_t handle;
	void *p, *again;
	char byte;

	REQUIRE(!cudaMalloc(&p, 3 * MIB) && !cudaIpcGetMemHandle(&handle, p));
	REQUIRE(cudaIpcOpenMemHandle(&again, handle, 0) == cudaErrorDeviceUninitialized);
	REQUIRE(write(out, &handle, sizeof(handle)) == sizeof(handle));
	REQUIRE(read(in, &byte, 1) == 0);
	_exit(0);
}

static void borrow(void)
{
	int to[2], from[2], status = -1;
	cudaIpcMemHandle_t handle;
	void *p;
	pid_t pid;

	REQUIRE(!pipe(to) && !pipe(from));
	pid = fork();
	if (pid == 0) {
		close(to[1]);
		lend(from[1], to[0]);
	}
	REQUIRE(read(from[0], &handle, sizeof(handle)) == sizeof(handle));
	REQUIRE(!cudaIpcOpenMemHandle(&p, handle, cudaIpcMemLazyEnablePeerAccess));
	REQUIRE(!cudaMemset(p, 1, 3 * MIB) && cudaMemset(p, 1, 3 * MIB + 1));
	REQUIRE(cudaFree(p) == cudaErrorInvalidValue);
	REQUIRE(!cudaIpcCloseMemHandle(p) && cudaIpcCloseMemHandle(p) == cudaErrorInvalidValue);
	close(to[1]);
	REQUIRE(waitpid(pid, &status, 0) == pid && status == 0);
}

static void test_accounting(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, account), 0);
	assert_int_equal(in_child("GPUSIM_MEMORY_MIB=1024", run_out), 0);
	assert_int_equal(in_child(NULL, end_with_context), 0);
	assert_int_equal(in_child(NULL, share_between_threads), 0);
}

static void test_bytes(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, move_bytes), 0);
	assert_int_equal(in_child(NULL, move_rows), 0);
	assert_int_equal(in_child(NULL, move_batch), 0);
}

static void test_pointers(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, describe_pointers), 0);
}

static void test_mapping(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, remap), 0);
}

static void test_levels(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, shrink_levels), 0);
}

static void test_other_process(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, borrow), 0);
}

static void test_devices(void **state)
{
	(void)state;
	assert_int_equal(in_child("GPUSIM_DEVICES=2", copy_between_devices), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accounting),    cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_pointers),      cmocka_unit_test(test_mapping),
		cmocka_unit_test(test_devices),       cmocka_unit_test(test_levels),
		cmocka_unit_test(test_other_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
