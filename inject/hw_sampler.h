/*
 * hw_sampler: --hw-timeline: samples the hardware counters of each GPU by CUPTI's PM sampling.
 *
 * The GPU counts by itself and writes one sample in each interval to a buffer in host memory.  The
 * sampler's thread empties the buffer ten times a second and emits GP_RECORD_HW_SAMPLE records.
 * Kernels run as fast as without it.  Setup takes 0.2 to 0.5 s while the program runs; this time
 * has no samples.
 *
 * Only one process at a time can use the counters of a GPU.  If another one uses them, the thread
 * tries again later.  Whatever fails, the rest of the recording goes on, and one line and a note in
 * the trace say what failed.
 */
#ifndef INJECT_HW_SAMPLER_H
#define INJECT_HW_SAMPLER_H

#include <stdint.h>

#include "inject/cupti_library.h"

/* The process has a context on this device.  Any thread, also before the start. */
void gp_hw_sampler_use(uint16_t device_id);

/* Start the thread if --hw-timeline asks for it, and there is a trace. */
void gp_hw_sampler_start(const struct gp_cupti *cupti);

/* Ask the thread to fetch its last samples and to end. */
void gp_hw_sampler_finish(void);

/* Wait for that, until the deadline (gp_sys_now_ns()).  A thread that is late is left alone. */
void gp_hw_sampler_await(uint64_t deadline_ns);

#endif
