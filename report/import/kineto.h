/*
 * kineto: Chrome traces as torch.profiler writes them (Kineto's JSON), put into a model.
 */
#ifndef REPORT_IMPORT_KINETO_H
#define REPORT_IMPORT_KINETO_H

#include "report/import/importing.h"
#include "report/import/pull.h"

/*
 * Take the trace that comes from pull.  Returns 0, also where it is cut, -ENODATA if there is nothing in it that torch.profiler writes,
 * -ENOMEM, -EOVERFLOW, or what reading failed with.
 */
int gp_kineto_take(struct gp_importing *im, struct gp_pull *pull);

/* Read a file; as a gp_importer's (import.h). */
int gp_kineto_load(const char *path, struct gp_load *load, char *message, size_t message_bytes);

#endif
