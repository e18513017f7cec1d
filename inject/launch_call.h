/*
 * launch_call: reads from a launch's parameters the data that its GPU record lacks or has wrong, or
 * that is needed without a record.
 *
 * Called in a callback of the launch, on the program's thread; reads the parameters and the memory
 * that they point to.
 */
#ifndef INJECT_LAUNCH_CALL_H
#define INJECT_LAUNCH_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "inject/api_table.h"

/*
 * The applicable flags GP_CALL_COOPERATIVE and GP_CALL_OVERLAPPING; the entry has a launch shape.
 */
uint16_t gp_launch_call_flags(const struct gp_api_entry *entry, const void *parameters);

#define GP_LAUNCH_CONFIGURED_STREAM 32u /* its offset in a configuration */
#define GP_LAUNCH_STREAM_IS_UNKNOWN UINT64_MAX

/* The stream handle, 0 for a default stream, of a call whose entry has stream_at. */
static inline uint64_t gp_launch_call_stream(const struct gp_api_entry *entry,
					     const void *parameters)
{
	return *(const uint64_t *)((const char *)parameters + entry->stream_at);
}

/* The same for other launches: GP_LAUNCH_STREAM_IS_UNKNOWN if the parameters do not contain it. */
static inline uint64_t gp_launch_call_configured_stream(const struct gp_api_entry *entry,
							const void *parameters)
{
	const char *configuration;

	if (entry->shape != GP_SHAPE_CONFIGURED)
		return GP_LAUNCH_STREAM_IS_UNKNOWN;
	configuration = *(const char *const *)parameters;
	if (configuration == NULL)
		return GP_LAUNCH_STREAM_IS_UNKNOWN;
	return *(const uint64_t *)(configuration + GP_LAUNCH_CONFIGURED_STREAM);
}

/*
 * A hash of what a call launches: kernel, grid and block; graph; of a copy the direction.  entry:
 * NULL = not in the table.
 */
static inline uint64_t gp_launch_call_mix(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

uint64_t gp_launch_call_other_kind(const struct gp_api_entry *entry, const void *parameters);

static inline uint64_t gp_launch_call_kind(const struct gp_api_entry *entry, const void *parameters)
{
	const uint64_t *words = parameters; /* { function, grid, block, ... } */
	uint64_t hash;

	if (entry == NULL ||
	    (entry->shape != GP_SHAPE_LAUNCHED && entry->shape != GP_SHAPE_COOPERATIVE))
		return gp_launch_call_other_kind(entry, parameters);
	hash = gp_launch_call_mix(gp_launch_call_mix(entry->api, words[0]), words[1]);
	return gp_launch_call_mix(gp_launch_call_mix(hash, words[2]), words[3]);
}

#endif
