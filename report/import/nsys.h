/*
 * nsys: loads a file of `nsys export --type=sqlite` into a model; of several processes, the one
 * with the most GPU work.
 */
#ifndef REPORT_IMPORT_NSYS_H
#define REPORT_IMPORT_NSYS_H

#include "report/model/build/build.h"

/* Loads a file, as the load() of a gp_importer (import.h). */
int gp_nsys_load(const char *path, struct gp_model_builder *b, char *message, size_t message_bytes);

#endif
