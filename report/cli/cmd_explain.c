#include <getopt.h>
#include <stdio.h>

#include "report/advice/advice_print.h"
#include "report/analysis/idle/idle_explain.h"
#include "report/cli/commands.h"
#include "report/load/command.h"
#include "report/cli/command_line.h"
#include "report/base/text/did_you_mean.h"

static const char usage[] =
	"usage: gpuprof explain RULE|CAUSE...\n"
	"       gpuprof explain --list|--causes\n"
	"\n"
	"Explain a rule of `gpuprof advice`: what it means, what helps, and when to ignore it; or\n"
	"explain a cause of idle time of the summary.\n"
	"\n"
	"  -l, --list      list all rules\n"
	"      --causes    list all causes of idle time\n"
	"      --markdown  print all rules, as in docs/reference/advice.md\n"
	"  -h, --help      print this text\n"
	"\n"
	"Exit status: 0, or 2 if there is no such rule or cause.\n";

static int refuse(const char *id)
{
	struct gp_did_you_mean nearest = {.word = id};

	for (size_t i = 0; gp_rules[i]; i++)
		gp_did_you_mean_try(&nearest, gp_rules[i]->id);
	for (enum gp_idle_cause i = 0; i < GP_IDLE_CAUSES; i++)
		gp_did_you_mean_try(&nearest, gp_idle_cause_name(i));
	return gp_command_refuse("explain", "rule or cause", &nearest,
				 "see gpuprof explain --list, or --causes");
}

static int explain_all(int count, char **ids)
{
	for (int i = 0; i < count; i++) {
		const struct gp_rule *rule = gp_rule_find(ids[i]);
		enum gp_idle_cause cause = gp_idle_cause_find(ids[i]);

		if (!rule && cause == GP_IDLE_CAUSES)
			return refuse(ids[i]);
		if (i > 0)
			putchar('\n');
		if (rule)
			gp_rule_explain(stdout, rule);
		else
			gp_idle_cause_explain(stdout, cause);
	}
	return 0;
}

static void list(void)
{
	gp_rules_list(stdout);
}

static void list_causes(void)
{
	gp_idle_causes_list(stdout);
}

static void document(void)
{
	gp_rules_document(stdout);
}

int gp_command_explain(int argc, char **argv)
{
	const struct gp_command_option options[] = {
		{"list", 'l', .print = list},
		{"causes", .print = list_causes},
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
	return gp_command_fail(
		GP_EXIT_USAGE,
		"explain: name a rule or a cause; see gpuprof explain --list, or --causes");
}
