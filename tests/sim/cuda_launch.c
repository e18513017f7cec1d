/* libcuda: functions and launches. */
#include "tests/sim/driver.h"

#include <cupti.h>
#include <string.h>

#define MAX_THREADS        1024
#define MAX_DYNAMIC_SHARED 232448
#define CYCLES_PER_US      1975 /* the clock of an H200 */

CUresult sim_cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
	if (!hfunc)
		return CUDA_ERROR_INVALID_HANDLE;
	switch (attrib) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*pi = MAX_THREADS;
		break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*pi = 16;
		break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*pi = 90;
		break;
	default:
		*pi = 0;
	}
	return CUDA_SUCCESS;
}

CUresult sim_cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
	(void)attrib;
	(void)value;
	return hfunc ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
	(void)config;
	return hfunc ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func,
								  int blockSize,
								  size_t dynamicSMemSize,
								  unsigned int flags)
{
	(void)func;
	(void)dynamicSMemSize;
	(void)flags;
	*numBlocks = blockSize > 0 && blockSize <= MAX_THREADS ? 2048 / blockSize : 0;
	return CUDA_SUCCESS;
}

CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func,
							 int blockSize, size_t dynamicSMemSize)
{
	return sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize,
									dynamicSMemSize, 0);
}

static bool fits(const struct sim_op *op)
{
	const unsigned int *b = op->kernel.block, *g = op->kernel.grid;
	uint64_t threads = (uint64_t)b[0] * b[1] * b[2];

	return threads >= 1 && threads <= MAX_THREADS && b[2] <= 64 && g[0] && g[1] && g[2] &&
	       g[0] <= 2147483647 && g[1] <= 65535 && g[2] <= 65535 &&
	       op->kernel.shared_bytes <= MAX_DYNAMIC_SHARED;
}

static uint64_t kernel_ns(const struct CUfunc_st *f, void **arguments)
{
	if (f->spin_arguments && arguments && arguments[0])
		return *(const uint64_t *)arguments[0] * 1000 / CYCLES_PER_US;
	return sim_config()->kernel_ns;
}

/* k_touch(char *p, size_t n) adds one to each byte. */
static void touch(CUstream stream, void **arguments)
{
	unsigned char *p = *(unsigned char **)arguments[0];
	size_t n = *(const size_t *)arguments[1];

	if (!sim_memory_covers((uintptr_t)p, n))
		return;
	sim_touching = true;
	for (size_t i = 0; i < n; i++)
		p[i]++;
	sim_touching = false;
	sim_drv_fault_in(stream, (CUdeviceptr)(uintptr_t)p, n);
}

static void capture_kernel(const struct sim_op *op, uint64_t duration_ns)
{
	struct sim_node *node = sim_capture_add(op->stream, CU_GRAPH_NODE_TYPE_KERNEL);

	node->op = *op;
	node->duration_ns = duration_ns;
}

#define TRANSFER_NS 2000 /* on all ranks, however slow their own kernels are */

/* The transfer begins when the last rank has come. */
static void submit_collective(struct sim_op *op)
{
	uint64_t start = sim_stream_ready_ns(op->stream), met = sim_meet(start);

	sim_submit_at(op, start, met - start + TRANSFER_NS);
}

static CUresult launch(struct sim_op *op, CUstream handle, void **arguments)
{
	struct CUfunc_st *f = op->kernel.function;
	CUresult r = sim_drv_stream(handle, &op->stream);

	if (r)
		return r;
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!fits(op))
		return CUDA_ERROR_INVALID_VALUE;
	op->kind = SIM_OP_KERNEL;
	if (op->stream->capture) {
		capture_kernel(op, kernel_ns(f, arguments));
		return CUDA_SUCCESS;
	}
	op->kernel.loads = sim_drv_load_function(f);
	op->kernel.grid_id = sim_next_grid_id();
	if (f->touches && arguments)
		touch(op->stream, arguments);
	if (sim_config()->ranks > 1 && strstr(f->name, "AllReduce"))
		submit_collective(op);
	else
		sim_submit(op, kernel_ns(f, arguments));
	return CUDA_SUCCESS;
}

CUresult sim_cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			    unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			    CUstream stream, void **arguments, void **extra)
{
	struct sim_op op = {.kernel = {.function = f,
				       .grid = {gx, gy, gz},
				       .block = {bx, by, bz},
				       .shared_bytes = shared}};

	(void)extra;
	return launch(&op, stream, arguments);
}

CUresult sim_cuLaunchCooperativeKernel(CUfunction f, unsigned int gx, unsigned int gy,
				       unsigned int gz, unsigned int bx, unsigned int by,
				       unsigned int bz, unsigned int shared, CUstream stream,
				       void **arguments)
{
	struct sim_op op = {.kernel = {.function = f,
				       .grid = {gx, gy, gz},
				       .block = {bx, by, bz},
				       .shared_bytes = shared,
				       .cooperative = true}};

	return launch(&op, stream, arguments);
}

static void read_attribute(struct sim_op *op, const CUlaunchAttribute *a)
{
	if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
		op->kernel.cooperative = a->value.cooperative != 0;
		op->kernel.has_cooperative = true;
	}
	if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
		op->kernel.cluster[0] = a->value.clusterDim.x;
		op->kernel.cluster[1] = a->value.clusterDim.y;
		op->kernel.cluster[2] = a->value.clusterDim.z;
	}
}

CUresult sim_cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **arguments, void **extra)
{
	struct sim_op op = {.kernel = {.function = f}};

	(void)extra;
	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	op.kernel.grid[0] = c->gridDimX;
	op.kernel.grid[1] = c->gridDimY;
	op.kernel.grid[2] = c->gridDimZ;
	op.kernel.block[0] = c->blockDimX;
	op.kernel.block[1] = c->blockDimY;
	op.kernel.block[2] = c->blockDimZ;
	op.kernel.shared_bytes = c->sharedMemBytes;
	for (unsigned int i = 0; i < c->numAttrs; i++)
		read_attribute(&op, &c->attrs[i]);
	return launch(&op, c->hStream, arguments);
}
