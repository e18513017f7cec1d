#include "inject/memory_call.h"

#include <cuda.h>
#include <driver_types.h>

#include "inject/array_bytes.h"

/*
 * The parameter structs below are those of CUPTI's generated_*_meta.h, one for all calls of a
 * shape.
 */
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
	unsigned int flags;
};

struct runtime_array_3d {
	const uint64_t *handle;
	const struct cudaChannelFormatDesc *format;
	struct cudaExtent extent;
	unsigned int flags;
};

struct runtime_mipmap {
	const uint64_t *handle;
	const struct cudaChannelFormatDesc *format;
	struct cudaExtent extent;
	unsigned int levels;
	unsigned int flags;
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

struct mapped {
	uint64_t address;
	size_t bytes;
	size_t offset;
	uint64_t handle;
};

struct plain {
	uint64_t address;
	size_t bytes;
};

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
	struct gp_array_extent extent = {call->width, call->height, 0, 1, call->flags};

	record->address = *call->handle;
	record->bytes = gp_array_bytes_runtime(call->format, &extent);
}

static void read_runtime_array_3d(const void *parameters, struct gp_record_memory *record)
{
	const struct runtime_array_3d *call = parameters;
	struct gp_array_extent extent = {call->extent.width, call->extent.height,
					 call->extent.depth, 1, call->flags};

	record->address = *call->handle;
	record->bytes = gp_array_bytes_runtime(call->format, &extent);
}

static void read_runtime_mipmap(const void *parameters, struct gp_record_memory *record)
{
	const struct runtime_mipmap *call = parameters;
	struct gp_array_extent extent = {call->extent.width, call->extent.height,
					 call->extent.depth, call->levels, call->flags};

	record->address = *call->handle;
	record->bytes = gp_array_bytes_runtime(call->format, &extent);
}

static void read_driver_array(const void *parameters, struct gp_record_memory *record)
{
	const struct driver_array *call = parameters;
	struct gp_array_extent extent = {call->format->Width, call->format->Height, 0, 1, 0};

	record->address = *call->handle;
	record->bytes =
		gp_array_bytes_driver(call->format->Format, call->format->NumChannels, &extent);
}

static void read_driver_levels(const struct driver_array_3d *call, uint32_t levels,
			       struct gp_record_memory *record)
{
	const CUDA_ARRAY3D_DESCRIPTOR *format = call->format;
	struct gp_array_extent extent = {format->Width, format->Height, format->Depth, levels,
					 format->Flags};

	record->address = *call->handle;
	record->bytes = gp_array_bytes_driver(format->Format, format->NumChannels, &extent);
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

static void read_mapped(const void *parameters, struct gp_record_memory *record)
{
	const struct mapped *call = parameters;

	record->address = call->address;
	record->bytes = call->bytes;
	record->pool = call->handle;
	record->op = GP_MEMORY_MAP;
}

static void read_unmapped(const void *parameters, struct gp_record_memory *record)
{
	const struct plain *call = parameters;

	record->address = call->address;
	record->bytes = call->bytes;
	record->op = GP_MEMORY_UNMAP;
}

static void read_retained(const void *parameters, struct gp_record_memory *record)
{
	record->address = *((const struct sized *)parameters)->address;
	record->op = GP_MEMORY_RETAIN;
}

static void (*const readers[GP_SHAPE_LAUNCHES])(const void *, struct gp_record_memory *) = {
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
	[GP_SHAPE_MAPPED] = read_mapped,
	[GP_SHAPE_UNMAPPED] = read_unmapped,
	[GP_SHAPE_RETAINED] = read_retained,
};

void gp_memory_call_read(const struct gp_api_entry *entry, const void *parameters,
			 struct gp_record_memory *record)
{
	record->op = GP_MEMORY_ALLOC;
	record->memory_kind = entry->memory_kind;
	record->device_id = GP_DEVICE_UNKNOWN;
	readers[entry->shape](parameters, record);
}

/* ---- failed calls ---- */

static uint64_t requested_sized(const void *parameters)
{
	return ((const struct sized *)parameters)->bytes;
}

static uint64_t requested_pitch(const void *parameters)
{
	const struct pitch *call = parameters;

	return (uint64_t)call->width * call->height;
}

static uint64_t requested_pitch_3d(const void *parameters)
{
	const struct cudaExtent *extent = &((const struct pitch_3d *)parameters)->extent;

	return (uint64_t)extent->width * extent->height * extent->depth;
}

static uint64_t requested_physical(const void *parameters)
{
	return ((const struct physical *)parameters)->bytes;
}

static uint64_t requested_plain(const void *parameters)
{
	return ((const struct plain *)parameters)->bytes;
}

static uint64_t (*const requested[GP_SHAPES])(const void *) = {
	[GP_SHAPE_SIZED] = requested_sized,       [GP_SHAPE_POOLED] = requested_sized,
	[GP_SHAPE_PITCH] = requested_pitch,       [GP_SHAPE_PITCH_3D] = requested_pitch_3d,
	[GP_SHAPE_PHYSICAL] = requested_physical, [GP_SHAPE_REGISTER] = requested_plain,
};

bool gp_memory_call_read_failed(const struct gp_api_entry *entry, const void *parameters,
				struct gp_record_memory *record)
{
	if (requested[entry->shape] == NULL)
		return false;
	record->op = GP_MEMORY_ALLOC;
	record->memory_kind = entry->memory_kind;
	record->device_id = GP_DEVICE_UNKNOWN;
	record->bytes = requested[entry->shape](parameters);
	return true;
}
