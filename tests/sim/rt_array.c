/* libcudart: arrays, plain and mipmapped. */
#include "tests/sim/runtime.h"

#include <cuda.h>
#include <cupti.h>

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
						   enum cudaChannelFormatKind f)
{
	cudaCreateChannelDesc_v3020_params params = {x, y, z, w, f};
	struct sim_call call = {.domain = SIM_RUNTIME,
				.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaCreateChannelDesc_v3020,
				.name = "cudaCreateChannelDesc",
				.params = &params};

	sim_call_enter(&call);
	sim_call_exit(&call, cudaSuccess);
	return (struct cudaChannelFormatDesc){.x = x, .y = y, .z = z, .w = w, .f = f};
}

static CUarray_format format_of(const struct cudaChannelFormatDesc *d)
{
	if (d->f == cudaChannelFormatKindFloat)
		return d->x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
	if (d->x == 8)
		return CU_AD_FORMAT_UNSIGNED_INT8;
	return d->x == 16 ? CU_AD_FORMAT_UNSIGNED_INT16 : CU_AD_FORMAT_UNSIGNED_INT32;
}

static CUDA_ARRAY3D_DESCRIPTOR describe(const struct cudaChannelFormatDesc *desc,
					struct cudaExtent extent)
{
	return (CUDA_ARRAY3D_DESCRIPTOR){
		.Width = extent.width,
		.Height = extent.height,
		.Depth = extent.depth,
		.Format = format_of(desc),
		.NumChannels = (unsigned int)((desc->x > 0) + (desc->y > 0) + (desc->z > 0) +
					      (desc->w > 0)),
	};
}

static cudaError_t create_array(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
				struct cudaExtent extent)
{
	CUDA_ARRAY3D_DESCRIPTOR d = describe(desc, extent);

	return sim_rt_result(cuArray3DCreate((CUarray *)array, &d));
}

cudaError_t sim_cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
				size_t width, size_t height, unsigned int flags)
{
	(void)flags;
	return create_array(array, desc, (struct cudaExtent){width, height, 0});
}

cudaError_t sim_cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
				  struct cudaExtent extent, unsigned int flags)
{
	(void)flags;
	return create_array(array, desc, extent);
}

cudaError_t sim_cudaFreeArray(cudaArray_t array)
{
	return array ? sim_rt_result(cuArrayDestroy((CUarray)array)) : cudaSuccess;
}

cudaError_t sim_cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray,
					 const struct cudaChannelFormatDesc *desc,
					 struct cudaExtent extent, unsigned int numLevels,
					 unsigned int flags)
{
	CUDA_ARRAY3D_DESCRIPTOR d = describe(desc, extent);

	(void)flags;
	return sim_rt_result(
		cuMipmappedArrayCreate((CUmipmappedArray *)mipmappedArray, &d, numLevels));
}

cudaError_t sim_cudaGetMipmappedArrayLevel(cudaArray_t *levelArray,
					   cudaMipmappedArray_const_t mipmappedArray,
					   unsigned int level)
{
	return sim_rt_result(cuMipmappedArrayGetLevel(
		(CUarray *)levelArray, (CUmipmappedArray)(uintptr_t)mipmappedArray, level));
}

cudaError_t sim_cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray)
{
	if (!mipmappedArray)
		return cudaSuccess;
	return sim_rt_result(cuMipmappedArrayDestroy((CUmipmappedArray)mipmappedArray));
}
