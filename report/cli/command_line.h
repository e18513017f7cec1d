/*
 * command_line: reads the options of a command of `gpuprof` by a table that says where each value
 * goes:
 *
 * 	const struct gp_command_option options[] = {
 * 		{"top", 'n', .number = &a->limit, .most = GP_COMMAND_MOST},
 * 		{"output", 'o', .text = &a->output},
 * 		{0},
 * 	};
 * 	const struct gp_command_line line = {
 * 		.command = "advice", .usage = usage, .options = options, .arguments = a};
 * 	int status = gp_command_line_read(&line, argc, argv);
 * 
 * 	if (status != GP_COMMAND_GO_ON)
 * 		return status;
 *
 * Every command has --help and -h. An error is one line, with the nearest valid word.
 */
#ifndef REPORT_CLI_COMMAND_LINE_H
#define REPORT_CLI_COMMAND_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct gp_command_line;
struct gp_table_format;

/* A row has one of the pointers. All but flag and print take a value. */
struct gp_command_option {
	const char *name; /* without "--" */
	char letter;      /* '\0' = none */
	bool *flag;       /* set to true */
	const char **text;
	const struct gp_table_format **format;
	uint64_t *time_ns;
	uint64_t *number; /* from 0 ... */
	uint64_t most;    /* ... to this */
	/* returns GP_COMMAND_GO_ON; or an exit status after an error message */
	int (*take)(const struct gp_command_line *line, const char *text);
	void (*print)(void); /* prints, and the command ends */
};

struct gp_command_line {
	const char *command;
	const char *usage;                       /* text of --help, unless a row has that name */
	const struct gp_command_option *options; /* the last row has no name */
	void *arguments;                         /* the command's own, for take() */
	bool stops_at_words; /* the words after the first one belong to another program */
};

/*
 * Reads the options; later ones win. Returns GP_COMMAND_GO_ON, with the other words in argv from
 * optind on, or an exit status.
 */
int gp_command_line_read(const struct gp_command_line *line, int argc, char **argv);

#endif
