/* libcuda: arrays, plain and mipmapped. */
#include "tests/sim/driver.h"

#include <stdlib.h>

#define MOST_LEVELS 16

struct CUmipmappedArray_st {
	CUarray levels[MOST_LEVELS];
	unsigned int count;
};

static size_t element_bytes(CUarray_format format, unsigned int channels)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return channels;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return (size_t)2 * channels;
	default:
		return (size_t)4 * channels;
	}
}

CUresult sim_cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
	CUarray array = calloc(1, sizeof(*array));
	size_t rows = d->Height ? d->Height : 1, slices = d->Depth ? d->Depth : 1;
	CUresult r;

	array->descriptor = *d;
	array->width_bytes = d->Width * element_bytes(d->Format, d->NumChannels);
	array->height = rows;
	array->depth = slices;
	r = sim_drv_allocate(SIM_MEMORY_ARRAY, array->width_bytes * rows * slices, &array->range);
	if (r) {
		free(array);
		return r;
	}
	*pHandle = array;
	return CUDA_SUCCESS;
}

CUresult sim_cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *d)
{
	CUDA_ARRAY3D_DESCRIPTOR whole = {.Width = d->Width,
					 .Height = d->Height,
					 .Format = d->Format,
					 .NumChannels = d->NumChannels};

	return sim_cuArray3DCreate_v2(pHandle, &whole);
}

CUresult sim_cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *d, CUarray hArray)
{
	*d = hArray->descriptor;
	return CUDA_SUCCESS;
}

CUresult sim_cuArrayDestroy(CUarray hArray)
{
	struct sim_range range;

	if (!hArray)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_context_wait(hArray->range.ctx);
	if (sim_memory_free(hArray->range.start, &range))
		return CUDA_ERROR_INVALID_HANDLE;
	sim_drv_report_memory(&range, true);
	free(hArray);
	return CUDA_SUCCESS;
}

static size_t half(size_t extent)
{
	return extent > 1 ? extent / 2 : extent;
}

CUresult sim_cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray)
{
	if (!hMipmappedArray)
		return CUDA_ERROR_INVALID_HANDLE;
	for (unsigned int i = 0; i < hMipmappedArray->count; i++)
		sim_cuArrayDestroy(hMipmappedArray->levels[i]);
	free(hMipmappedArray);
	return CUDA_SUCCESS;
}

CUresult sim_cuMipmappedArrayCreate(CUmipmappedArray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *d,
				    unsigned int numMipmapLevels)
{
	CUmipmappedArray mipmaps = calloc(1, sizeof(*mipmaps));
	CUDA_ARRAY3D_DESCRIPTOR level = *d;
	CUresult r = numMipmapLevels && numMipmapLevels <= MOST_LEVELS ? CUDA_SUCCESS
								       : CUDA_ERROR_INVALID_VALUE;

	for (unsigned int i = 0; i < numMipmapLevels && !r; i++) {
		r = sim_cuArray3DCreate_v2(&mipmaps->levels[i], &level);
		mipmaps->count += !r;
		level.Width = half(level.Width);
		level.Height = half(level.Height);
		level.Depth = half(level.Depth);
	}
	if (r)
		sim_cuMipmappedArrayDestroy(mipmaps);
	else
		*pHandle = mipmaps;
	return r;
}

CUresult sim_cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray,
				      unsigned int level)
{
	if (level >= hMipmappedArray->count)
		return CUDA_ERROR_INVALID_VALUE;
	*pLevelArray = hMipmappedArray->levels[level];
	return CUDA_SUCCESS;
}
