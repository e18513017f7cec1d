/* stack_export: exports of call stacks: speedscope, pprof and folded stacks. */
#ifndef REPORT_EXPORT_STACK_EXPORT_H
#define REPORT_EXPORT_STACK_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "report/analysis/host/stack_profile.h"
#include "report/export/export.h"

/*
 * Gather the call stacks of all processes, call write() with them, and print the messages of
 * gp_stack_profile_explain().  chosen: the chosen measure, or GP_STACK_METRICS.  Returns the result
 * of write(), -ENODATA (no process) or an error of gp_stack_profile_add().
 */
int gp_stack_export(const struct gp_export_source *source, const struct gp_export_options *options,
		    bool with_lines,
		    int (*write)(const struct gp_export_source *source,
				 struct gp_stack_profile *profile, enum gp_stack_metric chosen,
				 FILE *out),
		    FILE *out);

#endif
