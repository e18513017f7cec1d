#include "report/timeline/timeline.h"

#include "gpuprof/count.h"
#include "report/timeline/walk.h"

const char *const gp_timeline_categories[GP_TIMELINE_KINDS] = {
#define GP_TIMELINE_KIND(id, category, word) [GP_TIMELINE_##id] = category,
#include "report/timeline/kind.def"
};

const char *const gp_timeline_words[GP_TIMELINE_KINDS] = {
#define GP_TIMELINE_KIND(id, category, word) [GP_TIMELINE_##id] = word,
#include "report/timeline/kind.def"
};

void gp_walk_track(struct gp_timeline *t, const struct gp_timeline_track *track)
{
	if (t->error == 0 && t->sink->track)
		t->error = t->sink->track(t->context, track);
}

void gp_walk_event(struct gp_timeline *t, const struct gp_timeline_event *event)
{
	if (t->error == 0)
		t->error = t->sink->event(t->context, event);
}

void gp_walk_counter(struct gp_timeline *t, const struct gp_timeline_counter *counter)
{
	if (t->error == 0 && t->sink->counter)
		t->error = t->sink->counter(t->context, counter);
}

bool gp_walk_wants(const struct gp_timeline *t, struct gp_timeline_event *event)
{
	event->is_elsewhere = false;
	if (!gp_walk_has_kind(t, event->kind))
		return false;
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
	static const struct {
		void (*walk)(struct gp_timeline *t);
		uint32_t kinds;
	} parts[] = {
#define X(name, kinds) {gp_walk_##name, kinds},
		GP_WALK_PARTS(X)
#undef X
	};

	t->error = 0;
	for (size_t i = 0; i < COUNT(parts) && t->error == 0; i++)
		if (t->kinds == 0 || (t->kinds & parts[i].kinds) != 0)
			parts[i].walk(t);
	return t->error;
}

int gp_timeline_walk_in_order(struct gp_timeline *t)
{
#define BIT(id) GP_TIMELINE_BIT(id)
	static const uint32_t order[] = {
		BIT(RANGE),     GP_TIMELINE_CALLS, GP_TIMELINE_OPS, BIT(PYTHON),
		BIT(SYNC),      BIT(ALLOCATION),   BIT(UNIFIED),    BIT(HOST_FUNCTION),
		BIT(COMPILING), BIT(OVERHEAD),     BIT(EVENT),      BIT(GATE),
		~UINT32_C(0), /* others */
	};
#undef BIT
	uint32_t left = t->kinds;
	int result = 0;

	for (size_t i = 0; i < COUNT(order) && result == 0; i++) {
		t->kinds = left & order[i];
		left &= ~order[i];
		if (t->kinds != 0)
			result = gp_timeline_walk(t);
	}
	return result;
}

/* ---- whether there is anything ---- */

#define FOUND 1

static int find_event(void *context, const struct gp_timeline_event *event)
{
	(void)context;
	(void)event;
	return FOUND;
}

static int find_counter(void *context, const struct gp_timeline_counter *counter)
{
	(void)context;
	(void)counter;
	return FOUND;
}

bool gp_timeline_has_any(const struct gp_model *model, const struct gp_slice_choice *choice)
{
	static const struct gp_timeline_sink sink = {.event = find_event, .counter = find_counter};
	struct gp_timeline timeline = {
		.model = model,
		.filter = gp_slice_filter_of(choice, model),
		/* the others follow from these */
		.kinds = ~(GP_TIMELINE_BIT(UNFINISHED) | GP_TIMELINE_BIT(STREAM_RANGE) |
			   GP_TIMELINE_BIT(PATH) | GP_TIMELINE_BIT(PHASE) |
			   GP_TIMELINE_BIT(ENERGY_SAMPLE)),
		.is_table = true,
		.sink = &sink,
	};

	return gp_timeline_walk(&timeline) != 0;
}
