#include "inject/array_bytes.h"

#include <assert.h>
#include <stdbool.h>

#include "gpuprof/count.h"

/* The format stores blocks of side × side texels. */
struct block {
	uint32_t side;
	uint32_t bits;
};

/* Ranges of driver formats that have no fixed size per channel; channel_bits() has the others. */
static const struct {
	uint8_t from, to;
	struct block block;
} formats[] = {
	{CU_AD_FORMAT_BC1_UNORM, CU_AD_FORMAT_BC1_UNORM_SRGB, {4, 64}},
	{CU_AD_FORMAT_BC2_UNORM, CU_AD_FORMAT_BC3_UNORM_SRGB, {4, 128}},
	{CU_AD_FORMAT_BC4_UNORM, CU_AD_FORMAT_BC4_SNORM, {4, 64}},
	{CU_AD_FORMAT_BC5_UNORM, CU_AD_FORMAT_BC7_UNORM_SRGB, {4, 128}},
	{CU_AD_FORMAT_NV12, CU_AD_FORMAT_NV12, {1, 12}},
	/* video formats and the 10-bit format, by number: headers before 12.9 lack the names */
	{0x50, 0x50, {1, 32}}, /* UNORM_INT_101010_2 */
	{0x9f, 0xa1, {1, 24}}, /* P010, P016 */
	{0xa2, 0xa2, {1, 16}}, /* NV16 */
	{0xa3, 0xa4, {1, 32}}, /* P210, P216 */
	{0xa5, 0xa5, {1, 16}}, /* YUY2 */
	{0xa6, 0xa9, {1, 32}}, /* Y210, Y216, AYUV, Y410 */
	{0xb1, 0xb1, {1, 64}}, /* Y416 */
	{0xb2, 0xb2, {1, 24}}, /* Y444_PLANAR8 */
	{0xb3, 0xb3, {1, 48}}, /* Y444_PLANAR10 */
	{0xb4, 0xb4, {1, 24}}, /* YUV444_8bit_SemiPlanar */
	{0xb5, 0xb5, {1, 48}}, /* YUV444_16bit_SemiPlanar */
};

static uint32_t channel_bits(CUarray_format format)
{
	switch ((int)format) {
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
	case CU_AD_FORMAT_UNORM_INT16X1:
	case CU_AD_FORMAT_UNORM_INT16X2:
	case CU_AD_FORMAT_UNORM_INT16X4:
	case CU_AD_FORMAT_SNORM_INT16X1:
	case CU_AD_FORMAT_SNORM_INT16X2:
	case CU_AD_FORMAT_SNORM_INT16X4:
		return 16;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 32;
	default:
		return 8;
	}
}

static struct block driver_block(CUarray_format format, uint32_t channels)
{
	for (size_t i = 0; i < COUNT(formats); i++)
		if ((uint32_t)format >= formats[i].from && (uint32_t)format <= formats[i].to)
			return formats[i].block;
	return (struct block){1, channel_bits(format) * channels};
}

/* The runtime gives the bits of each channel, except for compressed and planar formats. */
static struct block runtime_block(const struct cudaChannelFormatDesc *format)
{
	switch ((int)format->f) {
	case cudaChannelFormatKindUnsignedBlockCompressed1:
	case cudaChannelFormatKindUnsignedBlockCompressed1SRGB:
	case cudaChannelFormatKindUnsignedBlockCompressed4:
	case cudaChannelFormatKindSignedBlockCompressed4:
		return (struct block){4, 64};
	case cudaChannelFormatKindUnsignedBlockCompressed2:
	case cudaChannelFormatKindUnsignedBlockCompressed2SRGB:
	case cudaChannelFormatKindUnsignedBlockCompressed3:
	case cudaChannelFormatKindUnsignedBlockCompressed3SRGB:
	case cudaChannelFormatKindUnsignedBlockCompressed5:
	case cudaChannelFormatKindSignedBlockCompressed5:
	case cudaChannelFormatKindUnsignedBlockCompressed6H:
	case cudaChannelFormatKindSignedBlockCompressed6H:
	case cudaChannelFormatKindUnsignedBlockCompressed7:
	case cudaChannelFormatKindUnsignedBlockCompressed7SRGB:
		return (struct block){4, 128};
	case cudaChannelFormatKindNV12:
		return (struct block){1, 12};
	default:
		return (struct block){1, (uint32_t)(format->x + format->y + format->z + format->w)};
	}
}

static uint64_t at_least_one(size_t extent)
{
	return extent > 0 ? extent : 1;
}

static uint64_t blocks(size_t extent, uint32_t side)
{
	return (at_least_one(extent) + side - 1) / side;
}

static_assert(cudaArrayLayered == CUDA_ARRAY3D_LAYERED, "");
static_assert(cudaArrayCubemap == CUDA_ARRAY3D_CUBEMAP, "");
static_assert(cudaArraySparse == CUDA_ARRAY3D_SPARSE, "");
static_assert(cudaArrayDeferredMapping == CUDA_ARRAY3D_DEFERRED_MAPPING, "");

/* Each mip level halves every extent, down to one; the number of layers and faces stays. */
static uint64_t bytes_of(struct block block, const struct gp_array_extent *extent)
{
	bool has_layers = (extent->flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
	uint64_t count = 0;

	if ((extent->flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) != 0)
		return 0;
	for (uint32_t level = 0; level < extent->levels && level < 32; level++)
		count += blocks(extent->width >> level, block.side) *
			 blocks(extent->height >> level, block.side) *
			 at_least_one(extent->depth >> (has_layers ? 0 : level));
	return count * block.bits / 8;
}

uint64_t gp_array_bytes_runtime(const struct cudaChannelFormatDesc *format,
				const struct gp_array_extent *extent)
{
	return bytes_of(runtime_block(format), extent);
}

uint64_t gp_array_bytes_driver(CUarray_format format, uint32_t channels,
			       const struct gp_array_extent *extent)
{
	return bytes_of(driver_block(format, channels), extent);
}
