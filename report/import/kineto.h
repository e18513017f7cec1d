/*
 * kineto: Chrome traces as torch.profiler writes them (Kineto's JSON), put into a model.
 */
#ifndef REPORT_IMPORT_KINETO_H
#define REPORT_IMPORT_KINETO_H

#include <stddef.h>

struct gp_model_builder;

/* Read a file; as a gp_importer's (import.h). */
int gp_kineto_load(const char *path, struct gp_model_builder *b, char *message,
		   size_t message_bytes);

#endif
