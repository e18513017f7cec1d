/*
 * orphans: ring files of processes that were killed and that nobody has finished: what they hold is
 * moved into their traces (gpuprof/trace.h, "Saving"), and they are removed.
 *
 * Done once a run, by whoever finishes its traces, for all ring files of this user.
 */
#ifndef REPORT_TRACE_ORPHANS_H
#define REPORT_TRACE_ORPHANS_H

/*
 * Save and remove the orphans in /dev/shm and, where it is not NULL, beside the trace `beside`.
 * Files of living processes, of other users and of traces that another process is finishing stay,
 * and so do those that cannot be saved now, or would take long: gpuprof finish saves these. Prints
 * nothing.
 */
void gp_orphans_save(const char *beside);

#endif
