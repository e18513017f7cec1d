/*
 * frame_numbers: a number for each frame of each of several models, for whoever looks up the same
 * stacks again and again.
 */
#ifndef REPORT_SYMBOLS_FRAME_NUMBERS_H
#define REPORT_SYMBOLS_FRAME_NUMBERS_H

#include <stdint.h>

#include "report/model/model.h"

/* What is known of a model. */
struct gp_frame_numbers_of {
	const struct gp_model *model;
	uint32_t *numbers; /* by index in frames; GP_NONE at first */
	void *more;        /* the owner's, from malloc(); NULL at first */
};

struct gp_frame_numbers {
	struct gp_frame_numbers_of *models;
	uint32_t count, capacity, last;
};

/*
 * Zeroed = empty.  Models that are asked for must outlive it.  Good until the next one is asked
 * for; NULL if there is no memory.
 */
struct gp_frame_numbers_of *gp_frame_numbers_of(struct gp_frame_numbers *numbers,
						const struct gp_model *model);
void gp_frame_numbers_free(struct gp_frame_numbers *numbers);

#endif
