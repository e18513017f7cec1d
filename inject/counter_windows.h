/*
 * counter_windows: --counters and --roofline: exact hardware counters of single kernels, by CUPTI's
 * range profiler.
 *
 * Now and then a window opens at the end of a launch.  In it, CUPTI runs the kernels of one context
 * one after the other, and measures each.  After GP_COUNTER_WINDOW_KERNELS launches the window
 * closes at the beginning of the next launch, and the values go into the trace.  The program waits
 * about 50 ms for a window to open and close; between windows it runs as without this.  All kernels
 * have their records as always.
 *
 * A window also closes before calls that CUPTI cannot measure, or that could wait for something
 * that the program does after them: graph launches, captures, setup, and kernels that wait for
 * kernels of other processes or devices (nccl, nvshmem).  CUPTI numbers the kernels by their order
 * alone, so launches of a window are made one after the other.  If the numbers of launches and
 * values differ, no value is used, and the kernels are counted.
 *
 * Hooks are called in the callbacks of the program's calls, on its threads.
 */
#ifndef INJECT_COUNTER_WINDOWS_H
#define INJECT_COUNTER_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include <cupti.h>

#include "inject/api_table.h"

#define GP_COUNTER_WINDOW_KERNELS 40u

/* In a thread's variables: it is in a launch, which counts in windows. */
struct gp_counter_launch {
	bool is_made;
	bool has_lock; /* of the window */
};

/*
 * Both only if gp_watch has GP_WATCH_COUNTERS; entry may be NULL; ticks: now.  Returns whether it
 * took so long that the call begins later.
 */
bool gp_counter_windows_enter(struct gp_counter_launch *launch, const struct gp_api_entry *entry,
			      const CUpti_CallbackData *data, uint64_t ticks);

/* has_kernel: the call succeeded and was not captured. */
void gp_counter_windows_exit(struct gp_counter_launch *launch, const struct gp_api_entry *entry,
			     const CUpti_CallbackData *data, bool has_kernel);

#endif
