/* walk: shared by the parts of the walk; each tells the sink of some kinds of events. */
#ifndef REPORT_TIMELINE_WALK_H
#define REPORT_TIMELINE_WALK_H

#include "report/timeline/timeline.h"

void gp_walk_threads(struct gp_timeline *t);
void gp_walk_host(struct gp_timeline *t);
void gp_walk_unfinished(struct gp_timeline *t);
void gp_walk_streams(struct gp_timeline *t);
void gp_walk_syncs(struct gp_timeline *t);
void gp_walk_unified(struct gp_timeline *t);
void gp_walk_memory(struct gp_timeline *t);
void gp_walk_curves(struct gp_timeline *t);
void gp_walk_hardware(struct gp_timeline *t);
void gp_walk_energy(struct gp_timeline *t);
void gp_walk_path(struct gp_timeline *t);
void gp_walk_phases(struct gp_timeline *t);

/* Nothing happens after an error. */
void gp_walk_track(struct gp_timeline *t, const struct gp_timeline_track *track);
void gp_walk_event(struct gp_timeline *t, const struct gp_timeline_event *event);
void gp_walk_counter(struct gp_timeline *t, const struct gp_timeline_counter *counter);

static inline bool gp_walk_has_kind(const struct gp_timeline *t, enum gp_timeline_kind kind)
{
	return t->kinds == 0 || (t->kinds >> kind & 1) != 0;
}

/*
 * Whether an event is for the sink: it is shown, or keeps its place for another part, and then says
 * so.
 */
bool gp_walk_wants(const struct gp_timeline *t, struct gp_timeline_event *event);

/* Arguments of an event, in their order. */
void gp_walk_number(struct gp_timeline_event *event, const char *key, uint64_t value);
void gp_walk_signed(struct gp_timeline_event *event, const char *key, int64_t value);
void gp_walk_address(struct gp_timeline_event *event, const char *key, uint64_t value);
void gp_walk_text(struct gp_timeline_event *event, const char *key, const char *value);
void gp_walk_arg(struct gp_timeline_event *event, struct gp_timeline_arg arg);

/* "(no name)" if it has none. */
const char *gp_walk_range_name(const struct gp_model *model, const struct gp_range *range);

/* The beginning of the window: counters have a value there.  0: it has no beginning. */
uint64_t gp_walk_first_shown(const struct gp_timeline *t);

#endif
