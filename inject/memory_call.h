/*
 * memory_call: reads from a memory call's parameters what it allocated or freed.
 * Called in the exit callback of a call that succeeded, on the program's thread; reads the
 * parameters and what they point to.
 */
#ifndef INJECT_MEMORY_CALL_H
#define INJECT_MEMORY_CALL_H

#include <stdint.h>

#include "gpuprof/record.h"
#include "inject/api_table.h"

#define GP_DEVICE_UNKNOWN UINT16_MAX

/*
 * Fill address, bytes, pool, op, memory_kind and device_id (GP_DEVICE_UNKNOWN where the call does
 * not name one) of record from the parameters of the call.  CUPTI's parameter structs begin with
 * the call's arguments in order.
 */
void gp_memory_call_read(const struct gp_api_entry *entry, const void *parameters,
			 struct gp_record_memory *record);

#endif
