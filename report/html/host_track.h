/*
 * host_track: the first row of the Python track of a thread in a page, from its stack samples
 * (report/analysis/host/python_samples.h).
 *
 * The row has the places of `gpuprof summary --by host`: an imported module, a compiler, or a
 * function of the user.  Times too far from any sample are unknown.  The rows below it are the spans
 * of the timeline: functions on the stack, callers above callees.
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
	struct gp_html_labels *labels; /* of that model; NULL: events have no labels */
	struct gp_call_tree *tree;     /* of that model; NULL: events have no stack */
};

/*
 * The events of the thread whose first sample is number first.  aux is the number of samples of an
 * event, stack that of its first sample.  Free *events by gp_spill_free() in either case.  Returns
 * 0, -ENOMEM or -EOVERFLOW.
 */
int gp_html_host_track(const struct gp_html_host_track *track, uint32_t first,
		       struct gp_html_event **events, uint32_t *count);

#endif
