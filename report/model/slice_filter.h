/*
 * slice_filter: the part of a trace in an export: a window of time, and slices that are long enough.
 *
 * Exporters ask it for every slice and moment that they write; nobody else decides.  What runs into
 * the window belongs to it as a whole.  Of parts that follow each other, each slice is in exactly
 * one: that in which it began.
 */
#ifndef REPORT_MODEL_SLICE_FILTER_H
#define REPORT_MODEL_SLICE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model/model.h"

/* What the user asked for.  Zeros = everything. */
struct gp_slice_choice {
	uint64_t from_ns,
		to_ns;     /* from the model's first call or timed operation on; to_ns 0 = no end */
	uint64_t least_ns; /* shorter slices are left out; moments are not slices */
	bool is_part;      /* only events that begin in the window */
};

/* The same on the timeline of a model. */
struct gp_slice_filter {
	uint64_t from_ns, to_ns; /* to_ns is not in it any more */
	uint64_t least_ns;
	uint64_t part_from_ns, part_to_ns; /* the starts of the part (gp_part) */
	bool is_part, is_open;             /* is_open: everything passes */
};

bool gp_slice_choice_is_all(const struct gp_slice_choice *choice);

struct gp_slice_filter gp_slice_filter_of(const struct gp_slice_choice *choice,
					  const struct gp_model *model);

/* Everything, or of a part (gp_part) the events that begin in it. */
struct gp_slice_filter gp_slice_filter_of_part(const struct gp_model *model);

static inline bool gp_slice_filter_has_moment(const struct gp_slice_filter *filter, uint64_t ns)
{
	return filter->is_open || (ns >= filter->from_ns && ns < filter->to_ns &&
				   ns >= filter->part_from_ns && ns < filter->part_to_ns);
}

static inline bool gp_slice_filter_has(const struct gp_slice_filter *filter, uint64_t start_ns,
				       uint64_t end_ns)
{
	uint64_t duration_ns = end_ns > start_ns ? end_ns - start_ns : 0;

	if (filter->is_open)
		return true;
	if (duration_ns < filter->least_ns || start_ns < filter->part_from_ns ||
	    start_ns >= filter->part_to_ns)
		return false;
	if (filter->is_part || duration_ns == 0)
		return gp_slice_filter_has_moment(filter, start_ns);
	return start_ns < filter->to_ns && end_ns > filter->from_ns;
}

/* In any part of the process. */
static inline bool gp_slice_filter_has_in_any(const struct gp_slice_filter *filter,
					      uint64_t start_ns, uint64_t end_ns)
{
	struct gp_slice_filter all = *filter;

	all.part_from_ns = 0;
	all.part_to_ns = UINT64_MAX;
	return gp_slice_filter_has(&all, start_ns, end_ns);
}

/*
 * Cut the chosen slices in parts of about the same number: starts gets the from_ns of each, count of
 * them.  The first is that of the choice, the others are later than 0.  Returns 0 or -ENOMEM.
 */
int gp_slice_choice_cut(const struct gp_slice_choice *choice, const struct gp_model *model,
			uint64_t *starts, uint32_t count);

#endif
