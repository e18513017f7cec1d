/*
 * zoo: every common operation of a CUDA program, a known number of times.  Prints one "name count"
 * line for each.  The buffers in tests/data/cupti are of this program, so its calls and their order
 * must not change.
 */
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

__global__ void k_empty()
{
}

__global__ void k_smem(float *p)
{
	extern __shared__ float s[];

	s[threadIdx.x] = p[threadIdx.x];
	__syncthreads();
	p[threadIdx.x] = s[threadIdx.x] + 1;
}

__global__ void k_coop(int *p)
{
	cooperative_groups::this_grid().sync();
	if (!threadIdx.x)
		atomicAdd(p, 1);
}

__global__ void __cluster_dims__(2, 1, 1) k_cluster(int *p)
{
	if (!threadIdx.x)
		atomicAdd(p, 1);
}

template <class A, class B, int N> struct very_long_name_of_a_template_argument {
};

template <class T> __global__ void k_template(T, int *p)
{
	if (!threadIdx.x)
		atomicAdd(p, 1);
}

__global__ void k_spin(long long n)
{
	long long start = clock64();

	while (clock64() - start < n)
		;
}

__global__ void k_local(int *p, int n)
{
	int a[64], s = 0;

	for (int i = 0; i < 64; i++)
		a[i] = p[i] * n;
	for (int i = 0; i < 64; i++)
		s += a[(i * n) & 63];
	p[threadIdx.x] = s;
}

__global__ void k_touch(char *p, size_t n)
{
	size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

	for (size_t i = first; i < n; i += (size_t)gridDim.x * blockDim.x)
		p[i]++;
}

__device__ int d_sym[256];

static const char ptx[] = ".version 7.0\n"
			  ".target sm_50\n"
			  ".address_size 64\n"
			  ".visible .entry jitted(){ret;}\n";

static cudaStream_t blocking, independent;
static int *ints;
static char *pageable, *pinned, *device, *device2;

static void say(const char *name, int count)
{
	printf("%s %d\n", name, count);
}

static void host_function(void *)
{
}

static void run_kernels()
{
	using inner = very_long_name_of_a_template_argument<char, float, 3>;
	very_long_name_of_a_template_argument<int, inner, 42> argument;
	float *floats;

	cudaMalloc(&ints, 4096);
	cudaMemset(ints, 0, 4096);
	cudaMalloc(&floats, 4096); /* never freed: leak.bytes */
	cudaMemset(floats, 0, 4096);
	nvtxRangePushA("kernels");
	for (int i = 0; i < 7; i++)
		k_empty<<<1, 32>>>();
	for (int i = 0; i < 5; i++)
		k_smem<<<dim3(3, 2, 1), dim3(64, 2, 1), 1024, blocking>>>(floats);
	for (int i = 0; i < 3; i++) {
		void *arguments[] = {&ints};

		cudaLaunchCooperativeKernel((void *)k_coop, dim3(4), dim3(64), arguments, 0,
					    blocking);
	}
	for (int i = 0; i < 2; i++)
		k_cluster<<<4, 64, 0, independent>>>(ints);
	for (int i = 0; i < 4; i++)
		k_template<<<2, 64, 0, independent>>>(argument, ints);
	for (int i = 0; i < 2; i++)
		k_spin<<<1, 32, 0, i ? blocking : independent>>>(2000000);
	for (int i = 0; i < 2; i++)
		k_local<<<1, 64>>>(ints, i + 1);
	cudaDeviceSynchronize();
	nvtxRangePop();
	say("kernel.k_empty", 7);
	say("kernel.k_smem", 5);
	say("kernel.k_coop", 3);
	say("kernel.k_cluster", 2);
	say("kernel.k_template", 4);
	say("kernel.k_spin", 2);
	say("kernel.k_local", 2);
}

static void copy_and_set()
{
	nvtxRangePushA("copies");
	pageable = (char *)malloc(4 * MIB);
	cudaMallocHost((void **)&pinned, MIB);
	cudaMalloc((void **)&device, 4 * MIB);
	cudaMalloc((void **)&device2, 4 * MIB);
	for (int i = 0; i < 3; i++)
		cudaMemcpy(device, pageable, MIB, cudaMemcpyHostToDevice);
	for (int i = 0; i < 4; i++)
		cudaMemcpyAsync(device, pinned, 65536, cudaMemcpyHostToDevice, blocking);
	for (int i = 0; i < 2; i++)
		cudaMemcpyAsync(pinned, device, 4096, cudaMemcpyDeviceToHost, blocking);
	for (int i = 0; i < 2; i++)
		cudaMemcpyAsync(device2, device, MIB, cudaMemcpyDeviceToDevice, independent);
	for (int i = 0; i < 2; i++)
		cudaMemcpy2DAsync(device2, 1024, device, 2048, 512, 16, cudaMemcpyDeviceToDevice,
				  independent);
	cudaMemcpyToSymbol(d_sym, pageable, 1024);
	cudaMemcpyFromSymbol(pageable, d_sym, 1024);
	cudaMemcpyAsync(device, pageable, 32768, cudaMemcpyHostToDevice, blocking);
	cudaMemsetAsync(device, 1, MIB, blocking);
	cudaMemsetAsync(device, 2, 4096, independent);
	cudaMemset2D(device, 1024, 3, 512, 16);
	cudaStreamSynchronize(blocking);
	cudaStreamSynchronize(independent);
	nvtxRangePop();
	say("copy.htod.pageable.1M", 3);
	say("copy.htod.pinned.64K", 4);
	say("copy.dtoh.pinned.4K", 2);
	say("copy.dtod.1M", 2);
	say("copy.2d.dtod.512x16", 2);
	say("copy.tosymbol.1K", 1);
	say("copy.fromsymbol.1K", 1);
	say("copy.htod.pageable.async.32K", 1);
	say("memset", 5);
}

static void use_events()
{
	cudaEvent_t events[4];

	nvtxRangePushA("events");
	for (auto &event : events)
		cudaEventCreate(&event);
	for (auto &event : events)
		cudaEventRecord(event, blocking);
	cudaStreamWaitEvent(independent, events[0], 0);
	cudaStreamWaitEvent(independent, events[1], 0);
	cudaEventSynchronize(events[2]);
	cudaEventSynchronize(events[3]);
	cudaLaunchHostFunc(blocking, host_function, 0);
	cudaStreamSynchronize(blocking);
	say("event.record", 4);
	say("event.wait", 2);
	say("event.sync", 2);
	say("hostfunc", 1);
	nvtxRangePop();
}

/* Returns the sum of one byte of each page after the kernel has added one to each byte. */
static int touch_managed()
{
	void *managed;
	int sum = 0;

	cudaMallocManaged(&managed, 8 * MIB);
	memset(managed, 1, 8 * MIB);
	k_touch<<<64, 256>>>((char *)managed, 8 * MIB);
	cudaDeviceSynchronize();
	for (size_t i = 0; i < 8 * MIB; i += 4096)
		sum += ((char *)managed)[i];
	cudaFree(managed);
	return sum;
}

static void allocate_ordered()
{
	void *p[8];

	for (int i = 0; i < 8; i++)
		cudaMallocAsync(&p[i], 1 << (10 + i), blocking);
	for (int i = 0; i < 8; i++)
		cudaFreeAsync(p[i], blocking);
}

static void allocate_host()
{
	void *mapped;

	cudaHostAlloc(&mapped, 8192, cudaHostAllocMapped);
	cudaFreeHost(mapped);
	cudaHostRegister(pageable, MIB, 0);
	cudaHostUnregister(pageable);
}

static void allocate_shaped()
{
	cudaChannelFormatDesc format;
	cudaPitchedPtr cube;
	cudaArray_t array;
	size_t pitch;
	void *pitched;

	cudaMallocPitch(&pitched, &pitch, 1000, 10);
	cudaFree(pitched);
	cudaMalloc3D(&cube, make_cudaExtent(100, 10, 10));
	cudaFree(cube.ptr);
	format = cudaCreateChannelDesc<float>();
	cudaMallocArray(&array, &format, 64, 64);
	cudaFreeArray(array);
}

static void allocate_from_pool()
{
	cudaMemPoolProps properties{};
	cudaMemPool_t pool;
	void *p[2];

	properties.allocType = cudaMemAllocationTypePinned;
	properties.location.type = cudaMemLocationTypeDevice;
	cudaMemPoolCreate(&pool, &properties);
	for (auto &x : p)
		cudaMallocFromPoolAsync(&x, 3 * MIB, pool, blocking);
	for (auto &x : p)
		cudaFreeAsync(x, blocking);
	cudaStreamSynchronize(blocking);
	cudaMemPoolDestroy(pool);
}

/* Driver functions, found like libraries that are not linked to the driver. */
struct driver_functions {
	CUresult (*get_granularity)(size_t *, const CUmemAllocationProp *,
				    CUmemAllocationGranularity_flags);
	CUresult (*address_reserve)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
	CUresult (*create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *,
			   unsigned long long);
	CUresult (*map)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle,
			unsigned long long);
	CUresult (*set_access)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t);
	CUresult (*unmap)(CUdeviceptr, size_t);
	CUresult (*release)(CUmemGenericAllocationHandle);
	CUresult (*address_free)(CUdeviceptr, size_t);
	CUresult (*module_load)(CUmodule *, const void *);
	CUresult (*get_function)(CUfunction *, CUmodule, const char *);
	CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
			   unsigned, CUstream, void **, void **);
	CUresult (*module_unload)(CUmodule);
};

template <class F> static void find(F &function, const char *name)
{
	cudaDriverEntryPointQueryResult status;

	cudaGetDriverEntryPointByVersion(name, (void **)&function, 12000, cudaEnableDefault,
					 &status);
}

static driver_functions find_driver()
{
	driver_functions d;

	find(d.get_granularity, "cuMemGetAllocationGranularity");
	find(d.address_reserve, "cuMemAddressReserve");
	find(d.create, "cuMemCreate");
	find(d.map, "cuMemMap");
	find(d.set_access, "cuMemSetAccess");
	find(d.unmap, "cuMemUnmap");
	find(d.release, "cuMemRelease");
	find(d.address_free, "cuMemAddressFree");
	find(d.module_load, "cuModuleLoadData");
	find(d.get_function, "cuModuleGetFunction");
	find(d.launch, "cuLaunchKernel");
	find(d.module_unload, "cuModuleUnload");
	return d;
}

static void map_memory(const driver_functions &d)
{
	CUmemGenericAllocationHandle handle;
	CUmemAllocationProp properties{};
	CUmemAccessDesc access{};
	CUdeviceptr address;
	size_t granularity;

	properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	d.get_granularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
	d.address_reserve(&address, 2 * granularity, 0, 0, 0);
	d.create(&handle, granularity, &properties, 0);
	d.map(address, granularity, 0, handle, 0);
	access.location = properties.location;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	d.set_access(address, granularity, &access, 1);
	cudaMemset((void *)address, 0, granularity);
	d.unmap(address, granularity);
	d.release(handle);
	d.address_free(address, 2 * granularity);
}

static void launch_jitted(const driver_functions &d)
{
	CUfunction function;
	CUmodule module;

	if (d.module_load(&module, ptx) || d.get_function(&function, module, "jitted"))
		return;
	d.launch(function, 1, 1, 1, 32, 1, 1, 0, blocking, 0, 0);
	cudaStreamSynchronize(blocking);
	d.module_unload(module);
}

static int allocate()
{
	int sum;

	nvtxRangePushA("allocs");
	allocate_ordered();
	sum = touch_managed();
	allocate_host();
	allocate_shaped();
	allocate_from_pool();
	driver_functions driver = find_driver();
	map_memory(driver);
	launch_jitted(driver);
	say("kernel.k_touch", 1);
	say("kernel.jitted", 1);
	say("alloc.async", 8);
	say("free.async", 10);
	say("alloc.managed", 1);
	say("alloc.pool", 2);
	say("vmm.create", 1);
	nvtxRangePop();
	return sum;
}

static void launch_graph()
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	nvtxRangePushA("graph");
	cudaStreamBeginCapture(blocking, cudaStreamCaptureModeThreadLocal);
	for (int i = 0; i < 3; i++)
		k_empty<<<2, 32, 0, blocking>>>();
	cudaMemcpyAsync(device2, device, 4096, cudaMemcpyDeviceToDevice, blocking);
	cudaMemsetAsync(device, 0, 4096, blocking);
	cudaStreamEndCapture(blocking, &graph);
	cudaGraphInstantiate(&exec, graph, 0);
	for (int i = 0; i < 5; i++)
		cudaGraphLaunch(exec, blocking);
	cudaStreamSynchronize(blocking);
	say("graph.launch", 5);
	say("graph.kernelnodes", 3);
	say("graph.memcpynodes", 1);
	say("graph.memsetnodes", 1);
	nvtxRangePop();
}

static void fail()
{
	void *none = 0;

	nvtxRangePushA("errors");
	say("error.malloc", cudaMalloc(&none, 1ul << 60) == cudaErrorMemoryAllocation);
	k_empty<<<1, 4096>>>();
	say("error.launch", cudaGetLastError() != cudaSuccess);
	nvtxRangePop();
}

int main()
{
	int sum;

	cudaFree(0);
	nvtxRangePushA("zoo");
	cudaStreamCreate(&blocking);
	cudaStreamCreateWithPriority(&independent, cudaStreamNonBlocking, -1);
	run_kernels();
	copy_and_set();
	use_events();
	sum = allocate();
	launch_graph();
	fail();
	cudaFree(ints);
	cudaFree(device);
	cudaFree(device2);
	cudaFreeHost(pinned);
	say("leak.bytes", 4096);
	nvtxRangePop();
	cudaDeviceSynchronize();
	printf("sum %d\n", sum);
	return 0;
}
