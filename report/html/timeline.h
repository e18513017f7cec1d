/*
 * timeline: all that has a beginning and an end, as columns of a page, and what the page needs to draw it.
 *
 * An event is a row of the columns named in report/html/timeline.c.  Events lie in tracks (a thread, a stream), tracks in rows in which no
 * two events overlap, sorted by their start, so that the page finds what is visible by bisection.
 */
#ifndef REPORT_HTML_TIMELINE_H
#define REPORT_HTML_TIMELINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/breakdown_scope.h"
#include "report/call_tree.h"
#include "report/html/labels.h"
#include "report/json_write.h"
#include "report/model.h"

/* Of a track more rows than this are not drawn. */
#define GP_HTML_ROWS 64u

struct gp_html_timeline {
	struct gp_scope *scope;    /* its models and devices */
	struct gp_call_tree *tree; /* in which all stacks have been looked up */
	uint64_t event_limit;      /* the longest ones are written; 0 = all */

	/* what was written */
	struct gp_html_labels labels;
	uint64_t origin_unix_ns; /* times count from it: nothing is earlier */
	uint64_t events, shorter,
		too_deep;              /* written; left out for their length, or for their row */
	uint64_t shortest_ns;          /* of those written, where some were left out */
	struct gp_json tracks, shapes; /* JSON texts, to be closed by gp_html_timeline_free() */
	uint32_t sums[6];              /* over each column, for tests of the page */
};

/* Write the elements of events.  Returns 0, -ENOMEM or -EOVERFLOW; gp_html_timeline_free() in either case. */
int gp_html_timeline_write(struct gp_html_timeline *timeline, FILE *out);
void gp_html_timeline_free(struct gp_html_timeline *timeline);

#endif
