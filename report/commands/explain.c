#include <getopt.h>
#include <stdio.h>

#include "report/advice_print.h"
#include "report/command.h"
#include "report/command_line.h"
#include "report/nearest.h"

static const char usage[] = "usage: gpuprof explain RULE...\n"
			    "       gpuprof explain --list\n"
			    "\n"
			    "Say what a rule of `gpuprof advice` means, what helps, and when to "
			    "ignore it.\n"
			    "\n"
			    "  -l, --list      all rules, one a line\n"
			    "      --markdown  all rules, as docs/advice.md has them\n"
			    "  -h, --help      this text\n"
			    "\n"
			    "Exit status: 0, or 2 where there is no such rule.\n";

static int refuse(const char *id)
{
	struct gp_nearest nearest = {.word = id};

	for (size_t i = 0; gp_rules[i]; i++)
		gp_nearest_try(&nearest, gp_rules[i]->id);
	return gp_command_refuse("explain", "rule", &nearest, "see gpuprof explain --list");
}

static int explain_all(int count, char **ids)
{
	for (int i = 0; i < count; i++) {
		const struct gp_rule *rule = gp_rule_find(ids[i]);

		if (!rule)
			return refuse(ids[i]);
		if (i > 0)
			putchar('\n');
		gp_rule_explain(stdout, rule);
	}
	return 0;
}

static void list(void)
{
	gp_rules_list(stdout);
}

static void document(void)
{
	gp_rules_document(stdout);
}

int gp_command_explain(int argc, char **argv)
{
	const struct gp_command_option options[] = {
		{"list", 'l', .print = list},
		{"markdown", .print = document},
		{0},
	};
	const struct gp_command_line line = {
		.command = "explain", .usage = usage, .options = options};
	int status = gp_command_line_read(&line, argc, argv);

	if (status != GP_COMMAND_GO_ON)
		return status;
	if (optind < argc)
		return explain_all(argc - optind, argv + optind);
	return gp_command_fail(GP_EXIT_USAGE, "explain: name a rule; see gpuprof explain --list");
}
