/*
 * kineto: loads Chrome traces of torch.profiler (Kineto's JSON) into a model.
 */
#ifndef REPORT_IMPORT_KINETO_H
#define REPORT_IMPORT_KINETO_H

#include <stddef.h>

struct gp_model_builder;

/* Loads a file, as the load() of a gp_importer (import.h). */
int gp_kineto_load(const char *path, struct gp_model_builder *b, char *message,
		   size_t message_bytes);

#endif
