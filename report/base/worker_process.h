/*
 * worker_process: a forked process that works with the loaded data and shares its pages. A crash of
 * either process does not end the other.
 */
#ifndef REPORT_BASE_WORKER_PROCESS_H
#define REPORT_BASE_WORKER_PROCESS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

struct gp_worker_process {
	pid_t process; /* 0 = not running */
	int from;      /* pipe with the worker's messages and result */
};

/* Messages for the user go to `messages`. Returns 0 or a negative errno value above -256. */
typedef int gp_worker_process_work(void *context, FILE *messages);

/*
 * Starts the worker, which ends with this process at the latest. Returns false if there can be no
 * more processes; nothing was done then.
 */
bool gp_worker_process_begin(struct gp_worker_process *worker, gp_worker_process_work *work,
			     void *context);

/*
 * Waits for the worker and passes on its messages. Returns the worker's result, or -ECANCELED if
 * the process ended early or its messages could not be passed on.
 */
int gp_worker_process_end(struct gp_worker_process *worker, FILE *messages);

/* The first of the files of an isolated child. */
#define GP_CHILD_FILE (STDERR_FILENO + 1)

/*
 * For a child that was forked elsewhere: it ends with its parent, prints nothing, and keeps only
 * two files open, as GP_CHILD_FILE and the one after it (second -1: only one).  With other files it
 * would hold their locks, and keep readers of pipes waiting.  Returns false on failure.
 */
bool gp_isolate_child(pid_t parent, int first, int second);

#endif
