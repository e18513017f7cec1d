/*
 * frame_numbers: a number for each frame of several models, as a cache for lookups of the same
 * stacks.
 */
#ifndef REPORT_SYMBOLS_FRAME_NUMBERS_H
#define REPORT_SYMBOLS_FRAME_NUMBERS_H

#include <stdint.h>

#include "report/model/model.h"

/* The numbers of one model. */
struct gp_frame_numbers_of {
	const struct gp_model *model;
	uint32_t *numbers; /* by index in frames; GP_NONE at first */
	void *more;        /* for the owner, from malloc(); NULL at first */
};

struct gp_frame_numbers {
	struct gp_frame_numbers_of *models;
	uint32_t count, capacity, last;
};

/*
 * The numbers of a model. Zeroed = empty. The models must outlive it. The result is valid until the
 * next model is added.
 */
struct gp_frame_numbers_of *gp_frame_numbers_of(struct gp_frame_numbers *numbers,
						const struct gp_model *model);
void gp_frame_numbers_free(struct gp_frame_numbers *numbers);

#endif
