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

/* A line on stderr: "gpuprof: the advice is about 8 of 10,240 ranks, ..." */
void gp_large_job_explain(const struct gp_job *job, const char *what);

#endif
