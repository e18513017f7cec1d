/*
 * run_traces: the traces of a run. Most processes announce theirs in the session. The others are
 * found beside the outputs (report/trace/session_search.h).
 */
#ifndef REPORT_RUN_RUN_TRACES_H
#define REPORT_RUN_RUN_TRACES_H

#include <stddef.h>
#include <time.h>

#include "report/finish/session.h"

/* Zeroed = none. */
struct gp_run_traces {
	char **paths; /* to be finished by the launcher */
	size_t count;
	/* number of traces that were not announced; paths has those that were not closed */
	size_t found;
};

/*
 * pattern: of glob(3), for traces of the run, which started at that time. Returns 0 or -errno; call
 * gp_run_traces_free() in both cases.
 */
int gp_run_traces_find(struct gp_run_traces *traces, const struct gp_session *session,
		       const char *pattern, time_t started);
void gp_run_traces_free(struct gp_run_traces *traces);

#endif
