/* stack_export: exports of call stacks: speedscope, pprof and folded stacks. */
#ifndef REPORT_EXPORT_STACK_EXPORT_H
#define REPORT_EXPORT_STACK_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "report/analysis/host/stack_profile.h"
#include "report/export/export.h"

/*
 * An exporter's work: have write() write what all processes of the export cost, and tell the user
 * what gp_stack_profile_explain() has to say.  chosen: the measure that was chosen,
 * GP_STACK_METRICS = none was.  Returns what write() does, -ENODATA (there is no process) or as
 * gp_stack_profile_add().
 */
int gp_stack_export(const struct gp_export_source *source, const struct gp_export_options *options,
		    bool with_lines,
		    int (*write)(const struct gp_export_source *source,
				 struct gp_stack_profile *profile, enum gp_stack_metric chosen,
				 FILE *out),
		    FILE *out);

#endif
