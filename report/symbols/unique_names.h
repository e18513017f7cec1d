/* unique_names: makes the kernel names of all models differ. */
#ifndef REPORT_SYMBOLS_UNIQUE_NAMES_H
#define REPORT_SYMBOLS_UNIQUE_NAMES_H

#include "report/model/model.h"
#include "report/symbols/names.h"

/* Calls gp_names_tell_apart() for the kernels of all models. Returns 0 or -ENOMEM. */
int gp_kernels_tell_apart(struct gp_names *names, const struct gp_model *const *models,
			  size_t model_count);

#endif
