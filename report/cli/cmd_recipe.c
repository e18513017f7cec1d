#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gpuprof/count.h"
#include "report/cli/command_line.h"
#include "report/cli/commands.h"
#include "report/load/command.h"
#include "report/run/library.h"

#define MOST_ARGUMENTS 16

static const char usage[] =
	"usage: gpuprof recipe [options] NAME OUT\n"
	"       gpuprof recipe NAME        print what a recipe answers, and its columns\n"
	"       gpuprof recipe --list\n"
	"\n"
	"Query the traces of all ranks of a job with SQL.  OUT is a folder that this command wrote:\n"
	"\n"
	"  gpuprof export -F parquet -o OUT JOB\n"
	"\n"
	"NAME is a recipe of the list, or a file of yours whose name ends in .sql.  Recipes need DuckDB:\n"
	"type pip install duckdb, or set LIBDUCKDB to the path of libduckdb.so.\n"
	"\n"
	"      --list           list the recipes\n"
	"      --engine ENGINE  run in one process (duckdb, the default), or in Dask's workers on this\n"
	"                       machine (dask), which exchange rows through files in OUT\n"
	"      --scheduler FILE  run in the workers of a Dask cluster that has this scheduler file\n"
	"      --memory SIZE    memory of each process, before it continues on disk (default 1GB)\n"
	"  -F, --format FORMAT  text (default), csv or json\n"
	"  -h, --help           print this text\n"
	"\n"
	"  gpuprof recipe straggler OUT\n"
	"  gpuprof recipe --scheduler scheduler.json busbw OUT\n"
	"\n"
	"Exit status: 0, 1 if the recipe fails, 2 for a wrong command line.\n";

struct arguments {
	const char *engine, *scheduler, *memory, *format;
	bool list;
};

/* The words of the Python program, which prints errors of its own. */
struct words {
	const char *words[MOST_ARGUMENTS];
	size_t count;
};

static void add(struct words *words, const char *word)
{
	words->words[words->count++] = word;
}

static void add_option(struct words *words, const char *name, const char *value)
{
	if (!value)
		return;
	add(words, name);
	add(words, value);
}

static int run(const struct arguments *a, char **names, size_t count)
{
	static const char *const places[] = {"../share/gpuprof/recipes/recipe.py",
					     "../recipes/recipe.py"};
	char script[PATH_MAX];
	struct words words = {.count = 0};

	if (gp_library_beside(places, COUNT(places), script) != 0)
		return gp_command_fail(
			GP_EXIT_FAILED,
			"recipe: %s is missing beside this program, or is another user's; type: make install",
			places[0]);
	add(&words, "python3");
	add(&words, script);
	if (a->list)
		add(&words, "--list");
	add_option(&words, "--engine", a->engine);
	add_option(&words, "--scheduler", a->scheduler);
	add_option(&words, "--memory", a->memory);
	add_option(&words, "--format", a->format);
	add(&words, "--");
	for (size_t i = 0; i < count; i++)
		add(&words, names[i]);
	execvp(words.words[0], (char **)words.words);
	return gp_command_fail(GP_EXIT_FAILED, "recipe: cannot run python3: %s", strerror(errno));
}

int gp_command_recipe(int argc, char **argv)
{
	struct arguments a = {.list = false};
	const struct gp_command_option options[] = {
		{"list", .flag = &a.list},           {"engine", .text = &a.engine},
		{"scheduler", .text = &a.scheduler}, {"memory", .text = &a.memory},
		{"format", 'F', .text = &a.format},  {0},
	};
	const struct gp_command_line line = {
		.command = "recipe", .usage = usage, .options = options, .arguments = &a};
	int status = gp_command_line_read(&line, argc, argv);

	if (status != GP_COMMAND_GO_ON)
		return status;
	if (a.list ? argc != optind : argc - optind < 1 || argc - optind > 2)
		return gp_command_fail(
			GP_EXIT_USAGE,
			"recipe: name a recipe and a folder of tables, or type: gpuprof recipe --list");
	return run(&a, argv + optind, (size_t)(argc - optind));
}
