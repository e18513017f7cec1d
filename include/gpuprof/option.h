/* option: the numbers, names and help of the options in gpuprof/option.def. */
#ifndef GPUPROF_OPTION_H
#define GPUPROF_OPTION_H

#include <stdbool.h>
#include <string.h>

enum gp_option_type { GP_OPTION_TEXT, GP_OPTION_NUMBER, GP_OPTION_FLAG, GP_OPTION_CHOICE };

enum gp_option {
#define GP_OPTION(NAME, long_name, short_name, TYPE, value, argument, help) GP_OPTION_ID_##NAME,
#include "gpuprof/option.def"
#undef GP_OPTION
	GP_OPTIONS
};

struct gp_option_row {
	const char *variable; /* without GPUPROF_ */
	const char *long_name;
	char short_name; /* 0 = none */
	enum gp_option_type type;
	const char *value; /* the default */
	const char *argument;
	const char *help;
};

static const struct gp_option_row gp_option_rows[] = {
#define GP_OPTION(NAME, long_name, short_name, TYPE, value, argument, help)                        \
	{#NAME, long_name, short_name, GP_OPTION_##TYPE, value, argument, help},
#include "gpuprof/option.def"
#undef GP_OPTION
};

/* Whether a value is one of the words of an option of type CHOICE. */
static inline bool gp_option_has_choice(const struct gp_option_row *row, const char *value)
{
	size_t length = strlen(value);

	for (const char *word = row->argument; word != NULL; word = strchr(word, '|')) {
		word += *word == '|';
		if (strncmp(word, value, length) == 0 &&
		    (word[length] == '|' || word[length] == '\0'))
			return length > 0;
	}
	return false;
}

#define GP_OPTION_PREFIX "GPUPROF_"

/*
 * Set by gpuprof-run for its children, besides the options: a folder in which each process that opens a trace
 * makes a symbolic link named PID-STARTTIME to the trace's absolute path; zeros before STARTTIME tell programs apart
 * that one process became by exec.  Where it is set and is a folder, the library leaves
 * the summary and the Chrome trace to gpuprof-run.
 */
#define GP_SESSION_VARIABLE "GPUPROF_SESSION"

#endif
