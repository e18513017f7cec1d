/*
 * concern: what a counter of a trace means to who reads its figures.
 */
#ifndef REPORT_MODEL_LOSS_KIND_H
#define REPORT_MODEL_LOSS_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "report/model/model.h"

enum gp_loss_kind {
	GP_LOSS_TELEMETRY, /* how recording went */
	GP_LOSS_STRAIN,    /* nothing is missing, but it was tight */
	GP_LOSS_LOSS,
	GP_LOSS_TEXT_LOSS, /* names and the like: every call and operation is there */
};

/* Of a counter, an enum gp_counter. */
enum gp_loss_kind gp_loss_kind_of(size_t counter);

/*
 * Whether a counter of that concern counted something; of what is kept: what --keep-last has not
 * kept is outside of that.
 */
bool gp_loss_kind_is_counted(const struct gp_model *model, enum gp_loss_kind concern);

/*
 * Whether calls or operations of what is kept are missing, as counters and unanswered launches
 * tell.
 */
bool gp_loss_kind_has_lost_operations(const struct gp_model *model);

#endif
