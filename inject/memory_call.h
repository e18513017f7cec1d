/*
 * memory_call: reads from the parameters of a memory call the memory that it allocated or freed.
 *
 * Called in the exit callback, on the program's thread; for a successful call it reads the
 * parameters and the memory that they point to.
 */
#ifndef INJECT_MEMORY_CALL_H
#define INJECT_MEMORY_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/record.h"
#include "inject/api_table.h"

#define GP_DEVICE_UNKNOWN UINT16_MAX

/*
 * Fill address, bytes, pool, op, memory_kind and device_id (GP_DEVICE_UNKNOWN if the call names
 * none) of record from the parameters of the call.  CUPTI's parameter structs begin with the call's
 * arguments in order.
 */
void gp_memory_call_read(const struct gp_api_entry *entry, const void *parameters,
			 struct gp_record_memory *record);

/*
 * For a failed allocation: fill bytes with the requested size, and op, memory_kind and device_id,
 * for any shape.  Follows no pointer of the call, because that may be the cause of the failure.
 * False: not an allocation, or its size is not among the parameters, as for arrays.
 */
bool gp_memory_call_read_failed(const struct gp_api_entry *entry, const void *parameters,
				struct gp_record_memory *record);

#endif
