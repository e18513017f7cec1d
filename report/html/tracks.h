/*
 * tracks: all that has a beginning and an end, track by track (a thread, a stream), placed in rows
 * in which no two events overlap.
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

/*
 * So many of a track show each event by itself; what is at the same time as all of them stands
 * together in one row more.
 */
#define GP_HTML_ROWS 64u
/* The same of what Python did: stacks are deep. */
#define GP_HTML_PYTHON_ROWS 512u

struct gp_html_track {
	const struct gp_model *model;
	uint32_t process;     /* the model's index */
	uint32_t first_shape; /* of the model, among those of all */
	/* "thread", "python", "ranges", "gpu-ranges", "stream", "unified", "overhead", "code" */
	const char *kind;
	/* of a thread and of what Python did there its number, of a stream its device's; else 0 */
	uint64_t id;
	const char *name;
	bool is_host; /* a thread */
};

struct gp_html_tracks {
	struct gp_scope *scope;    /* its models and devices */
	struct gp_call_tree *tree; /* stacks are looked up in it; NULL = they are not */
	/*
	 * About so many at most are handed over: of more, the shorter ones are put together with
	 * their neighbors; 0 = any number.
	 */
	uint64_t event_limit;
	/*
	 * shorter ones are put together with such neighbors, and are one for the limit, too; 0 =
	 * none
	 */
	uint64_t least_ns;
	/*
	 * Called for each track that has events to be placed, process by process: ordered by row
	 * and start, and a row may have none.  Gets context; returns 0, or a -errno that ends the
	 * walk.
	 */
	int (*take)(void *context, const struct gp_html_track *track,
		    const struct gp_html_gather *gather);
	void *context;

	/* what was found */
	struct gp_html_labels labels;
	/* nothing is earlier; known before the first track is handed over */
	uint64_t origin_unix_ns;
	uint64_t crowded; /* that stand together because their track has no row for them */
	struct gp_host_depth host_depth; /* the least of all models, and all that are left out */
	bool is_limited;                 /* the limit put some together, */
	uint64_t shortest_ns; /* of those that are longer none; of those that are as long, some */
	uint64_t grouped;     /* of the shorter ones, that were put together with others */
};

/* Returns 0, -ENOMEM, -EOVERFLOW or what take returned; gp_html_tracks_free() in either case. */
int gp_html_tracks_walk(struct gp_html_tracks *tracks);
void gp_html_tracks_free(struct gp_html_tracks *tracks);

/*
 * Of the limit two parts are the longest events; between two of them there is one of those that
 * stand together, and the widest gaps part these into one part more.
 */
#define GP_HTML_PARTS_OF_LIMIT 5u
#define GP_HTML_PARTS_KEPT     2u

/* What stands together is shorter than that; 0: nothing does. */
static inline uint64_t gp_html_tracks_least_ns(const struct gp_html_tracks *tracks)
{
	uint64_t limit_ns = tracks->is_limited ? tracks->shortest_ns + 1 : 0;

	return limit_ns > tracks->least_ns ? limit_ns : tracks->least_ns;
}

/* A moment of a model, from the origin on. */
static inline uint64_t gp_html_track_time(const struct gp_html_tracks *tracks,
					  const struct gp_model *model, uint64_t time_ns)
{
	return model->base_unix_ns + time_ns - tracks->origin_unix_ns;
}

#endif
