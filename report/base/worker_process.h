/*
 * apart: work in a process of its own, beside ours, which has all that we have loaded and shares
 * the pages of it.
 *
 * Where it ends by a fault, we do not; and the other way round.
 */
#ifndef REPORT_BASE_WORKER_PROCESS_H
#define REPORT_BASE_WORKER_PROCESS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct gp_worker {
	pid_t process; /* 0 = none */
	int from;      /* where its messages come from, and its result */
};

/* Lines for the user go to messages. Returns 0 or a negative errno value above -256. */
typedef int gp_worker_work(void *context, FILE *messages);

/*
 * Begin.  The process ends with ours at the latest.  False: there can be no more processes; nothing
 * has been done.
 */
bool gp_worker_begin(struct gp_worker *apart, gp_worker_work *work, void *context);

/*
 * Wait for its end, and pass on its messages.  Returns the work's result, or -ECANCELED if the
 * process ended before the work did, or its messages could not be taken.
 */
int gp_worker_end(struct gp_worker *apart, FILE *messages);

#endif
