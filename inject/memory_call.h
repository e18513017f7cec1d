/*
 * memory_call: reads from a memory call's parameters what it allocated or freed.
 * Called in the call's exit callback, on the program's thread; of a call that succeeded it reads the
 * parameters and what they point to.
 */
#ifndef INJECT_MEMORY_CALL_H
#define INJECT_MEMORY_CALL_H

#include <stdbool.h>
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

/*
 * Of an allocation that failed: fill bytes with what it asked for, op, memory_kind and device_id, of a call of any shape.  Follows no pointer of
 * the call's, for it may have failed because of that.  False: it is no allocation, or its size is not among the parameters, as of
 * arrays.
 */
bool gp_memory_call_read_failed(const struct gp_api_entry *entry, const void *parameters,
				struct gp_record_memory *record);

#endif
