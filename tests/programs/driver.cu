/* driver [LAUNCHES]: uses the driver API only, with a kernel from PTX. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		CUresult check_result = (call);                                                    \
		if (check_result) {                                                                \
			fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call,        \
				check_result);                                                     \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static const char ptx[] = ".version 7.0\n"
			  ".target sm_50\n"
			  ".address_size 64\n"
			  ".visible .entry from_ptx() { ret; }\n";

static void launch(CUfunction function, CUstream stream, int count)
{
	CUlaunchConfig config = {};

	config.gridDimX = config.gridDimY = config.gridDimZ = 1;
	config.blockDimX = 32;
	config.blockDimY = config.blockDimZ = 1;
	config.hStream = stream;
	for (int i = 0; i < count; i++)
		CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));
	for (int i = 0; i < count; i++)
		CHECK(cuLaunchKernelEx(&config, function, nullptr, nullptr));
}

static void move(CUstream stream)
{
	char host[4096] = {1};
	CUdeviceptr memory;

	CHECK(cuMemAlloc(&memory, sizeof(host)));
	CHECK(cuMemcpyHtoD(memory, host, sizeof(host)));
	/* such a copy may be unfinished, and the stream does not wait for it */
	CHECK(cuCtxSynchronize());
	CHECK(cuMemsetD8Async(memory, 5, 100, stream));
	CHECK(cuStreamSynchronize(stream));
	CHECK(cuMemcpyDtoH(host, memory, sizeof(host)));
	CHECK(cuMemFree(memory));
	printf("bytes_are_right %d\n", host[0] == 5 && host[99] == 5 && host[100] == 0);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 20;
	CUfunction function;
	CUcontext context;
	CUmodule module;
	CUdevice device;
	CUstream stream;

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&function, module, "from_ptx"));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	launch(function, stream, count);
	move(stream);
	CHECK(cuCtxSynchronize());
	CHECK(cuStreamDestroy(stream));
	CHECK(cuModuleUnload(module));
	CHECK(cuDevicePrimaryCtxRelease(device));
	printf("kernel.from_ptx %d\ncopies 2\nsets 1\n", 2 * count);
	return 0;
}
