/*
 * process_info: the facts that the collector determines about its process, as GP_INFO strings
 * (gpuprof/record.h).
 */
#ifndef COLLECTOR_PROCESS_INFO_H
#define COLLECTOR_PROCESS_INFO_H

#include <stddef.h>

#include "collector/drain.h"

/*
 * Name of the program: the base name of its file; for an interpreter, the base name of the script
 * (without ".py") or module that it runs, or the interpreter's name for `-c CODE`.  A worker of
 * Python's multiprocessing has the name of the program that started it, if that still runs.  Any
 * thread, any time; no allocation.  NUL-terminated.  Returns its length.
 */
int gp_process_info_program(char *out, size_t out_bytes);

/* As gp_process_info_program(), for a given program file and NUL-separated command line. */
int gp_process_info_program_of(const char *file, const char *command, size_t command_bytes,
			       char *out, size_t out_bytes);

/*
 * Add all facts to the own chunk, the command line only if `with_command`; ring_file "" = rings in
 * private memory; `fell_back` adds a note about that; session as in gp_collector_config.
 */
void gp_process_info_emit(struct gp_drain *drain, bool with_command, const char *ring_file,
			  bool fell_back, const char *session);

#endif
