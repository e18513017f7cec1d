/*
 * tracks: all events with a start and an end, by track (a thread, a stream), placed in rows without
 * overlaps.
 */
#ifndef REPORT_HTML_TRACKS_H
#define REPORT_HTML_TRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/tables/breakdown_scope.h"
#include "report/symbols/call_tree.h"
#include "report/analysis/host/python_samples.h"
#include "report/html/gather.h"
#include "report/html/labels.h"
#include "report/model/model.h"

/* The most rows of a track; events that overlap with all of them are merged in one more row. */
#define GP_HTML_ROWS 64u
/* The same for Python functions: stacks are deep. */
#define GP_HTML_PYTHON_ROWS 512u

struct gp_html_track {
	const struct gp_model *model;
	uint32_t process;     /* index of the model */
	uint32_t first_shape; /* number of shapes of earlier models */
	/* "thread", "python", "ranges", "gpu-ranges", "stream", "unified", "overhead", "code" */
	const char *kind;
	/* the number of the thread or device; else 0 */
	uint64_t id;
	const char *name;
	bool is_host; /* a thread */
};

struct gp_html_tracks {
	struct gp_scope *scope;    /* its models and devices */
	struct gp_call_tree *tree; /* for stacks; NULL = no stacks */
	/*
	 * About the most events that take() gets: if there are more, the shorter ones are merged
	 * with their neighbors; 0 = no limit.
	 */
	uint64_t event_limit;
	/* shorter neighbors are merged, and count as one event for the limit, too; 0 = none */
	uint64_t least_ns;
	/*
	 * Called for each track with events, by process.  The events are sorted by row and start;
	 * a row may be empty.  Returns 0, or a -errno that ends the walk.
	 */
	int (*take)(void *context, const struct gp_html_track *track,
		    const struct gp_html_gather *gather);
	void *context;

	/* results */
	struct gp_html_labels labels;
	/* the earliest time; known before the first call of take() */
	uint64_t origin_unix_ns;
	uint64_t crowded;                /* number merged because their track has no row for them */
	struct gp_host_depth host_depth; /* the least of all models; the sum of left-out ones */
	bool is_limited;                 /* some were merged because of the limit: */
	uint64_t shortest_ns;            /* no longer ones, and some of this duration */
	uint64_t grouped;                /* number of short events merged with others */
};

/* Returns 0, -ENOMEM, -EOVERFLOW or the result of take(); call gp_html_tracks_free() anyway. */
int gp_html_tracks_walk(struct gp_html_tracks *tracks);
void gp_html_tracks_free(struct gp_html_tracks *tracks);

/*
 * Two parts of the limit are for the longest events, two for the merged events between them, and one
 * for splitting merged events at the widest gaps.
 */
#define GP_HTML_PARTS_OF_LIMIT 5u
#define GP_HTML_PARTS_KEPT     2u

/* Merged events are shorter than that; 0: there are none. */
static inline uint64_t gp_html_tracks_least_ns(const struct gp_html_tracks *tracks)
{
	uint64_t limit_ns = tracks->is_limited ? tracks->shortest_ns + 1 : 0;

	return limit_ns > tracks->least_ns ? limit_ns : tracks->least_ns;
}

/* A time of a model, relative to the origin. */
static inline uint64_t gp_html_track_time(const struct gp_html_tracks *tracks,
					  const struct gp_model *model, uint64_t time_ns)
{
	return model->base_unix_ns + time_ns - tracks->origin_unix_ns;
}

#endif
