/*
 * timeline: all events with a start and an end, as columns of a page, and the data to draw them.
 *
 * An event is a row of the columns in report/html/timeline.c.  A track (a thread, a stream) has rows
 * of events, sorted by start and without overlaps, so that the page finds visible events by
 * bisection.
 */
#ifndef REPORT_HTML_TIMELINE_H
#define REPORT_HTML_TIMELINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/html/tracks.h"
#include "report/codec/json_write.h"

struct gp_html_timeline {
	struct gp_html_tracks walk; /* set its scope, tree and limit before */

	/* results */
	uint64_t events, end_ns;       /* end_ns: the last end, relative to the origin */
	struct gp_json tracks, shapes; /* JSON texts, closed by gp_html_timeline_free() */
	uint32_t sums[6];              /* checksums of the columns, for tests of the page */
};

/*
 * Write the elements of events.  Returns 0, -ENOMEM or -EOVERFLOW; call gp_html_timeline_free() in
 * either case.
 */
int gp_html_timeline_write(struct gp_html_timeline *timeline, FILE *out);
void gp_html_timeline_free(struct gp_html_timeline *timeline);

#endif
