/* kernels_apart: names of all kernels of models, none of which stands for two. */
#ifndef REPORT_SYMBOLS_UNIQUE_NAMES_H
#define REPORT_SYMBOLS_UNIQUE_NAMES_H

#include "report/model/model.h"
#include "report/symbols/names.h"

/* gp_names_tell_apart() of these.  Returns 0 or -ENOMEM. */
int gp_kernels_tell_apart(struct gp_names *names, const struct gp_model *const *models,
			  size_t model_count);

#endif
