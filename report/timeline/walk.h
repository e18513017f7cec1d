/* walk: shared by the parts of the walk; each tells the sink of some kinds of events. */
#ifndef REPORT_TIMELINE_WALK_H
#define REPORT_TIMELINE_WALK_H

#include "report/timeline/timeline.h"

/* The parts in their order: gp_walk_NAME(), and the kinds of its events (0: it has counters). */
#define GP_WALK_PARTS(X)                                                                           \
	X(threads, GP_TIMELINE_CALLS | GP_TIMELINE_BIT(RANGE) | GP_TIMELINE_BIT(PYTHON))           \
	X(host, GP_TIMELINE_BIT(OVERHEAD) | GP_TIMELINE_BIT(COMPILING) |                           \
			GP_TIMELINE_BIT(HOST_FUNCTION) | GP_TIMELINE_BIT(GATE))                    \
	X(unfinished, GP_TIMELINE_BIT(UNFINISHED))                                                 \
	X(streams, GP_TIMELINE_OPS | GP_TIMELINE_BIT(STREAM_RANGE))                                \
	X(syncs, GP_TIMELINE_BIT(SYNC) | GP_TIMELINE_BIT(EVENT))                                   \
	X(unified, GP_TIMELINE_BIT(UNIFIED))                                                       \
	X(memory, GP_TIMELINE_BIT(ALLOCATION))                                                     \
	X(curves, 0)                                                                               \
	X(hardware, 0)                                                                             \
	X(energy, GP_TIMELINE_BIT(ENERGY_SAMPLE))                                                  \
	X(path, GP_TIMELINE_BIT(PATH))                                                             \
	X(phases, GP_TIMELINE_BIT(PHASE))

#define X(name, kinds) void gp_walk_##name(struct gp_timeline *t);
GP_WALK_PARTS(X)
#undef X

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
