/*
 * command_line: the options of a command of `gpuprof`, by a table of where each one goes:
 *
 *	const struct gp_command_option options[] = {
 *		{"top", 'n', .number = &a->limit, .most = GP_COMMAND_MOST},
 *		{"output", 'o', .text = &a->output},
 *		{0},
 *	};
 *	const struct gp_command_line line = {
 *		.command = "advice", .usage = usage, .options = options, .arguments = a};
 *	int status = gp_command_line_read(&line, argc, argv);
 *
 *	if (status != GP_COMMAND_GO_ON)
 *		return status;
 *
 * --help and -h are of every command.  What is wrong is said in one line, with what may have been
 * meant.
 */
#ifndef REPORT_CLI_COMMAND_LINE_H
#define REPORT_CLI_COMMAND_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct gp_command_line;
struct gp_table_format;

/* A row has one of the pointers; where it is not flag or print, a word follows the option. */
struct gp_command_option {
	const char *name; /* without "--" */
	char letter;      /* '\0' = none */
	bool *flag;       /* becomes true */
	const char **text;
	const struct gp_table_format **format;
	uint64_t *time_ns;
	uint64_t *number; /* from 0 ... */
	uint64_t most;    /* ... to this */
	/* returns GP_COMMAND_GO_ON or, when it has said why, an exit status */
	int (*take)(const struct gp_command_line *line, const char *text);
	void (*print)(void); /* and that is all that the command is to do */
};

struct gp_command_line {
	const char *command;
	const char *usage; /* what --help prints, where no row says otherwise */
	const struct gp_command_option *options; /* up to one without a name */
	void *arguments;                         /* of the command, for take() */
	bool stops_at_words; /* what follows the first word is not this command's */
};

/*
 * Read the options; those that come later win.  GP_COMMAND_GO_ON: the other words are in argv from
 * optind on; else the exit status.
 */
int gp_command_line_read(const struct gp_command_line *line, int argc, char **argv);

#endif
