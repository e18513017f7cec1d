/*
 * phase_places: the place in the user's code where most of a phase's host time is, or most of the
 * time of another group of stacks, such as an operator's launches.
 *
 * From the outermost function inwards, the one with half of the group's time or more is followed,
 * and so is its line.  The place is the last function of the user's on this way, with its line if
 * one has half.  If that line has nearly all, the first public function of a library that it calls
 * and that has half says more: "clip_grad_norm_ < clip (train.py:49)".
 */
#ifndef REPORT_ANALYSIS_LOOP_PHASE_PLACES_H
#define REPORT_ANALYSIS_LOOP_PHASE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model/model.h"

/* Nearly all. */
#define GP_PHASE_PLACE_PERCENT 90u

struct gp_phase_places;

/* NULL if there is no memory.  The model must outlive it. */
struct gp_phase_places *gp_phase_places_new(const struct gp_model *model);
void gp_phase_places_free(struct gp_phase_places *places);

/* A group, such as an enum gp_phase_kind, has so much time at a stack or GP_NONE. */
void gp_phase_places_add(struct gp_phase_places *places, uint32_t stack, uint32_t group,
			 uint64_t ns);

/*
 * "" if no function of the user's has half; free it.  with_caller: "launch (gpu.py:66) < forward
 * (train.py:17)", if the user's code calls the place.  NULL: there was no memory.
 */
char *gp_phase_places_most(struct gp_phase_places *places, uint32_t group, bool with_caller);

#endif
