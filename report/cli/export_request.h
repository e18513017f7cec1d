/*
 * export_request: the options of the commands that write other formats (export, merge).
 */
#ifndef REPORT_CLI_EXPORT_REQUEST_H
#define REPORT_CLI_EXPORT_REQUEST_H

#include <stdio.h>

#include "report/load/command.h"
#include "report/cli/command_line.h"
#include "report/export/export.h"

struct gp_export_request {
	const struct gp_exporter *exporter;
	struct gp_export_options options;
};

/* The defaults. */
#define GP_EXPORT_REQUEST                                                                          \
	{                                                                                          \
		.exporter = &gp_exporter_chrome, .options = {                                      \
			.messages = stderr,                                                        \
			.measure = GP_STACK_METRICS                                                \
		}                                                                                  \
	}

/* Take --format and --value for a command whose arguments are a gp_export_request. */
int gp_export_request_take_format(const struct gp_command_line *line, const char *name);
int gp_export_request_take_value(const struct gp_command_line *line, const char *word);

/*
 * Checks that the format supports all given options. Returns GP_COMMAND_GO_ON, or an exit status
 * after an error message.
 */
int gp_export_request_check(const struct gp_command_line *line);

/*
 * Checks that output (NULL = not given) does not end like the name of a trace.
 * gp_output_file_open() refuses existing traces. Returns as gp_export_request_check().
 */
int gp_export_request_check_name(const struct gp_command_line *line, const char *output);

#endif
