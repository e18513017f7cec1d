#include <getopt.h>
#include <stdio.h>

#include "report/advice_print.h"
#include "report/command.h"

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

static int explain_all(int count, char **ids)
{
	for (int i = 0; i < count; i++) {
		const struct gp_rule *rule = gp_rule_find(ids[i]);

		if (!rule)
			return gp_command_fail(GP_EXIT_USAGE,
					       "explain: there is no rule %s; see gpuprof explain "
					       "--list",
					       ids[i]);
		if (i > 0)
			putchar('\n');
		gp_rule_explain(stdout, rule);
	}
	return 0;
}

int gp_command_explain(int argc, char **argv)
{
	static const struct option table[] = {
		{"list", no_argument, NULL, 'l'},
		{"markdown", no_argument, NULL, 'm'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};

	switch (getopt_long(argc, argv, "lh", table, NULL)) {
	case 'l':
		gp_rules_list(stdout);
		return 0;
	case 'm':
		gp_rules_document(stdout);
		return 0;
	case 'h':
		fputs(usage, stdout);
		return 0;
	case -1:
		if (optind < argc)
			return explain_all(argc - optind, argv + optind);
		return gp_command_fail(GP_EXIT_USAGE,
				       "explain: name a rule; see gpuprof explain --list");
	default:
		return GP_EXIT_USAGE; /* getopt has said why */
	}
}
