/* about: the summary as JSON for a page. */
#ifndef REPORT_HTML_ABOUT_H
#define REPORT_HTML_ABOUT_H

#include "report/codec/json_write.h"
#include "report/tables/breakdown_scope.h"

/* Write one object.  Returns 0 or -ENOMEM. */
int gp_html_about(struct gp_scope *scope, struct gp_json *json);

#endif
