/*
 * cuda_names: words for the numbers of CUDA and CUPTI. Unknown numbers get a word, too; never NULL.
 */
#ifndef REPORT_TRACE_CUDA_NAMES_H
#define REPORT_TRACE_CUDA_NAMES_H

#include <stdbool.h>
#include <stdint.h>

const char *gp_copy_kind_name(uint8_t copy_kind); /* HtoD */
/* Pageable; CUPTI's kinds in copies and memsets */
const char *gp_memory_name(uint16_t memory_kind);
const char *gp_overhead_name(uint32_t overhead_kind); /* Buffer Flush */
const char *gp_launch_type_name(uint8_t launch_type); /* regular */
const char *gp_allocation_name(uint8_t allocation);   /* pinned host; enum gp_memory_kind */
const char *gp_jit_op_name(uint8_t op_kind);          /* compile */
const char *gp_jit_entry_name(uint8_t entry_kind);    /* PTX to CUBIN */
const char *gp_unified_name(uint16_t counter_kind);   /* migration HtoD */
const char *gp_gate_reason_name(uint8_t reason);      /* a signal; enum gp_gate_reason */
const char *gp_status_name(uint16_t status);          /* out of memory; "" if there is no word */
/*
 * cudaErrorMemoryAllocation, or CUDA_ERROR_OUT_OF_MEMORY for the driver API; "" if it has no name.
 */
const char *gp_status_symbol(uint16_t status, bool driver);
const char *gp_stream_kind_name(uint16_t flags); /* non-blocking; CUPTI's flags; "" */
/* The cause or the access: prefetch. flags: CUPTI's flags of that kind. "" if unknown. */
const char *gp_unified_cause_name(uint16_t counter_kind, uint32_t flags);
const char *gp_sync_name(uint16_t sync_kind); /* stream; CUPTI's kinds */

bool gp_jit_op_compiles(uint8_t op_kind); /* compiles, rather than only using the cache */

/* Whether an overhead is loading of code: modules, or functions on their first use. */
bool gp_overhead_is_of_loading(uint32_t overhead_kind);

/* Whether an overhead is loading or compilation of code. */
bool gp_overhead_is_of_code(uint32_t overhead_kind);

/* A call waited for space in the driver's queue: the host is far ahead of the GPU. */
bool gp_overhead_is_of_queue(uint32_t overhead_kind);

/* CUPTI's buffers, setup and instrumentation, which exist only under a profiler. */
bool gp_overhead_is_of_profiler(uint32_t overhead_kind);

/* CUPTI's setup of a new context, a part of the profiler's overhead. */
bool gp_overhead_is_of_context(uint32_t overhead_kind);

#endif
