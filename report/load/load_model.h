/* load_model: a model of a trace file of gpuprof's or of another profiler. */
#ifndef REPORT_LOAD_LOAD_MODEL_H
#define REPORT_LOAD_LOAD_MODEL_H

#include "report/model/load_options.h"
#include "report/model/model.h"

/*
 * Loads a trace file, with the records in its ring file if the process did not end in order. On
 * success gp_model_free() frees *model. Returns 0, or a negative errno value with one line for the
 * user in message (the failure, its cause, the next step). A damaged or partial trace is no error
 * as long as one chunk is valid: losses tell. -EPROTONOSUPPORT: written by a newer version;
 * -ENOMEM: it needs more memory than is left, to which the process is limited from here on
 * (report/base/memory_limit.h).
 */
int gp_model_load(const char *path, struct gp_model **model, char *message, size_t message_bytes);

/* The same with options. */
int gp_model_load_with(const char *path, const struct gp_load_options *options,
		       struct gp_model **model, char *message, size_t message_bytes);

#endif
