/*
 * nsys: what `nsys export --type=sqlite` writes, put into a model: of several processes the one
 * with the most work of GPUs.
 */
#ifndef REPORT_IMPORT_NSYS_H
#define REPORT_IMPORT_NSYS_H

#include "report/model/build/build.h"

/* Read a file; as a gp_importer's (import.h). */
int gp_nsys_load(const char *path, struct gp_model_builder *b, char *message, size_t message_bytes);

#endif
