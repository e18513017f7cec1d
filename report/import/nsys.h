/*
 * nsys: loads a process of a file of `nsys export --type=sqlite` into a model. Processes are
 * numbered by their GPU work, the busiest first; those without CUDA count only if none has any.
 */
#ifndef REPORT_IMPORT_NSYS_H
#define REPORT_IMPORT_NSYS_H

#include "report/model/build/build.h"

/* Loads a file, as the load() of a gp_importer (import.h). */
int gp_nsys_load(const char *path, struct gp_model_builder *b, char *message, size_t message_bytes);

/* 0: the file cannot be read, or has none. */
uint32_t gp_nsys_count_processes(const char *path);

#endif
