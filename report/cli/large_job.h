/*
 * large_job: a job of so many or so large traces that its ranks are compared one after the other,
 * and only some are loaded.
 */
#ifndef REPORT_CLI_LARGE_JOB_H
#define REPORT_CLI_LARGE_JOB_H

#include "report/load/traces.h"
#include "report/tables/by/job.h"

/*
 * Compares the ranks, and loads those that it chooses, with aligned clocks.  Returns 0; -ENODATA:
 * the traces are few and small, or of no job, or one is too large to be loaded beside others;
 * -ENOMEM.  Call gp_job_free() and gp_traces_free() in any case.
 */
int gp_large_job_load(struct gp_job *job, struct gp_traces *traces, char *const *paths,
		      size_t count);

/*
 * The same without loading any.  any_failed: a trace could not be read, which has a line on stderr.
 */
int gp_large_job_compare(struct gp_job *job, char *const *paths, size_t count, bool *any_failed);

/*
 * Loads the ranks once more, with aligned clocks, and hands one after the other to use(), until it
 * returns an error.  Returns that, 0 or -ENOMEM.
 */
int gp_large_job_each(const struct gp_job *job, int (*use)(void *context, struct gp_model *rank),
		      void *context);

/* A line on stderr: "gpuprof: the advice is about 8 of 10,240 ranks, ..." */
void gp_large_job_explain(const struct gp_job *job, const char *what);

#endif
