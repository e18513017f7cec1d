#include "inject/launch_call.h"

#include <assert.h>
#include <stddef.h>

#include <cuda.h>
#include <cupti.h>
#include <driver_types.h>

#include "gpuprof/record.h"

/* More than there are kinds of attributes: a longer list repeats itself. */
#define MOST_ATTRIBUTES 64u

/* The runtime's configuration and attributes have the driver's layout. */
static_assert(offsetof(CUlaunchConfig, attrs) == offsetof(cudaLaunchConfig_t, attrs), "");
static_assert(offsetof(CUlaunchConfig, numAttrs) == offsetof(cudaLaunchConfig_t, numAttrs), "");
static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute), "");
static_assert(offsetof(CUlaunchAttribute, value) == offsetof(cudaLaunchAttribute, val), "");
static_assert((int)CU_LAUNCH_ATTRIBUTE_COOPERATIVE == (int)cudaLaunchAttributeCooperative, "");
static_assert((int)CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION ==
		      (int)cudaLaunchAttributeProgrammaticStreamSerialization,
	      "");
static_assert((int)CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ==
		      (int)cudaLaunchAttributeProgrammaticEvent,
	      "");
static_assert(offsetof(CUlaunchConfig, hStream) == GP_LAUNCH_CONFIGURED_STREAM, "");
static_assert(offsetof(cudaLaunchConfig_t, stream) == GP_LAUNCH_CONFIGURED_STREAM, "");
static_assert(offsetof(cudaLaunchKernel_v7000_params, stream) == GP_RUNTIME_LAUNCH_STREAM, "");
static_assert(offsetof(cudaLaunchCooperativeKernel_v9000_params, stream) ==
		      GP_RUNTIME_LAUNCH_STREAM,
	      "");
static_assert(offsetof(cuLaunchKernel_params, hStream) == GP_DRIVER_LAUNCH_STREAM, "");
static_assert(offsetof(cuLaunchCooperativeKernel_params, hStream) == GP_DRIVER_LAUNCH_STREAM, "");

static_assert(offsetof(cudaLaunchKernel_v7000_params, sharedMem) == 5 * sizeof(uint64_t) &&
		      offsetof(cuLaunchKernel_params, sharedMemBytes) == 4 * sizeof(uint64_t),
	      "function, grid and block are the first four words");
static_assert(offsetof(CUlaunchConfig, sharedMemBytes) == 3 * sizeof(uint64_t), "without function");
static_assert(offsetof(cudaMemcpy_v3020_params, kind) == 3 * sizeof(uint64_t) &&
		      offsetof(cudaMemcpyAsync_v3020_params, kind) == 3 * sizeof(uint64_t),
	      "GP_SHAPE_COPIED");

struct configured {
	const CUlaunchConfig *config;
	uint64_t function;
};

static uint16_t flag_of(const CUlaunchAttribute *attribute)
{
	switch ((int)attribute->id) {
	case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		return attribute->value.cooperative != 0 ? GP_CALL_COOPERATIVE : 0;
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
		return attribute->value.programmaticStreamSerializationAllowed != 0
			       ? GP_CALL_OVERLAPPING
			       : 0;
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
		return attribute->value.programmaticEvent.event != NULL ? GP_CALL_OVERLAPPING : 0;
	default:
		return 0;
	}
}

uint16_t gp_launch_call_flags(const struct gp_api_entry *entry, const void *parameters)
{
	const CUlaunchConfig *config;
	uint16_t flags = 0;

	if (entry->shape < GP_SHAPE_CONFIGURED)
		return GP_CALL_COOPERATIVE;
	config = ((const struct configured *)parameters)->config;
	if (config == NULL || config->attrs == NULL)
		return 0;
	for (uint32_t i = 0; i < config->numAttrs && i < MOST_ATTRIBUTES; i++)
		flags |= flag_of(&config->attrs[i]);
	return flags;
}

static uint64_t configured_kind(uint64_t hash, const struct configured *configured)
{
	const uint64_t *words = (const void *)configured->config; /* { grid, block, ... } */

	hash = gp_launch_call_mix(hash, configured->function);
	for (int i = 0; words != NULL && i < 3; i++)
		hash = gp_launch_call_mix(hash, words[i]);
	return hash;
}

uint64_t gp_launch_call_other_kind(const struct gp_api_entry *entry, const void *parameters)
{
	if (entry == NULL)
		return 0;
	if (entry->shape == GP_SHAPE_CONFIGURED)
		return configured_kind(entry->api, parameters);
	if (entry->shape == GP_SHAPE_COPIED)
		return gp_launch_call_mix(entry->api, ((const uint32_t *)parameters)[6]);
	if (entry->class == GP_API_GRAPH_LAUNCH)
		return gp_launch_call_mix(entry->api, *(const uint64_t *)parameters);
	return gp_launch_call_mix(entry->api, 0);
}
