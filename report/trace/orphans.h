/*
 * orphans: ring files of killed processes whose traces were never finished. Their records are moved
 * into the traces (gpuprof/trace.h, "Saving"), and the files are removed.
 *
 * Done once a run, when its traces are finished, for all ring files of this user.
 */
#ifndef REPORT_TRACE_ORPHANS_H
#define REPORT_TRACE_ORPHANS_H

/*
 * Saves and removes the orphans in /dev/shm and, unless `beside` is NULL, in the folder of the
 * trace `beside`. Files of running processes, of other users, and of traces that another process is
 * finishing stay. So do files that cannot be saved now or would take long; `gpuprof finish` saves
 * those. Prints nothing.
 */
void gp_orphans_save(const char *beside);

#endif
