/* output_name: the % parts of the name of a summary's file. */
#ifndef REPORT_FINISH_OUTPUT_NAME_H
#define REPORT_FINISH_OUTPUT_NAME_H

#include "report/model/model.h"

/*
 * Expand a template as the library does for the names of traces: %p is the process of this model,
 * %n its program or script, %h its host, %q{NAME} our own environment's value, %% a percent sign;
 * slashes within a value become underscores. All else stays as it is.  To be freed; NULL: no
 * memory.
 */
char *gp_output_name(const char *template, const struct gp_model *model);

#endif
