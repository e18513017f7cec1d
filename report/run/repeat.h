/*
 * repeat: a program under the profiler several times, one run after the other, each by a `gpuprof
 * run` of its own.
 *
 * Each run leaves its traces in a folder: FOLDER/1, FOLDER/2, ...; where there are some already,
 * the numbers go on.
 */
#ifndef REPORT_RUN_REPEAT_H
#define REPORT_RUN_REPEAT_H

#include <stdbool.h>
#include <stddef.h>

#include "report/run/options.h"

#define GP_REPEAT_FOLDER "gpuprof-runs" /* where --output names none */

/* Zeroed = empty. */
struct gp_repeat {
	char **folders; /* of the runs that were made */
	size_t count;
	int status; /* how the last one ended, as waitpid() has it */
	/* somebody wanted an end, by Ctrl-C or otherwise: no further run was made */
	bool interrupted;
};

/* Whether the options ask for a number of runs, one even, or for a comparison. */
bool gp_repeat_is_wanted(const struct gp_run_options *options);

/* Whether this process is to make one run of several. */
bool gp_repeat_is_running(void);

/*
 * Make the runs; the first one that fails is the last: status says how it ended.  Returns 0 or a
 * negative errno value, with one line for the user in message; gp_repeat_free() in either case.
 */
int gp_repeat_run(struct gp_repeat *repeat, const struct gp_run_options *options, char *message,
		  size_t message_bytes);
void gp_repeat_free(struct gp_repeat *repeat);

#endif
