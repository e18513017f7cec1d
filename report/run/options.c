#include "report/run/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/text/did_you_mean.h"

#define HELP_COLUMNS     100
#define HELP_TEXT_COLUMN 29

/*
 * Values of getopt_long() for options that are not in the table; table options have 256 + their
 * number.
 */
enum { TABLE_BASE = 256, OWN_HELP = 'h', OWN_VERSION = 'V' };

struct parser {
	struct option long_options[GP_OPTIONS + 3];
	char short_options[2 * GP_OPTIONS + 5];
};

static void build_parser(struct parser *parser)
{
	char *text = parser->short_options;

	memset(parser, 0, sizeof(*parser));
	*text++ = '+'; /* stop at the program's name */
	*text++ = ':'; /* tells a missing argument from an unknown option */
	for (int i = 0; i < GP_OPTIONS; i++) {
		const struct gp_option_row *row = &gp_option_rows[i];
		int argument = row->type == GP_OPTION_FLAG   ? no_argument
			       : gp_option_may_be_alone(row) ? optional_argument
							     : required_argument;

		parser->long_options[i] =
			(struct option){row->long_name, argument, NULL, TABLE_BASE + i};
		if (!row->short_name)
			continue;
		*text++ = row->short_name;
		if (argument == required_argument)
			*text++ = ':';
	}
	parser->long_options[GP_OPTIONS] = (struct option){"help", no_argument, NULL, OWN_HELP};
	parser->long_options[GP_OPTIONS + 1] =
		(struct option){"version", no_argument, NULL, OWN_VERSION};
	*text++ = OWN_HELP;
	*text++ = OWN_VERSION;
}

static int find_short(int letter)
{
	for (int i = 0; i < GP_OPTIONS; i++)
		if (gp_option_rows[i].short_name == letter)
			return i;
	return -1;
}

/* Writes the option's name as typed to word. Returns the nearest option, or NULL. */
static const char *nearest_option(const char *typed, char *word, size_t word_bytes)
{
	struct gp_did_you_mean nearest = {.word = word};

	snprintf(word, word_bytes, "%.*s", (int)strcspn(typed, "="), typed);
	for (int i = 0; i < GP_OPTIONS; i++)
		gp_did_you_mean_try(&nearest, gp_option_rows[i].long_name);
	return nearest.found;
}

static int refuse_option(int found, char **argv, char *message, size_t message_bytes)
{
	const char *typed = argv[optind - 1], *nearest;
	char word[64];

	if (optopt && optopt < TABLE_BASE)
		snprintf(message, message_bytes, "%s -%c%s; see gpuprof-run --help",
			 found == ':' ? "option" : "there is no option", optopt,
			 found == ':' ? " needs a value" : "");
	else if (optopt)
		snprintf(message, message_bytes, "option %s %s; see gpuprof-run --help", typed,
			 found == ':' ? "needs a value" : "takes no value");
	else if ((nearest = nearest_option(typed + 2, word, sizeof(word))) != NULL)
		snprintf(message, message_bytes, "there is no option --%s; did you mean --%s?",
			 word, nearest);
	else
		snprintf(message, message_bytes, "there is no option --%s; see gpuprof-run --help",
			 word);
	return -EINVAL;
}

/* An empty variable counts as unset. */
static const char *inherited_value(const struct gp_option_row *row)
{
	char variable[64];
	const char *value;

	snprintf(variable, sizeof(variable), GP_OPTION_PREFIX "%s", row->variable);
	value = getenv(variable);
	return value && *value ? value : row->value;
}

/* The first item of a list that is none of the row's words, or the value; kept in text. */
static const char *wrong_word(const struct gp_option_row *row, const char *value, char *text,
			      size_t text_bytes)
{
	char *item;

	snprintf(text, text_bytes, "%s", value);
	while (row->type == GP_OPTION_LIST && (item = strsep(&text, ",")) != NULL)
		if (!gp_option_among(row->argument, '|', item, strlen(item)))
			return item;
	return text;
}

/* Write " (did you mean json?)" if a word that the option takes is near. */
static void say_nearest(const struct gp_option_row *row, const char *value, char *text,
			size_t text_bytes)
{
	char typed[256], words[256], *next = words, *word;
	struct gp_did_you_mean nearest = {.word = wrong_word(row, value, typed, sizeof(typed))};

	text[0] = '\0';
	if (row->type != GP_OPTION_CHOICE && row->type != GP_OPTION_LIST)
		return;
	snprintf(words, sizeof(words), "%s", row->argument);
	while ((word = strsep(&next, "|")) != NULL)
		gp_did_you_mean_try(&nearest, word);
	if (nearest.found)
		snprintf(text, text_bytes, " (did you mean %s?)", nearest.found);
}

/* Uses the default for an invalid value. */
static int fill_in(struct gp_run_options *options, char *message, size_t message_bytes)
{
	size_t used = 0;

	for (int i = 0; i < GP_OPTIONS; i++) {
		const struct gp_option_row *row = &gp_option_rows[i];
		char right[512], nearest[64];

		if (!options->given[i])
			options->values[i] = inherited_value(row);
		if (!gp_option_is_wrong(row, options->values[i], right, sizeof(right)))
			continue;
		say_nearest(row, options->values[i], nearest, sizeof(nearest));
		if (used < message_bytes)
			used += (size_t)snprintf(message + used, message_bytes - used,
						 "%s--%s (" GP_OPTION_PREFIX
						 "%s) needs %s, not '%s'%s",
						 used > 0 ? "; " : "", row->long_name,
						 row->variable, right, options->values[i], nearest);
		options->values[i] = row->value;
	}
	return used > 0 ? -EINVAL : 0;
}

static int refuse_clash(const struct gp_run_options *options, char *message, size_t message_bytes)
{
	enum gp_option clash[2];

	if (!gp_option_collectors_clash(options->values, clash))
		return 0;
	snprintf(message, message_bytes, GP_OPTION_CLASH, gp_option_rows[clash[0]].long_name,
		 gp_option_rows[clash[1]].long_name);
	return -EINVAL;
}

static void take(struct gp_run_options *options, int option)
{
	const char *alone = gp_option_may_be_alone(&gp_option_rows[option]) ? "on" : "1";

	options->given[option] = true;
	options->values[option] = optarg ? optarg : alone;
}

int gp_run_options_parse(struct gp_run_options *options, int argc, char **argv, char *message,
			 size_t message_bytes)
{
	struct parser parser;
	int found;

	memset(options, 0, sizeof(*options));
	build_parser(&parser);
	opterr = 0;
	optind = 0; /* reset getopt, which others may have used */
	while ((found = getopt_long(argc, argv, parser.short_options, parser.long_options, NULL)) >=
	       0) {
		if (found == '?' || found == ':')
			return refuse_option(found, argv, message, message_bytes);
		if (found >= TABLE_BASE)
			take(options, found - TABLE_BASE);
		else if (found == OWN_HELP)
			options->action = GP_RUN_HELP;
		else if (found == OWN_VERSION)
			options->action = GP_RUN_VERSION;
		else
			take(options, find_short(found));
	}
	options->program = argv + optind;
	if (!*options->program && options->action == GP_RUN_PROGRAM) {
		snprintf(
			message, message_bytes,
			"no program given; type for example: gpuprof-run ./app, or gpuprof-run --help");
		return -EINVAL;
	}
	found = fill_in(options, message, message_bytes);
	return found == 0 ? refuse_clash(options, message, message_bytes) : found;
}

bool gp_run_options_flag(const struct gp_run_options *options, enum gp_option option)
{
	return strcmp(options->values[option], "0") != 0;
}

static bool is_option_variable(const char *name, size_t length)
{
	for (int i = 0; i < GP_OPTIONS; i++)
		if (strlen(gp_option_rows[i].variable) == length &&
		    !memcmp(gp_option_rows[i].variable, name, length))
			return true;
	return false;
}

const char *gp_run_options_unknown_variable(char *const *environment, size_t *position)
{
	const size_t prefix = strlen(GP_OPTION_PREFIX), session = strlen(GP_SESSION_VARIABLE);

	while (environment[*position]) {
		const char *entry = environment[(*position)++];
		size_t length = strcspn(entry, "=");

		if (strncmp(entry, GP_OPTION_PREFIX, prefix))
			continue;
		if (length == session && !memcmp(entry, GP_SESSION_VARIABLE, session))
			continue;
		if (!is_option_variable(entry + prefix, length - prefix))
			return entry;
	}
	return NULL;
}

const char *gp_run_options_nearest_variable(const char *entry)
{
	char name[64];
	struct gp_did_you_mean nearest = {.word = name};

	entry += strlen(GP_OPTION_PREFIX);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(entry, "="), entry);
	for (int i = 0; i < GP_OPTIONS; i++)
		gp_did_you_mean_try(&nearest, gp_option_rows[i].variable);
	return nearest.found;
}

/*
 * Prints words from column HELP_TEXT_COLUMN on, at least two spaces or a line break after the text
 * before. column: of the cursor.
 */
static void print_wrapped(FILE *out, int column, const char *text)
{
	if (column + 2 > HELP_TEXT_COLUMN) {
		fputc('\n', out);
		column = 0;
	}
	while (*text) {
		int word = (int)strcspn(text, " ");

		if (column + 1 + word > HELP_COLUMNS) {
			fputc('\n', out);
			column = 0;
		}
		if (column < HELP_TEXT_COLUMN)
			column += fprintf(out, "%*s", HELP_TEXT_COLUMN - column, "");
		else
			column += fprintf(out, " ");
		column += fprintf(out, "%.*s", word, text);
		text += word + strspn(text + word, " ");
	}
	fputc('\n', out);
}

static void print_option(FILE *out, char short_name, const char *long_name, const char *argument,
			 bool is_optional, const char *help)
{
	int column = short_name ? fprintf(out, "  -%c, ", short_name) : fprintf(out, "      ");

	column += fprintf(out,
			  is_optional ? "--%s[=%s]"
			  : argument  ? "--%s %s"
				      : "--%s%s",
			  long_name, argument ? argument : "");
	print_wrapped(out, column, help);
}

void gp_run_options_help(FILE *out)
{
	fputs("Usage: gpuprof-run [option...] [--] program [argument...]\n"
	      "\n"
	      "Run a program under the gpuprof CUDA profiler.  The program keeps its terminal, output, signals\n"
	      "and exit status.  At its end one summary of all its processes goes to stderr; every process\n"
	      "that used the GPU leaves a trace file and a Chrome trace; a rank of a job, only the trace file.\n"
	      "\n"
	      "Options ([NAME]: the environment variable GPUPROF_NAME, for use without gpuprof-run):\n",
	      out);
	for (int i = 0; i < GP_OPTIONS; i++) {
		const struct gp_option_row *row = &gp_option_rows[i];
		char help[1024];

		snprintf(help, sizeof(help), "%s%s%s%s [%s]", row->help,
			 row->argument && *row->value ? " (default " : "",
			 row->argument ? row->value : "", row->argument && *row->value ? ")" : "",
			 row->variable);
		print_option(out, row->short_name, row->long_name, row->argument,
			     gp_option_may_be_alone(row), help);
	}
	print_option(out, OWN_HELP, "help", NULL, false, "print this text");
	print_option(out, OWN_VERSION, "version", NULL, false, "print the version");
	fputs("\n"
	      "Examples:\n"
	      "  gpuprof-run ./app --size 4096\n"
	      "  gpuprof-run -o 'traces/%h/%r' python train.py\n"
	      "  gpuprof-run --summary report.txt --chrome none -- ./app\n"
	      "  LD_PRELOAD=build/libgpuprof.so GPUPROF_OUTPUT=/tmp/app ./app      (no launcher)\n"
	      "  gpuprof-run --runs 7 --check base.json -- ./app        (a gate for CI)\n"
	      "\n"
	      "Exit status: the program's; if a signal ended it, the same signal.  125: gpuprof-run failed;\n"
	      "126: the program cannot be run; 127: it was not found; with --check also 64, 80 and 81.\n",
	      out);
}
