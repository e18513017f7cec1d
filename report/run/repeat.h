/*
 * repeat: runs a program several times, one after the other, each in a `gpuprof run` of its own.
 *
 * Each run leaves its traces in a folder: FOLDER/1, FOLDER/2, ...; the numbers continue after those
 * of earlier runs.
 */
#ifndef REPORT_RUN_REPEAT_H
#define REPORT_RUN_REPEAT_H

#include <stdbool.h>
#include <stddef.h>

#include "report/run/options.h"

#define GP_REPEAT_FOLDER "gpuprof-runs" /* without --output */

/* Zeroed = empty. */
struct gp_repeat {
	char **folders; /* of the runs so far */
	size_t count;
	int status; /* of the last run, as from waitpid() */
	/* a signal such as Ctrl-C ended the series */
	bool interrupted;
};

/* Whether the options ask for repeated runs (even one) or a comparison. */
bool gp_repeat_is_wanted(const struct gp_run_options *options);

/* Whether this process makes one run of a series. */
bool gp_repeat_is_running(void);

/*
 * Makes the runs. Stops after the first failed one; status says how it ended. Returns 0, or a
 * negative errno value with one line for the user in message. Call gp_repeat_free() in both cases.
 */
int gp_repeat_run(struct gp_repeat *repeat, const struct gp_run_options *options, char *message,
		  size_t message_bytes);
void gp_repeat_free(struct gp_repeat *repeat);

#endif
