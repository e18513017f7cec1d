/* kineto_take: what an event of Kineto's says, put into the model. */
#ifndef REPORT_IMPORT_KINETO_RECORDS_H
#define REPORT_IMPORT_KINETO_RECORDS_H

#include <stdbool.h>

#include "report/import/importing.h"
#include "report/import/kineto_event.h"

/* The categories of the ranges: what PyTorch ran, and what the program calls its parts. */
enum { GP_KINETO_OPERATOR = 1, GP_KINETO_ANNOTATION = 2 };

/*
 * Sets *is_known if it is one that a profiler of CUDA or PyTorch writes.  Returns 0, -ENOMEM or
 * -EOVERFLOW, or -ENOTUNIQ: it is a call of a second process.
 */
int gp_kineto_take_event(struct gp_importing *im, const struct gp_kineto_event *event,
			 bool *is_known);

#endif
