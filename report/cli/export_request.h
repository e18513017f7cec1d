/*
 * export_request: what the commands that write other formats (export, merge) are asked for on their
 * command lines.
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

/* What is meant where no option says anything else. */
#define GP_EXPORT_REQUEST                                                                          \
	{                                                                                          \
		.exporter = &gp_exporter_chrome, .options = {                                      \
			.messages = stderr,                                                        \
			.measure = GP_STACK_METRICS                                                \
		}                                                                                  \
	}

/* For --format and --value of a command whose arguments are a request. */
int gp_export_request_take_format(const struct gp_command_line *line, const char *name);
int gp_export_request_take_value(const struct gp_command_line *line, const char *word);

/*
 * That the format heeds all options: GP_COMMAND_GO_ON; else an exit status, and a line says which
 * one it does not.
 */
int gp_export_request_check(const struct gp_command_line *line);

/*
 * That output (NULL = not given) does not end as the names of traces do: no format is one.  What is
 * a trace already is left to gp_output_file_open().  Returns as above.
 */
int gp_export_request_check_name(const struct gp_command_line *line, const char *output);

#endif
