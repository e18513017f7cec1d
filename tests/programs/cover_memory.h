/* cover: memory of every family, functions of the driver API only, memory of another process. */
#ifndef GPUPROF_TESTS_PROGRAMS_COVER_MEMORY_H
#define GPUPROF_TESTS_PROGRAMS_COVER_MEMORY_H

#include "cover.h"

#include <cuda.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char **environ;

/* ---- functions of the driver API only -------------------------------------------------------- */

/* Finds a driver function like libraries that are not linked to the driver. */
template <class F> static F driver(const char *name)
{
	cudaDriverEntryPointQueryResult status;
	F function = nullptr;

	CHECK(cudaGetDriverEntryPointByVersion(name, (void **)&function, CUDART_VERSION,
					       cudaEnableDefault, &status));
	return function;
}
#define DRIVER(name, ...)                                                                          \
	do {                                                                                       \
		CUresult driver_result = driver<decltype(&name)>(#name)(__VA_ARGS__);              \
		if (driver_result) {                                                               \
			fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #name,        \
				driver_result);                                                    \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static const char ptx[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
			  ".visible .entry from_module() { ret; }\n"
			  ".visible .entry from_library() { ret; }\n";

static void launch_function(CUfunction function, int count)
{
	for (int i = 0; i < count; i++)
		DRIVER(cuLaunchKernel, function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr);
	wait_for(stream);
}

static void modules()
{
	CUfunction function;
	CUmodule module;
	CUlibrary library;
	CUkernel kernel;

	DRIVER(cuModuleLoadData, &module, ptx);
	DRIVER(cuModuleGetFunction, &function, module, "from_module");
	launch_function(function, 3);
	launched("from_module", 3);
	DRIVER(cuModuleUnload, module);
	DRIVER(cuLibraryLoadData, &library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0);
	DRIVER(cuLibraryGetKernel, &kernel, library, "from_library");
	launch_function((CUfunction)kernel, 2);
	launched("from_library", 2);
	DRIVER(cuLibraryUnload, library);
	add("modules_of_ptx", 2);
}

/*
 * Like PyTorch's expandable segments: one address range, into which memory is mapped step by step.
 */
static void segments()
{
	CUmemGenericAllocationHandle pieces[3];
	CUmemAllocationProp properties = {};
	CUmemAccessDesc access = {};
	CUdeviceptr base;
	size_t piece;

	properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	access.location = properties.location;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	DRIVER(cuMemGetAllocationGranularity, &piece, &properties,
	       CU_MEM_ALLOC_GRANULARITY_MINIMUM);
	DRIVER(cuMemAddressReserve, &base, 8 * piece, 0, 0, 0);
	for (int i = 0; i < 3; i++) {
		DRIVER(cuMemCreate, &pieces[i], piece, &properties, 0);
		allocated("physical", piece);
		DRIVER(cuMemMap, base + i * piece, piece, 0, pieces[i], 0);
		DRIVER(cuMemSetAccess, base + i * piece, piece, &access, 1);
		CHECK(cudaMemsetAsync((void *)(base + i * piece), 1, piece, stream));
		set(piece, 1);
	}
	wait_for(stream);
	for (int i = 0; i < 3; i++) {
		DRIVER(cuMemUnmap, base + i * piece, piece);
		DRIVER(cuMemRelease, pieces[i]);
	}
	DRIVER(cuMemAddressFree, base, 8 * piece);
	add("call.cuMemMap", 3);
	add("call.cuMemUnmap", 3);
}

/* ---- memory of every family ------------------------------------------------------------------ */

static void shaped_memory()
{
	cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
	cudaMipmappedArray_t mipmaps;
	cudaPitchedPtr cube;
	cudaArray_t array;
	size_t pitch;
	void *p;

	CHECK(cudaMallocPitch(&p, &pitch, 1000, 10));
	allocated("device", 10 * pitch);
	CHECK(cudaFree(p));
	CHECK(cudaMalloc3D(&cube, make_cudaExtent(100, 10, 10)));
	allocated("device", cube.pitch * 100);
	CHECK(cudaFree(cube.ptr));
	CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(16, 16, 16)));
	allocated("array", 16 * 16 * 16 * sizeof(float));
	CHECK(cudaFreeArray(array));
	CHECK(cudaMallocMipmappedArray(&mipmaps, &format, make_cudaExtent(64, 64, 0), 3));
	allocated("array", (64 * 64 + 32 * 32 + 16 * 16) * sizeof(float));
	CHECK(cudaFreeMipmappedArray(mipmaps));
}

static void host_memory()
{
	void *p, *own = aligned_alloc(4096, 64 * KIB);

	CHECK(cudaHostAlloc(&p, 54321, cudaHostAllocMapped));
	allocated("pinned", 54321);
	CHECK(cudaFreeHost(p));
	CHECK(cudaHostRegister(own, 64 * KIB, cudaHostRegisterDefault));
	allocated("registered", 64 * KIB);
	CHECK(cudaHostUnregister(own));
	free(own);
}

static void pools()
{
	cudaMemPoolProps properties = {};
	unsigned long long used = 0;
	cudaMemPool_t pool;
	void *p[4];

	for (auto &one : p) {
		CHECK(cudaMallocAsync(&one, 32 * KIB, stream));
		allocated("pool", 32 * KIB);
	}
	for (int i = 0; i < 3; i++)
		CHECK(cudaFreeAsync(p[i], stream));
	CHECK(cudaFree(p[3])); /* a plain free of such memory is legal */
	properties.allocType = cudaMemAllocationTypePinned;
	properties.location.type = cudaMemLocationTypeDevice;
	CHECK(cudaMemPoolCreate(&pool, &properties));
	CHECK(cudaMallocFromPoolAsync(&p[0], 3 * MIB, pool, stream));
	allocated("pool", 3 * MIB);
	CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
	add("pool_uses_3M", used == 3 * MIB);
	CHECK(cudaFreeAsync(p[0], stream));
	wait_for(stream);
	CHECK(cudaMemPoolTrimTo(pool, 0));
	CHECK(cudaMemPoolDestroy(pool));
	add("call.cudaMemPoolCreate", 1);
	add("call.cudaMemPoolTrimTo", 1);
	add("call.cudaMemPoolDestroy", 1);
}

/* The CPU writes the memory first, so that exactly its bytes migrate to the device, and back. */
static void managed_memory()
{
	cudaMemLocation there = {}, here = {};
	char *p;

	if (!attribute(cudaDevAttrConcurrentManagedAccess)) {
		skip("unified", "the device cannot prefetch managed memory");
		return;
	}
	there.type = cudaMemLocationTypeDevice;
	here.type = cudaMemLocationTypeHost;
	CHECK(cudaMallocManaged((void **)&p, 8 * MIB));
	allocated("managed", 8 * MIB);
	memset(p, 1, 8 * MIB);
	CHECK(cudaMemAdvise(p, 8 * MIB, cudaMemAdviseSetPreferredLocation, there));
	CHECK(cudaMemPrefetchAsync(p, 8 * MIB, there, 0, stream));
	CHECK(cudaMemPrefetchAsync(p, 4 * MIB, here, 0, stream));
	wait_for(stream);
	add("unified.htod.bytes", 8 * MIB);
	add("unified.dtoh.bytes", 4 * MIB);
	CHECK(cudaFree(p));
}

static void memory()
{
	void *leaked;

	for (int i = 0; i < 10; i++)
		CHECK(cudaFree(device_memory(1000 << i)));
	CHECK(cudaFreeHost(pinned_memory(12345)));
	shaped_memory();
	host_memory();
	pools();
	managed_memory();
	CHECK(cudaMalloc(&leaked, 77777));
	allocated("device", 77777, false);
	add("leak.bytes", 77777);
}

/* ---- memory of another process --------------------------------------------------------------- */

/* The other process: exports its memory until its standard input ends. */
static int lend()
{
	cudaIpcMemHandle_t handle;
	void *memory;
	char byte;

	if (cudaMalloc(&memory, 2 * MIB) || cudaIpcGetMemHandle(&handle, memory) ||
	    write(1, &handle, sizeof(handle)) != sizeof(handle))
		return 1;
	while (read(0, &byte, 1) > 0)
		;
	return cudaFree(memory) != cudaSuccess;
}

/* Not profiled: it runs without the environment variables about CUDA and preloading. */
static pid_t start_lender(int *to, int *from)
{
	static const char *const names[] = {"LD_PRELOAD=", "CUDA_INJECTION64_PATH=", "GPUPROF"};
	char program[] = "/proc/self/exe", option[] = "--lend";
	char *arguments[] = {program, option, nullptr};
	std::vector<char *> variables;
	posix_spawn_file_actions_t actions;
	int in[2], out[2];
	pid_t pid = -1;

	for (char **variable = environ; *variable; variable++) {
		bool ours = false;

		for (auto name : names)
			ours = ours || !strncmp(*variable, name, strlen(name));
		if (!ours)
			variables.push_back(*variable);
	}
	variables.push_back(nullptr);
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	if (posix_spawn(&pid, program, &actions, nullptr, arguments, variables.data()))
		pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	close(out[1]);
	*to = in[1];
	*from = out[0];
	return pid;
}

static void borrow(const cudaIpcMemHandle_t &handle)
{
	void *memory;

	if (cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess)) {
		skip("memory.ipc", cudaGetErrorString(cudaGetLastError()));
		return;
	}
	add("memory.ipc.allocations", 1);
	CHECK(cudaMemsetAsync(memory, 1, MIB, stream));
	set(MIB, 1);
	wait_for(stream);
	CHECK(cudaIpcCloseMemHandle(memory));
}

static void other_process()
{
	cudaIpcMemHandle_t handle;
	int to, from, status;
	pid_t pid = start_lender(&to, &from);

	if (pid < 0) {
		skip("memory.ipc", "no process to lend memory");
		return;
	}
	if (read(from, &handle, sizeof(handle)) == sizeof(handle))
		borrow(handle);
	else
		skip("memory.ipc", "the other process has no memory to lend");
	close(to);
	close(from);
	waitpid(pid, &status, 0);
}

#endif
