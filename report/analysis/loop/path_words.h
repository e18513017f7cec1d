/* path_words: the names of the steps of a critical path. */
#ifndef REPORT_ANALYSIS_LOOP_PATH_WORDS_H
#define REPORT_ANALYSIS_LOOP_PATH_WORDS_H

#include <stdbool.h>

#include "report/analysis/idle/critical_path.h"
#include "report/symbols/names.h"

/* "GPU", "API", "host", or "launch": on the way between them. */
const char *gp_path_category(uint8_t kind);

/*
 * The name of the operation or call, or of the time between; in `room`, or as long as `names`
 * lives.
 */
const char *gp_path_words(char room[], const struct gp_model *model,
			  const struct gp_path_step *step, struct gp_names *names, bool full_names);
#define GP_PATH_WORDS_BYTES 256

#endif
