/* memory_rules: what a record of an allocation or a free means, wherever it is read. */
#ifndef REPORT_TRACE_MEMORY_RULES_H
#define REPORT_TRACE_MEMORY_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/record.h"

/*
 * Kinds that one call can free are a family, which is called by one of them: cudaFree takes what
 * cudaMallocManaged gave.  0: none has that number.
 */
uint8_t gp_memory_family(uint8_t memory_kind);

/* A captured call has not allocated anything yet; a free is one even after the end of CUDA. */
bool gp_memory_took_effect(const struct gp_record_memory *record);

/* Mappings and ownerships of physical memory: calls, but no memory comes or goes. */
bool gp_memory_is_about_handle(const struct gp_record_memory *record);

/* Memory comes or goes. */
bool gp_memory_is_event(const struct gp_record_memory *record);

#endif
