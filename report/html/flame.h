/*
 * flame: call stacks and what they cost, as columns of a page.
 */
#ifndef REPORT_HTML_FLAME_H
#define REPORT_HTML_FLAME_H

#include <stdio.h>

#include "report/stack_profile.h"

/* A row for each node: 1 + its parent, its site, the measures in their order; and a text of the sites.  Returns 0 or -ENOMEM. */
int gp_html_flame(const struct gp_stack_profile *profile, FILE *out);

#endif
