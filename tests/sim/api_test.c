/* The simulated libraries: exports, initialization, exit and fork. */
#include "tests/sim/harness.h"

#include <cuda.h>
#include <dlfcn.h>

static void export_by_version(void)
{
	CUdriverProcAddressQueryResult status;
	void *v2, *v1, *none;

	REQUIRE(!cuGetProcAddress("cuMemAlloc", &v2, 12000, 0, &status));
	REQUIRE(v2 == dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"));
	REQUIRE(!cuGetProcAddress("cuMemAlloc", &v1, 2000, 0, &status));
	REQUIRE(v1 == dlsym(RTLD_DEFAULT, "cuMemAlloc"));
	REQUIRE(!cuGetProcAddress("cuMemcpyHtoD", &v2, 13000,
				  CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
	REQUIRE(v2 == dlsym(RTLD_DEFAULT, "cuMemcpyHtoD_v2_ptds"));
	REQUIRE(!cuGetProcAddress("cuNoSuchThing", &none, 13000, 0, &status) && !none);
	REQUIRE(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

static void refuse_the_unsupported(void)
{
	cudaTextureObject_t texture;

	start_client();
	REQUIRE(!cuptiEnableCallback(1, client.subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
				     CUPTI_RUNTIME_TRACE_CBID_cudaCreateTextureObject_v5000));
	REQUIRE(cudaCreateTextureObject(&texture, NULL, NULL, NULL) == cudaErrorNotSupported);
	REQUIRE(client.call_count == 2 && client.calls[1].result == cudaErrorNotSupported);
}

static void need_init(void)
{
	int count, version;

	REQUIRE(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
	REQUIRE(!cuDriverGetVersion(&version) && version == 13000);
	REQUIRE(cuInit(1) == CUDA_ERROR_INVALID_VALUE);
	REQUIRE(!cuInit(0) && !cuDeviceGetCount(&count) && count == 3);
	REQUIRE(cuCtxSynchronize() == CUDA_ERROR_INVALID_CONTEXT);
}

static void find_no_device(void)
{
	int count;

	REQUIRE(cudaGetDeviceCount(&count) == cudaErrorNoDevice);
}

static void use_in_child(void)
{
	void *p;
	int count;

	REQUIRE(cudaMalloc(&p, 100) == cudaErrorInitializationError);
	REQUIRE(!cudaGetDeviceCount(&count) && count == 1);
	REQUIRE(cuInit(0) == CUDA_ERROR_NOT_INITIALIZED);
}

static void fork_after_use(void)
{
	REQUIRE(!cudaFree(NULL));
	REQUIRE(in_child(NULL, use_in_child) == 0);
}

static void fork_before_use(void)
{
	void *p;

	REQUIRE(!cudaMalloc(&p, 100));
}

/* Runs before the device's exit handler, because it was registered later. */
static void use_late(void)
{
	void *p;

	REQUIRE(!cudaMalloc(&p, 100));
}

static void use_too_late(void)
{
	void *p;

	REQUIRE(cudaMalloc(&p, 100) == cudaErrorCudartUnloading);
	_exit(3);
}

static void end(void)
{
	atexit(use_too_late);
	REQUIRE(!cudaFree(NULL));
	atexit(use_late);
	exit(0);
}

static void *start(void *context)
{
	REQUIRE(!cudaFree(NULL) && !cuCtxGetCurrent(context));
	return NULL;
}

static void start_in_threads(void)
{
	pthread_t threads[8];
	CUcontext contexts[8];
	size_t free_now, total;

	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, start, &contexts[i]);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	for (int i = 1; i < 8; i++)
		REQUIRE(contexts[i] == contexts[0]);
	REQUIRE(!cudaMemGetInfo(&free_now, &total) && total - free_now == (size_t)500 << 20);
}

/* Loads the libcupti of another folder, which lacks functions. */
static void look_up(const char *folder, const char *missing, const char *present)
{
	const char *build = getenv("O");
	char path[4096];
	void *library;

	snprintf(path, sizeof(path), "%s/sim/%s/libcupti.so.13", build ? build : "build", folder);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	REQUIRE(library && !dlsym(library, missing) && dlsym(library, present));
}

static void lack_functions(void)
{
	look_up("old", "cuptiSubscribe_v2", "cuptiSubscribe");
	look_up("old", "cuptiActivityEnableAllSyncRecords", "cuptiActivityEnable");
	look_up("broken", "cuptiActivityRegisterCallbacks", "cuptiSubscribe");
}

static void *default_stream_of_thread(void *id)
{
	REQUIRE(!cudaStreamGetId(cudaStreamPerThread, id));
	return NULL;
}

static void give_threads_streams(void)
{
	unsigned long long mine, theirs, legacy;
	pthread_t thread;

	REQUIRE(!cudaStreamGetId(cudaStreamPerThread, &mine) && !cudaStreamGetId(NULL, &legacy));
	pthread_create(&thread, NULL, default_stream_of_thread, &theirs);
	pthread_join(thread, NULL);
	REQUIRE(legacy == 7 && mine != legacy && theirs != mine && theirs != legacy);
}

static void test_versions(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, export_by_version), 0);
	assert_int_equal(in_child(NULL, refuse_the_unsupported), 0);
	assert_int_equal(in_child(NULL, lack_functions), 0);
}

static void test_start(void **state)
{
	(void)state;
	assert_int_equal(in_child("GPUSIM_DEVICES=3", need_init), 0);
	assert_int_equal(in_child("GPUSIM_DEVICES=0", find_no_device), 0);
	assert_int_equal(in_child(NULL, start_in_threads), 0);
}

static void test_fork(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, fork_after_use), 0);
	assert_int_equal(in_child(NULL, fork_before_use), 0);
}

static void test_end(void **state)
{
	(void)state;
	assert_int_equal(WEXITSTATUS(in_child(NULL, end)), 3);
}

static void test_per_thread_streams(void **state)
{
	(void)state;
	assert_int_equal(in_child(NULL, give_threads_streams), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_per_thread_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
