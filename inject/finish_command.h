/*
 * finish_command: at the end of a process under bare LD_PRELOAD, starts `gpuprof finish TRACE`,
 * which prints the summary and writes the Chrome trace.
 *
 * The child is invisible to the program: it sends no SIGCHLD, and the program cannot wait for it.
 */
#ifndef INJECT_FINISH_COMMAND_H
#define INJECT_FINISH_COMMAND_H

#include <stdint.h>

/*
 * Under gpuprof-run, for a process whose program files will be gone when gpuprof-run finishes the
 * trace: only adds the names of functions, and prints nothing.
 */
void gp_finish_command_keep_names(const char *trace_path, uint64_t timeout_ns);

/*
 * Run it and wait while it makes progress, at most timeout_ns between two progress bytes.  If it
 * cannot run, or stalls, a logged line says how to run it later.  The caller holds signals
 * (gp_sys_hold_signals()).  Never in a forked child without its own trace.
 */
void gp_finish_command_run(const char *trace_path, uint64_t timeout_ns);

#endif
