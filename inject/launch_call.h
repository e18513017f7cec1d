/*
 * launch_call: reads from a launch's parameters what its GPU record does not tell, or tells wrong.
 * Called in the exit callback of a launch that succeeded, on the program's thread; reads the parameters and what they
 * point to.
 */
#ifndef INJECT_LAUNCH_CALL_H
#define INJECT_LAUNCH_CALL_H

#include <stdint.h>

#include "inject/api_table.h"

/* GP_CALL_COOPERATIVE and GP_CALL_OVERLAPPING, as they apply; the entry's shape is one of the launches'. */
uint16_t gp_launch_call_flags(const struct gp_api_entry *entry, const void *parameters);

#endif
