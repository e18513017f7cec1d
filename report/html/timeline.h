/*
 * timeline: all that has a beginning and an end, as columns of a page, and what the page needs to
 * draw it.
 *
 * An event is a row of the columns named in report/html/timeline.c.  Events lie in tracks (a
 * thread, a stream), tracks in rows in which no two events overlap, sorted by their start, so that
 * the page finds what is visible by bisection.
 */
#ifndef REPORT_HTML_TIMELINE_H
#define REPORT_HTML_TIMELINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/html/tracks.h"
#include "report/codec/json_write.h"

struct gp_html_timeline {
	struct gp_html_tracks walk; /* its scope, tree and limit are to be set before */

	/* what was written */
	uint64_t events, end_ns;       /* the last end of all, from the origin on */
	struct gp_json tracks, shapes; /* JSON texts, to be closed by gp_html_timeline_free() */
	uint32_t sums[6];              /* over each column, for tests of the page */
};

/*
 * Write the elements of events.  Returns 0, -ENOMEM or -EOVERFLOW; gp_html_timeline_free() in
 * either case.
 */
int gp_html_timeline_write(struct gp_html_timeline *timeline, FILE *out);
void gp_html_timeline_free(struct gp_html_timeline *timeline);

#endif
