/*
 * host_track: what Python did in a thread, by the looks at it
 * (report/analysis/host/python_samples.h), as the events of a track of a page.
 *
 * The first row says what it did as `gpuprof summary --by host` does: a module that was imported, a
 * compiler, or a function of the user's; and where looks are so far apart that this is not known.
 * The rows below have the functions on the stack, callers above what they called.
 */
#ifndef REPORT_HTML_HOST_TRACK_H
#define REPORT_HTML_HOST_TRACK_H

#include <stdint.h>

#include "report/symbols/call_tree.h"
#include "report/analysis/host/python_samples.h"
#include "report/analysis/host/host_place.h"
#include "report/html/gather.h"
#include "report/html/labels.h"
#include "report/model/model.h"

struct gp_html_host_track {
	const struct gp_model *model;
	struct gp_host_places *places;
	struct gp_host_depth depth;    /* of that model */
	struct gp_html_labels *labels; /* of that model; NULL: events have none */
	struct gp_call_tree *tree;     /* of that model; NULL: events have no stack */
};

/*
 * The events of a thread, whose samples are [first, end), in any order; aux is how many looks they
 * stand for, stack the first one's.  *events is for gp_spill_free() in either case.  Returns 0,
 * -ENOMEM or -EOVERFLOW.
 */
int gp_html_host_track(const struct gp_html_host_track *track, uint32_t first, uint32_t end,
		       struct gp_html_event **events, uint32_t *count);

#endif
