/*
 * about: what the summary says, as JSON for a page.
 */
#ifndef REPORT_HTML_ABOUT_H
#define REPORT_HTML_ABOUT_H

#include <stddef.h>

#include "report/analysis/device/kernel_kinds.h"
#include "report/codec/json_write.h"
#include "report/model/model.h"
#include "report/symbols/names.h"

/* One object.  Returns 0 or -ENOMEM. */
int gp_html_about(struct gp_model *const *models, size_t model_count, const struct gp_kinds *kinds,
		  struct gp_names *names, struct gp_json *json);

#endif
