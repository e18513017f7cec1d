/* kineto_records: line_changes Kineto's events into records of the model. */
#ifndef REPORT_IMPORT_KINETO_RECORDS_H
#define REPORT_IMPORT_KINETO_RECORDS_H

#include <stdbool.h>

#include "report/import/importing.h"
#include "report/import/kineto_event.h"

/* Categories of ranges: operators of PyTorch, and annotations of the program. */
enum { GP_KINETO_OPERATOR = 1, GP_KINETO_ANNOTATION = 2 };

/*
 * Sets *is_known if only a profiler of CUDA or PyTorch writes such events. Returns 0, -ENOMEM,
 * -EOVERFLOW, or -ENOTUNIQ for a call of a second process.
 */
int gp_kineto_take_event(struct gp_importing *im, const struct gp_kineto_event *event,
			 bool *is_known);

#endif
