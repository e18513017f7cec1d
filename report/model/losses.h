/* missing: what a trace lacks, in words, for exports whose readers have no other way to know. */
#ifndef REPORT_MODEL_LOSSES_H
#define REPORT_MODEL_LOSSES_H

#include <stdint.h>

#include "report/model/model.h"

/* Call take for each thing of which something is missing: what it is, and how much of it. */
void gp_missing_each(const struct gp_model *model,
		     void (*take)(void *context, const char *what, uint64_t count), void *context);

/*
 * The same of what a part of a trace cannot know, whether anything is missing or not: for formats
 * whose readers look at what it is, not at whether there is any.
 */
void gp_missing_of_part(const struct gp_model *model,
			void (*take)(void *context, const char *what, uint64_t count),
			void *context);

#endif
