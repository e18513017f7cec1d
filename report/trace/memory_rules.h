/* memory_rules: the meaning of records of allocations and frees. */
#ifndef REPORT_TRACE_MEMORY_RULES_H
#define REPORT_TRACE_MEMORY_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/record.h"

/*
 * Kinds that one call can free form a family, named by one of them: cudaFree also frees memory of
 * cudaMallocManaged. 0 = unknown kind.
 */
uint8_t gp_memory_family(uint8_t memory_kind);

/*
 * False for a captured call, which has not allocated yet. A free takes effect even after the end of
 * CUDA.
 */
bool gp_memory_took_effect(const struct gp_record_memory *record);

/* Mappings and owners of physical memory: no memory is allocated or freed. */
bool gp_memory_is_about_handle(const struct gp_record_memory *record);

/* Memory is allocated or freed. */
bool gp_memory_is_event(const struct gp_record_memory *record);

#endif
