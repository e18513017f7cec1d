/*
 * stall_sampler: --stalls: samples why warps wait, by kernel and source line (CUPTI's PC sampling).
 *
 * Each SM takes a sample of one warp every 2^N cycles and writes it to a buffer in host memory.
 * The collector's thread (inject/hw_collector.h) adds them up and emits GP_RECORD_STALL records
 * once a second.  Sampling begins while the context is created, before any module is loaded:
 * CUPTI attributes no sample of modules that it has not seen.
 */
#ifndef INJECT_STALL_SAMPLER_H
#define INJECT_STALL_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>

/* Whether modules must be reported. */
bool gp_stall_sampler_is_on(void);

/* In CUPTI's callback, on the program's thread: the driver has loaded this code. */
void gp_stall_sampler_module(const void *cubin, size_t bytes);

#endif
