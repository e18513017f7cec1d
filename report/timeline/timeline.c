#include "report/timeline/timeline.h"

#include "report/timeline/walk.h"

const char *const gp_timeline_categories[GP_TIMELINE_KINDS] = {
#define GP_TIMELINE_KIND(id, category) [GP_TIMELINE_##id] = category,
#include "report/timeline/kind.def"
#undef GP_TIMELINE_KIND
};

void gp_walk_track(struct gp_timeline *t, const struct gp_timeline_track *track)
{
	if (t->error == 0)
		t->error = t->sink->track(t->context, track);
}

void gp_walk_event(struct gp_timeline *t, const struct gp_timeline_event *event)
{
	if (t->error == 0)
		t->error = t->sink->event(t->context, event);
}

void gp_walk_counter(struct gp_timeline *t, const struct gp_timeline_counter *counter)
{
	if (t->error == 0)
		t->error = t->sink->counter(t->context, counter);
}

bool gp_walk_wants(const struct gp_timeline *t, struct gp_timeline_event *event)
{
	event->is_elsewhere = false;
	if (event->is_instant)
		return !t->slices_only && gp_timeline_shows_moment(t, event->start_ns);
	event->is_elsewhere = !gp_timeline_shows(t, event->start_ns, event->end_ns);
	return !event->is_elsewhere || t->is_later;
}

void gp_walk_arg(struct gp_timeline_event *event, struct gp_timeline_arg arg)
{
	event->args[event->arg_count++] = arg;
}

void gp_walk_number(struct gp_timeline_event *event, const char *key, uint64_t value)
{
	gp_walk_arg(event,
		    (struct gp_timeline_arg){.key = key, .type = GP_ARG_NUMBER, .number = value});
}

void gp_walk_signed(struct gp_timeline_event *event, const char *key, int64_t value)
{
	gp_walk_arg(event, (struct gp_timeline_arg){
				   .key = key, .type = GP_ARG_SIGNED, .number = (uint64_t)value});
}

void gp_walk_address(struct gp_timeline_event *event, const char *key, uint64_t value)
{
	gp_walk_arg(event,
		    (struct gp_timeline_arg){.key = key, .type = GP_ARG_ADDRESS, .number = value});
}

void gp_walk_text(struct gp_timeline_event *event, const char *key, const char *value)
{
	gp_walk_arg(event,
		    (struct gp_timeline_arg){.key = key, .type = GP_ARG_TEXT, .text = value});
}

const char *gp_walk_range_name(const struct gp_model *model, const struct gp_range *range)
{
	const char *text = gp_model_range_text(model, range);

	return *text ? text : "(no name)";
}

uint64_t gp_walk_first_shown(const struct gp_timeline *t)
{
	uint64_t cut_ns = t->is_cut ? t->cut_ns : 0;

	return cut_ns > t->filter.from_ns ? cut_ns : t->filter.from_ns;
}

int gp_timeline_walk(struct gp_timeline *t)
{
	t->error = 0;
	gp_walk_threads(t);
	gp_walk_host(t);
	gp_walk_unfinished(t);
	gp_walk_streams(t);
	gp_walk_syncs(t);
	gp_walk_unified(t);
	if (t->slices_only)
		return t->error;
	gp_walk_memory(t);
	if (t->has_curves)
		gp_walk_curves(t);
	if (t->has_path)
		gp_walk_path(t);
	return t->error;
}
