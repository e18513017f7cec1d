/*
 * finish: at the end of a process under bare LD_PRELOAD, starts `gpuprof finish TRACE`, which
 * prints the summary and writes the Chrome trace.
 *
 * The child is nobody's business but ours: the program gets no SIGCHLD for it and cannot wait for
 * it.
 */
#ifndef INJECT_FINISH_H
#define INJECT_FINISH_H

#include <stdint.h>

/*
 * Run it and wait while it makes progress, at most timeout_ns between two signs of life.  Where it
 * cannot be run, or stalls, one line says how to run it later.  The caller holds signals (gp_sys_hold_signals()).  Never in a forked child that has no trace of its own.
 */
void gp_finish_command_run(const char *trace_path, uint64_t timeout_ns);

#endif
