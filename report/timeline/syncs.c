/* Waits of the host and of streams, and the events that they wait for. */
#include <errno.h>
#include <stdio.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/timeline/walk.h"

/* CUPTI's kinds of synchronization. */
#define SYNC_EVENT       1
#define SYNC_STREAM_WAIT 2

#define NAME_BYTES 64

/* As Kineto has them. */
static const char *const names[] = {
	"Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync",
};

/* A synchronization or an event, where it is drawn. */
struct item {
	uint64_t start_ns;
	uint16_t device_id;
	uint32_t context_id, stream_id;
	uint32_t index; /* in syncs[], or from sync_count on in events[] */
};

struct syncs {
	struct item *items;
	uint32_t count;
	uint32_t *by_sync_id, *by_event; /* indices of events[], sorted */
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_items(const void *a, const void *b, const void *context)
{
	const struct item *left = a, *right = b;

	(void)context;
	if (left->device_id != right->device_id)
		return left->device_id < right->device_id ? -1 : 1;
	if (left->context_id != right->context_id)
		return left->context_id < right->context_id ? -1 : 1;
	if (left->stream_id != right->stream_id)
		return left->stream_id < right->stream_id ? -1 : 1;
	return compare_numbers(left->start_ns, right->start_ns);
}

GP_COMPARE_BY(compare_sync_ids, struct gp_record_event, sync_id)

GP_COMPARE_BY_TWO(compare_events, struct gp_record_event, event_id, correlation_id)

static int gather(const struct gp_timeline *t, struct syncs *s)
{
	const struct gp_model *m = t->model;
	bool has_untimed = t->is_table && t->filter.is_open;

	s->items = gp_spill_take(((size_t)m->sync_count + m->event_count + 1) * sizeof(*s->items));
	s->by_sync_id = gp_array_order(m->events, m->event_count, sizeof(*m->events),
				       compare_sync_ids, NULL);
	s->by_event =
		gp_array_order(m->events, m->event_count, sizeof(*m->events), compare_events, NULL);
	for (uint32_t i = 0; i < m->sync_count; i++)
		s->items[s->count++] = (struct item){
			m->syncs[i].start_ns, gp_model_context_device(m, m->syncs[i].context_id),
			m->syncs[i].context_id, m->syncs[i].stream_id, i};
	for (uint32_t i = 0; i < m->event_count; i++)
		if (m->events[i].device_ns != 0 || has_untimed)
			s->items[s->count++] = (struct item){
				m->events[i].device_ns,
				gp_model_context_device(m, m->events[i].context_id),
				m->events[i].context_id, m->events[i].stream_id, m->sync_count + i};
	return t->is_table
		       ? 0
		       : gp_array_sort(s->items, s->count, sizeof(*s->items), compare_items, NULL);
}

struct wanted_event {
	const struct gp_record_event *events;
	gp_array_compare *compare;
	const struct gp_record_event *key;
};

static bool is_event_until(const void *element, const void *context)
{
	const struct wanted_event *wanted = context;

	return wanted->compare(&wanted->events[*(const uint32_t *)element], wanted->key, NULL) <= 0;
}

/* The recording that was waited for: by its own id, else the last one of the event before. */
static const struct gp_record_event *find_event(const struct gp_model *m, const struct syncs *s,
						const struct gp_record_sync *sync)
{
	const struct gp_record_event key = {.event_id = sync->event_id,
					    .correlation_id = sync->correlation_id,
					    .sync_id = sync->event_sync_id};
	bool is_known = sync->event_sync_id != 0;
	const uint32_t *order = is_known ? s->by_sync_id : s->by_event;
	const struct wanted_event wanted = {m->events, is_known ? compare_sync_ids : compare_events,
					    &key};
	uint32_t after = gp_array_lower_bound(order, m->event_count, sizeof(*order), is_event_until,
					      &wanted);
	const struct gp_record_event *found = after > 0 ? &m->events[order[after - 1]] : NULL;

	if (found && is_known && found->sync_id != sync->event_sync_id)
		return NULL;
	return found && (is_known || found->event_id == sync->event_id) ? found : NULL;
}

static void walk_sync(struct gp_timeline *t, const struct syncs *s, const struct item *item)
{
	const struct gp_record_sync *sync = &t->model->syncs[item->index];
	bool has_event = sync->sync_kind == SYNC_EVENT || sync->sync_kind == SYNC_STREAM_WAIT;
	uint16_t kind = sync->sync_kind < sizeof(names) / sizeof(names[0]) ? sync->sync_kind : 0;
	const struct gp_record_event *recorded;
	struct gp_timeline_event event = {.kind = GP_TIMELINE_SYNC,
					  .start_ns = sync->start_ns,
					  .end_ns = sync->end_ns,
					  .name = names[kind],
					  .of.sync = sync};

	if (!gp_walk_wants(t, &event))
		return;
	gp_walk_number(&event, "correlation", sync->correlation_id);
	gp_walk_text(&event, "cuda_sync_kind", names[kind]);
	gp_walk_number(&event, "device", item->device_id);
	gp_walk_number(&event, "context", sync->context_id);
	/* Kineto says -1 for a number that is not there. */
	gp_walk_signed(&event, "stream",
		       sync->stream_id == GP_NO_STREAM ? -1 : (int64_t)sync->stream_id);
	if (has_event) {
		recorded = find_event(t->model, s, sync);
		gp_walk_signed(&event, "wait_on_stream",
			       recorded ? (int64_t)recorded->stream_id : -1);
		gp_walk_signed(&event, "wait_on_cuda_event_record_corr_id",
			       recorded ? (int64_t)recorded->correlation_id : -1);
		gp_walk_number(&event, "wait_on_cuda_event_id", sync->event_id);
	}
	gp_walk_event(t, &event);
}

static void walk_event(struct gp_timeline *t, const struct item *item)
{
	const struct gp_record_event *recorded =
		&t->model->events[item->index - t->model->sync_count];
	char name[NAME_BYTES];
	struct gp_timeline_event event = {.kind = GP_TIMELINE_EVENT,
					  .is_instant = true,
					  .start_ns = recorded->device_ns,
					  .name = name,
					  .of.event = recorded};

	if (!gp_walk_wants(t, &event))
		return;
	snprintf(name, sizeof(name), "event %u", recorded->event_id);
	gp_walk_number(&event, "event_id", recorded->event_id);
	gp_walk_number(&event, "device", item->device_id);
	gp_walk_number(&event, "context", recorded->context_id);
	gp_walk_number(&event, "stream", recorded->stream_id);
	gp_walk_number(&event, "correlation", recorded->correlation_id);
	gp_walk_event(t, &event);
}

static bool is_same_track(const struct item *a, const struct item *b)
{
	return a->device_id == b->device_id && a->context_id == b->context_id &&
	       a->stream_id == b->stream_id;
}

static void begin_track(struct gp_timeline *t, const struct item *item)
{
	bool is_stream = item->stream_id != GP_NO_STREAM;
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), is_stream ? "stream %u (sync)" : "context %u (sync)",
		 is_stream ? item->stream_id : item->context_id);
	gp_walk_track(t, &(struct gp_timeline_track){.kind = GP_TRACK_SYNC,
						     .name = name,
						     .device_id = item->device_id,
						     .context_id = item->context_id,
						     .stream_id = item->stream_id});
}

void gp_walk_syncs(struct gp_timeline *t)
{
	struct syncs syncs = {0};

	if (t->error == 0)
		t->error = gather(t, &syncs);
	for (uint32_t i = 0; t->error == 0 && i < syncs.count; i++) {
		const struct item *item = &syncs.items[i];

		if (i == 0 || !is_same_track(item, item - 1))
			begin_track(t, item);
		if (item->index < t->model->sync_count)
			walk_sync(t, &syncs, item);
		else
			walk_event(t, item);
	}
	gp_spill_free(syncs.items);
	gp_spill_free(syncs.by_sync_id);
	gp_spill_free(syncs.by_event);
}
