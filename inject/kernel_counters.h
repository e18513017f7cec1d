/*
 * kernel_counters: the metrics of --counters and --roofline, and the sessions of CUPTI's range
 * profiler that read those of one pass from each kernel.
 *
 * 	gp_kernel_counters_open(libcupti);
 * 	gp_kernel_counters_choose(device, &passes);
 * 	gp_kernel_counters_begin(pass, context);        kernels run one after the other from here on
 * 	...
 * 	gp_kernel_counters_end(&ranges);
 * 	gp_kernel_counters_emit(range, ...);            the values of one kernel, for the trace
 *
 * Functions that return a result return CUPTI's, 0 = success.  Only one thread at a time may call
 * these functions, as a profiler thread (gp_callbacks_exclude_thread()).  Sessions need the context
 * to be current, and a large stack.
 */
#ifndef INJECT_KERNEL_COUNTERS_H
#define INJECT_KERNEL_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

#include "inject/api_table.h"

/* Kernels of a session; further ones have no values. */
#define GP_KERNEL_COUNTERS_MOST 48u

/* Takes 0.1 s.  As open() of a collector (inject/hw_collector.h). */
int gp_kernel_counters_open(void *libcupti);

/*
 * Whether --counters counts instructions by opcode (sets like flops), for which CUPTI patches code.
 * It counts nothing in kernels that it patches for their records, too, so these must be off from
 * the beginning.
 */
bool gp_kernel_counters_patch_code(void);

/* Takes 0.1 to 0.5 s.  If there are 0 passes, a note says why. */
int gp_kernel_counters_choose(uint16_t device_id, uint32_t *passes);

/* Fails if another process uses the counters.  All sessions are of the same context. */
int gp_kernel_counters_begin(uint32_t pass, uint64_t context, uint16_t device_id);

/* ranges: the measured kernels, in the order in which they ran. */
int gp_kernel_counters_end(size_t *ranges);

/* After an error: the next session starts from the beginning. */
void gp_kernel_counters_disable(void);

/* The context is destroyed, and all of CUPTI's with it. */
void gp_kernel_counters_forget(void);

/* Of the session that ended last.  Returns whether the range has values. */
bool gp_kernel_counters_emit(uint32_t range, uint32_t correlation_id, uint32_t window_id);

/*
 * If CUPTI makes no kernel records: one without times, which names the kernel of the values.  At
 * the end of its launch.
 */
void gp_kernel_counters_emit_kernel(const struct gp_api_entry *entry,
				    const CUpti_CallbackData *data, uint16_t device_id);

#endif
