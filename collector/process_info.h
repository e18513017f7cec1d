/* facts: what the collector knows about its process by itself, as GP_INFO strings
 * (gpuprof/record.h). */
#ifndef COLLECTOR_FACTS_H
#define COLLECTOR_FACTS_H

#include <stddef.h>

#include "collector/drain.h"

/*
 * Name of the program: the base name of its file, or of an interpreter the base name of the script
 * (without ".py") or the module that it runs; of `-c CODE` the interpreter's.  A worker of Python's
 * multiprocessing is called as what started it, if that still runs.  Any thread, any time; no allocation.  NUL-terminated.  Returns its length.
 */
int gp_process_info_program(char *out, size_t out_bytes);

/* As gp_process_info_program(), for a given program file and NUL-separated command line. */
int gp_process_info_program_of(const char *file, const char *command, size_t command_bytes,
			       char *out, size_t out_bytes);

/* Add all facts to the own chunk; ring_file "" = rings in private memory, which a note explains
 * where `fell_back`. */
void gp_process_info_emit(struct gp_drain *drain, const char *ring_file, bool fell_back);

#endif
