#include "report/cli/command_line.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "report/load/command.h"
#include "report/base/text/did_you_mean.h"
#include "report/document/table_writer.h"

#define MOST_OPTIONS 24
#define FIRST_NUMBER 256 /* first value of getopt_long() for a row */

static const struct gp_command_option help = {.name = "help", .letter = 'h'};

/* Tables for getopt_long(), which returns numbers of rows; the last row is help. */
struct tables {
	const struct gp_command_option *rows[MOST_OPTIONS];
	int count;
	struct option by_name[MOST_OPTIONS + 1];
	char by_letter[2 * MOST_OPTIONS + 3];
};

static bool has_word(const struct gp_command_option *option)
{
	return option != &help && !option->flag && !option->print;
}

static void add_row(struct tables *t, const struct gp_command_option *option)
{
	size_t letters = strlen(t->by_letter);

	assert(t->count < MOST_OPTIONS);
	t->by_name[t->count] =
		(struct option){option->name, has_word(option) ? required_argument : no_argument,
				NULL, FIRST_NUMBER + t->count};
	t->rows[t->count++] = option;
	if (option->letter)
		snprintf(t->by_letter + letters, sizeof(t->by_letter) - letters, "%c%s",
			 option->letter, has_word(option) ? ":" : "");
}

static void make_tables(const struct gp_command_line *line, struct tables *t)
{
	*t = (struct tables){0};
	/* '+' stops at words; ':' tells a missing value from an unknown option */
	strcpy(t->by_letter, line->stops_at_words ? "+:" : ":");
	for (const struct gp_command_option *at = line->options; at->name; at++)
		add_row(t, at);
	add_row(t, &help);
}

static const struct gp_command_option *find(const struct tables *t, int found)
{
	if (found >= FIRST_NUMBER)
		return t->rows[found - FIRST_NUMBER];
	for (int i = 0; i < t->count; i++)
		if (t->rows[i]->letter == found)
			return t->rows[i];
	return NULL;
}

/* ---- errors ---- */

static int refuse_name(const struct gp_command_line *line, const struct tables *t, const char *word)
{
	char name[64];
	struct gp_did_you_mean nearest = {.word = name};

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	for (int i = 0; i < t->count; i++)
		gp_did_you_mean_try(&nearest, t->rows[i]->name);
	if (nearest.found)
		return gp_command_fail(GP_EXIT_USAGE,
				       "%s: there is no option --%s; did you mean --%s?",
				       line->command, name, nearest.found);
	return gp_command_fail(GP_EXIT_USAGE, "%s: there is no option --%s; see gpuprof %s --help",
			       line->command, name, line->command);
}

/* getopt_long() names the option in optopt only if it is a letter or a known name. */
static int refuse(const struct gp_command_line *line, const struct tables *t, int found,
		  const char *word)
{
	const struct gp_command_option *option = optopt ? find(t, optopt) : NULL;

	if (found == ':' && option)
		return gp_command_fail(GP_EXIT_USAGE,
				       "%s: --%s needs a value; see gpuprof %s --help",
				       line->command, option->name, line->command);
	if (option)
		return gp_command_fail(GP_EXIT_USAGE, "%s: --%s takes no value", line->command,
				       option->name);
	if (optopt)
		return gp_command_fail(GP_EXIT_USAGE,
				       "%s: there is no option -%c; see gpuprof %s --help",
				       line->command, optopt, line->command);
	return refuse_name(line, t, word);
}

/* ---- values ---- */

static int take_format(const struct gp_command_line *line, const struct gp_command_option *option)
{
	struct gp_did_you_mean nearest = {.word = optarg};

	*option->format = gp_table_format_find(optarg);
	if (*option->format)
		return GP_COMMAND_GO_ON;
	gp_table_format_near(&nearest);
	return gp_command_refuse(line->command, "format", &nearest, "use " GP_TABLE_FORMATS);
}

static int print(const char *usage, void (*more)(void))
{
	if (more)
		more();
	else
		fputs(usage, stdout);
	return 0;
}

static int take(const struct gp_command_line *line, const struct gp_command_option *option)
{
	char name[64];

	snprintf(name, sizeof(name), "--%s", option->name);
	if (option == &help || option->print)
		return print(line->usage, option->print);
	if (option->format)
		return take_format(line, option);
	if (option->take)
		return option->take(line, optarg);
	if (option->number &&
	    !gp_command_number(line->command, name, optarg, option->most, option->number))
		return GP_EXIT_USAGE;
	if (option->time_ns && !gp_command_time(line->command, name, optarg, option->time_ns))
		return GP_EXIT_USAGE;
	if (option->text)
		*option->text = optarg;
	if (option->flag)
		*option->flag = true;
	return GP_COMMAND_GO_ON;
}

int gp_command_line_read(const struct gp_command_line *line, int argc, char **argv)
{
	struct tables tables;
	int status = GP_COMMAND_GO_ON;

	make_tables(line, &tables);
	optind = 0; /* reset getopt */
	opterr = 0;
	while (status == GP_COMMAND_GO_ON) {
		int found = getopt_long(argc, argv, tables.by_letter, tables.by_name, NULL);

		if (found == -1)
			break;
		if (found == '?' || found == ':')
			return refuse(line, &tables, found, argv[optind - 1]);
		status = take(line, find(&tables, found));
	}
	return status;
}
