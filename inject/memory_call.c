#include "inject/memory_call.h"

#include <cuda.h>
#include <driver_types.h>

/* The parameter structs below are those of CUPTI's generated_*_meta.h, one for all calls of a
 * shape. */
struct sized {
	const uint64_t *address;
	size_t bytes;
	uint64_t pool;
};

struct pitch {
	const uint64_t *address;
	const size_t *pitch;
	size_t width;
	size_t height;
};

struct pitch_3d {
	const struct cudaPitchedPtr *memory;
	struct cudaExtent extent;
};

struct runtime_array {
	const uint64_t *handle;
	const struct cudaChannelFormatDesc *format;
	size_t width;
	size_t height;
};

struct runtime_array_3d {
	const uint64_t *handle;
	const struct cudaChannelFormatDesc *format;
	struct cudaExtent extent;
	unsigned int levels; /* mipmapped arrays only */
};

struct driver_array {
	const uint64_t *handle;
	const CUDA_ARRAY_DESCRIPTOR *format;
};

struct driver_array_3d {
	const uint64_t *handle;
	const CUDA_ARRAY3D_DESCRIPTOR *format;
	unsigned int levels;
};

struct physical {
	const uint64_t *handle;
	size_t bytes;
	const CUmemAllocationProp *properties;
};

struct plain {
	uint64_t address;
	size_t bytes;
};

static size_t at_least_one(size_t extent)
{
	return extent > 0 ? extent : 1;
}

static uint64_t texel_bytes(const struct cudaChannelFormatDesc *format)
{
	return (uint64_t)(format->x + format->y + format->z + format->w) / 8;
}

/* Bytes of one channel by CUarray_format; the packed video formats are counted as one byte. */
static uint64_t channel_bytes(CUarray_format format)
{
	switch ((int)format) {
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	default:
		return 1;
	}
}

/* Texels of all levels: each level halves every extent, down to one. */
static uint64_t mipmap_texels(size_t width, size_t height, size_t depth, unsigned int levels)
{
	uint64_t texels = 0;

	for (unsigned int level = 0; level < levels && level < 32; level++)
		texels += (uint64_t)at_least_one(width >> level) * at_least_one(height >> level) *
			  at_least_one(depth >> level);
	return texels;
}

static void read_sized(const void *parameters, struct gp_record_memory *record)
{
	const struct sized *call = parameters;

	record->address = *call->address;
	record->bytes = call->bytes;
}

static void read_pooled(const void *parameters, struct gp_record_memory *record)
{
	read_sized(parameters, record);
	record->pool = ((const struct sized *)parameters)->pool;
}

static void read_pitch(const void *parameters, struct gp_record_memory *record)
{
	const struct pitch *call = parameters;

	record->address = *call->address;
	record->bytes = *call->pitch * call->height;
}

static void read_pitch_3d(const void *parameters, struct gp_record_memory *record)
{
	const struct pitch_3d *call = parameters;

	record->address = (uint64_t)(uintptr_t)call->memory->ptr;
	record->bytes = call->memory->pitch * call->extent.height * call->extent.depth;
}

static void read_runtime_array(const void *parameters, struct gp_record_memory *record)
{
	const struct runtime_array *call = parameters;

	record->address = *call->handle;
	record->bytes = texel_bytes(call->format) * call->width * at_least_one(call->height);
}

static void read_runtime_array_3d(const void *parameters, struct gp_record_memory *record)
{
	const struct runtime_array_3d *call = parameters;
	struct cudaExtent extent = call->extent;

	record->address = *call->handle;
	record->bytes = texel_bytes(call->format) *
			mipmap_texels(extent.width, extent.height, extent.depth, 1);
}

static void read_runtime_mipmap(const void *parameters, struct gp_record_memory *record)
{
	const struct runtime_array_3d *call = parameters;
	struct cudaExtent extent = call->extent;

	record->address = *call->handle;
	record->bytes = texel_bytes(call->format) *
			mipmap_texels(extent.width, extent.height, extent.depth, call->levels);
}

static void read_driver_array(const void *parameters, struct gp_record_memory *record)
{
	const struct driver_array *call = parameters;

	record->address = *call->handle;
	record->bytes = channel_bytes(call->format->Format) * call->format->NumChannels *
			call->format->Width * at_least_one(call->format->Height);
}

static void read_driver_levels(const struct driver_array_3d *call, unsigned int levels,
			       struct gp_record_memory *record)
{
	const CUDA_ARRAY3D_DESCRIPTOR *format = call->format;

	record->address = *call->handle;
	record->bytes = channel_bytes(format->Format) * format->NumChannels *
			mipmap_texels(format->Width, format->Height, format->Depth, levels);
}

static void read_driver_array_3d(const void *parameters, struct gp_record_memory *record)
{
	read_driver_levels(parameters, 1, record);
}

static void read_driver_mipmap(const void *parameters, struct gp_record_memory *record)
{
	const struct driver_array_3d *call = parameters;

	read_driver_levels(call, call->levels, record);
}

static void read_physical(const void *parameters, struct gp_record_memory *record)
{
	const struct physical *call = parameters;

	record->address = *call->handle;
	record->bytes = call->bytes;
	if (call->properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE)
		record->device_id = (uint16_t)call->properties->location.id;
}

static void read_register(const void *parameters, struct gp_record_memory *record)
{
	const struct plain *call = parameters;

	record->address = call->address;
	record->bytes = call->bytes;
}

static void read_opened(const void *parameters, struct gp_record_memory *record)
{
	record->address = *((const struct sized *)parameters)->address;
}

static void read_freed(const void *parameters, struct gp_record_memory *record)
{
	record->address = ((const struct plain *)parameters)->address;
	record->op = GP_MEMORY_FREE;
}

static void (*const readers[GP_SHAPES])(const void *, struct gp_record_memory *) = {
	[GP_SHAPE_SIZED] = read_sized,
	[GP_SHAPE_POOLED] = read_pooled,
	[GP_SHAPE_PITCH] = read_pitch,
	[GP_SHAPE_PITCH_3D] = read_pitch_3d,
	[GP_SHAPE_RUNTIME_ARRAY] = read_runtime_array,
	[GP_SHAPE_RUNTIME_ARRAY_3D] = read_runtime_array_3d,
	[GP_SHAPE_RUNTIME_MIPMAP] = read_runtime_mipmap,
	[GP_SHAPE_DRIVER_ARRAY] = read_driver_array,
	[GP_SHAPE_DRIVER_ARRAY_3D] = read_driver_array_3d,
	[GP_SHAPE_DRIVER_MIPMAP] = read_driver_mipmap,
	[GP_SHAPE_PHYSICAL] = read_physical,
	[GP_SHAPE_REGISTER] = read_register,
	[GP_SHAPE_OPENED] = read_opened,
	[GP_SHAPE_FREED] = read_freed,
};

void gp_memory_call_read(const struct gp_api_entry *entry, const void *parameters,
			 struct gp_record_memory *record)
{
	record->op = GP_MEMORY_ALLOC;
	record->memory_kind = entry->memory_kind;
	record->device_id = GP_DEVICE_UNKNOWN;
	readers[entry->shape](parameters, record);
}
