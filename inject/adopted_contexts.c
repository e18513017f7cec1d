#include "inject/adopted_contexts.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "collector/collector.h"
#include "inject/callbacks.h"

static void add(CUcontext contexts[GP_ADOPTED_CONTEXTS], uint32_t *count, CUcontext context)
{
	for (uint32_t i = 0; i < *count; i++)
		if (contexts[i] == context)
			return;
	if (*count < GP_ADOPTED_CONTEXTS)
		contexts[(*count)++] = context;
}

/* The device's primary context, if it is in use: retaining another one would create it. */
static CUcontext primary_of(const struct gp_driver *driver, CUdevice device)
{
	CUcontext context = NULL;
	unsigned flags;
	int is_active = 0;

	if (driver->cuDevicePrimaryCtxGetState(device, &flags, &is_active) != CUDA_SUCCESS ||
	    !is_active || driver->cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS)
		return NULL;
	driver->cuDevicePrimaryCtxRelease(device);
	return context;
}

static bool has_functions(const struct gp_driver *driver)
{
	return driver->cuDeviceGetCount != NULL && driver->cuDevicePrimaryCtxGetState != NULL &&
	       driver->cuDevicePrimaryCtxRetain != NULL &&
	       driver->cuDevicePrimaryCtxRelease != NULL && driver->cuCtxGetCurrent != NULL;
}

uint32_t gp_adopted_contexts_find(const struct gp_driver *driver,
				  CUcontext contexts[GP_ADOPTED_CONTEXTS])
{
	CUcontext context = NULL;
	uint32_t count = 0;
	int devices = 0;

	if (!has_functions(driver))
		return 0;
	gp_callbacks_exclude_thread(true);
	driver->cuDeviceGetCount(&devices);
	for (CUdevice i = 0; i < devices; i++) {
		context = primary_of(driver, i);
		if (context != NULL)
			add(contexts, &count, context);
	}
	if (driver->cuCtxGetCurrent(&context) == CUDA_SUCCESS && context != NULL)
		add(contexts, &count, context);
	gp_callbacks_exclude_thread(false);
	return count;
}

static uint32_t attribute(const struct gp_driver *driver, CUdevice device,
			  CUdevice_attribute attribute)
{
	int value = 0;

	if (driver->cuDeviceGetAttribute == NULL ||
	    driver->cuDeviceGetAttribute(&value, attribute, device) != CUDA_SUCCESS || value < 0)
		return 0;
	return (uint32_t)value;
}

#define OF_DEVICE(name) attribute(driver, device, CU_DEVICE_ATTRIBUTE_##name)

/* Two transfers in a clock cycle, of so many bits each. */
static uint64_t bandwidth_kbytes_per_s(const struct gp_driver *driver, CUdevice device)
{
	return (uint64_t)OF_DEVICE(MEMORY_CLOCK_RATE) * OF_DEVICE(GLOBAL_MEMORY_BUS_WIDTH) / 8 * 2;
}

static void define_device(const struct gp_driver *driver, CUdevice device)
{
	struct gp_record_device out = {
		.kind = GP_RECORD_DEVICE,
		.slots = sizeof(out) / GP_SLOT_BYTES,
		.device_id = (uint16_t)device,
		.compute_major = (uint16_t)OF_DEVICE(COMPUTE_CAPABILITY_MAJOR),
		.compute_minor = (uint16_t)OF_DEVICE(COMPUTE_CAPABILITY_MINOR),
		.memory_bandwidth_kbytes_per_s = bandwidth_kbytes_per_s(driver, device),
		.multiprocessors = OF_DEVICE(MULTIPROCESSOR_COUNT),
		.warp_threads = OF_DEVICE(WARP_SIZE),
		.max_threads_per_block = OF_DEVICE(MAX_THREADS_PER_BLOCK),
		.max_threads_per_multiprocessor = OF_DEVICE(MAX_THREADS_PER_MULTIPROCESSOR),
		.max_blocks_per_multiprocessor = OF_DEVICE(MAX_BLOCKS_PER_MULTIPROCESSOR),
		.registers_per_block = OF_DEVICE(MAX_REGISTERS_PER_BLOCK),
		.registers_per_multiprocessor = OF_DEVICE(MAX_REGISTERS_PER_MULTIPROCESSOR),
		.shared_per_block_bytes = OF_DEVICE(MAX_SHARED_MEMORY_PER_BLOCK),
		.shared_per_multiprocessor_bytes = OF_DEVICE(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
		.core_clock_khz = OF_DEVICE(CLOCK_RATE),
		.l2_bytes = OF_DEVICE(L2_CACHE_SIZE),
	};
	char name[256] = "";
	size_t memory_bytes = 0;
	CUuuid uuid = {{0}};

	if (out.warp_threads != 0)
		out.max_warps_per_multiprocessor =
			out.max_threads_per_multiprocessor / out.warp_threads;
	if (driver->cuDeviceTotalMem != NULL)
		driver->cuDeviceTotalMem(&memory_bytes, device);
	out.memory_bytes = memory_bytes;
	if (driver->cuDeviceGetUuid != NULL)
		driver->cuDeviceGetUuid(&uuid, device);
	memcpy(out.uuid, &uuid, sizeof(out.uuid));
	gp_emit((const struct gp_record *)&out);
	if (driver->cuDeviceGetName != NULL &&
	    driver->cuDeviceGetName(name, sizeof(name), device) == CUDA_SUCCESS)
		gp_emit_string(GP_STRING_DEVICE, (uint32_t)device, 0, name,
			       (uint32_t)strnlen(name, sizeof(name)));
}

static void define_context(const struct gp_cupti *cupti, CUcontext context, uint16_t device_id)
{
	struct gp_record_context out = {
		.kind = GP_RECORD_CONTEXT,
		.slots = sizeof(out) / GP_SLOT_BYTES,
		.device_id = device_id,
	};

	if (cupti->cuptiGetContextId(context, &out.id) != CUPTI_SUCCESS)
		return;
	if (cupti->cuptiGetStreamIdEx != NULL)
		cupti->cuptiGetStreamIdEx(context, NULL, 0, &out.null_stream_id);
	gp_emit((const struct gp_record *)&out);
}

void gp_adopted_contexts_define(const struct gp_driver *driver, const struct gp_cupti *cupti,
				CUcontext context, uint16_t device_id)
{
	gp_callbacks_exclude_thread(true);
	define_device(driver, device_id);
	define_context(cupti, context, device_id);
	gp_callbacks_exclude_thread(false);
}
