/* output_name: expands the % parts in the file name of a summary. */
#ifndef REPORT_FINISH_OUTPUT_NAME_H
#define REPORT_FINISH_OUTPUT_NAME_H

#include "report/model/model.h"

/*
 * Expands a template like the library does for trace names: %p is the process id of the model, %n
 * its program or script, %h its host, %q{NAME} a variable of this process's environment, %% a
 * percent sign. Slashes in
 * values, and a dot at the beginning of one, become underscores. Unknown parts stay. Free it. Returns NULL if
 * there is no memory.
 */
char *gp_output_name(const char *template, const struct gp_model *model);

#endif
