/*
 * launch_call: reads from a launch's parameters what its GPU record does not tell, tells wrong, or where there is none.
 * Called in the exit callback of a launch that succeeded, on the program's thread; reads the parameters and what they
 * point to.
 */
#ifndef INJECT_LAUNCH_CALL_H
#define INJECT_LAUNCH_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "inject/api_table.h"

/* GP_CALL_COOPERATIVE and GP_CALL_OVERLAPPING, as they apply; the entry's shape is one of the launches'. */
uint16_t gp_launch_call_flags(const struct gp_api_entry *entry, const void *parameters);

#define GP_LAUNCH_CONFIGURED_STREAM 32u /* where it stands in a configuration */
#define GP_LAUNCH_STREAM_IS_UNKNOWN UINT64_MAX

/* The stream's handle, 0 for a default stream, of a call whose entry has stream_at. */
static inline uint64_t gp_launch_call_stream(const struct gp_api_entry *entry,
					     const void *parameters)
{
	return *(const uint64_t *)((const char *)parameters + entry->stream_at);
}

/* The same of other launches: GP_LAUNCH_STREAM_IS_UNKNOWN for calls that do not say it. */
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

#endif
