/*
 * options: the command line of `gpuprof run`, from the table gpuprof/option.def.
 *
 * The command line precedes the environment (GPUPROF_<OPTION>), which precedes the default.
 */
#ifndef REPORT_RUN_OPTIONS_H
#define REPORT_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "gpuprof/option.h"

enum gp_run_action { GP_RUN_PROGRAM, GP_RUN_HELP, GP_RUN_VERSION };

struct gp_run_options {
	enum gp_run_action action;
	const char *values[GP_OPTIONS]; /* never NULL */
	bool given[GP_OPTIONS];         /* on the command line */
	char **program;                 /* name and arguments, NULL-terminated */
};

/*
 * Parses argv; argv[0] is the command's own name. Stops at the first word that is no option, or
 * after "--". Returns 0, or -EINVAL with one line for the user in message.
 */
int gp_run_options_parse(struct gp_run_options *options, int argc, char **argv, char *message,
			 size_t message_bytes);

bool gp_run_options_flag(const struct gp_run_options *options, enum gp_option option);

/*
 * Finds the next GPUPROF_ variable from *position on that is not an option, and moves *position
 * past it. Returns NAME=VALUE, or NULL.
 */
const char *gp_run_options_unknown_variable(char *const *environment, size_t *position);

/* The option, without the prefix, that is nearest to such an entry; NULL = none is near. */
const char *gp_run_options_nearest_variable(const char *entry);

void gp_run_options_help(FILE *out);

#endif
