/* flame: call stacks and their costs, as columns of a page. */
#ifndef REPORT_HTML_FLAME_H
#define REPORT_HTML_FLAME_H

#include <stdio.h>

#include "report/analysis/host/stack_profile.h"

/*
 * Write an element of the kind `stacks` with a row for each node (1 + its parent, its site, all
 * measures in order), and one of the kind `sites`, a text.  Returns 0 or -ENOMEM.
 */
int gp_html_flame(const struct gp_stack_profile *profile, const char *stacks, const char *sites,
		  FILE *out);

#endif
