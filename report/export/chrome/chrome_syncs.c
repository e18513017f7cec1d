#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/export/chrome/chrome_writer.h"
#include "report/base/spill_memory.h"

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

static int compare_sync_ids(const void *a, const void *b, const void *context)
{
	const struct gp_record_event *left = a, *right = b;

	(void)context;
	return compare_numbers(left->sync_id, right->sync_id);
}

static int compare_events(const void *a, const void *b, const void *context)
{
	const struct gp_record_event *left = a, *right = b;

	(void)context;
	if (left->event_id != right->event_id)
		return left->event_id < right->event_id ? -1 : 1;
	return compare_numbers(left->correlation_id, right->correlation_id);
}

static int gather(const struct gp_model *m, struct syncs *s)
{
	s->items = gp_spill_take(((size_t)m->sync_count + m->event_count + 1) * sizeof(*s->items));
	s->by_sync_id = gp_array_order(m->events, m->event_count, sizeof(*m->events),
				       compare_sync_ids, NULL);
	s->by_event =
		gp_array_order(m->events, m->event_count, sizeof(*m->events), compare_events, NULL);
	if (!s->items || !s->by_sync_id || !s->by_event)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->sync_count; i++)
		s->items[s->count++] = (struct item){
			m->syncs[i].start_ns, gp_model_context_device(m, m->syncs[i].context_id),
			m->syncs[i].context_id, m->syncs[i].stream_id, i};
	for (uint32_t i = 0; i < m->event_count; i++)
		if (m->events[i].device_ns != 0)
			s->items[s->count++] = (struct item){
				m->events[i].device_ns,
				gp_model_context_device(m, m->events[i].context_id),
				m->events[i].context_id, m->events[i].stream_id, m->sync_count + i};
	return gp_array_sort(s->items, s->count, sizeof(*s->items), compare_items, NULL);
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

/* Kineto's, which says -1 for what is not there. */
static void put_signed(struct gp_json *json, const char *key, int64_t value)
{
	gp_json_key(json, key);
	gp_json_signed(json, value);
}

static void write_sync(struct gp_chrome *chrome, const struct syncs *s,
		       const struct gp_record_sync *sync, uint16_t device_id)
{
	bool has_event = sync->sync_kind == SYNC_EVENT || sync->sync_kind == SYNC_STREAM_WAIT;
	const struct gp_record_event *event = has_event ? find_event(chrome->model, s, sync) : NULL;
	uint16_t kind = sync->sync_kind < sizeof(names) / sizeof(names[0]) ? sync->sync_kind : 0;
	const char *name = names[kind];
	struct gp_json *json = &chrome->json;

	gp_chrome_open_slice(chrome, "cuda_sync", name, sync->start_ns, sync->end_ns,
			     "correlation");
	gp_json_unsigned(json, sync->correlation_id);
	gp_chrome_put_text(json, "cuda_sync_kind", name);
	gp_chrome_put_field(json, "device", device_id);
	gp_chrome_put_field(json, "context", sync->context_id);
	put_signed(json, "stream", sync->stream_id == GP_NO_STREAM ? -1 : (int64_t)sync->stream_id);
	if (has_event) {
		put_signed(json, "wait_on_stream", event ? (int64_t)event->stream_id : -1);
		put_signed(json, "wait_on_cuda_event_record_corr_id",
			   event ? (int64_t)event->correlation_id : -1);
		gp_chrome_put_field(json, "wait_on_cuda_event_id", sync->event_id);
	}
	gp_json_text(json, "}}");
}

static void write_event(struct gp_chrome *chrome, const struct gp_record_event *event,
			uint16_t device_id)
{
	struct gp_json *json = &chrome->json;
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "event %u", event->event_id);
	gp_chrome_open(chrome, "i", "cuda_event", name, gp_chrome_first_tid(chrome),
		       event->device_ns);
	gp_json_text(json, ",\"s\":\"t\",\"args\":{\"event_id\":");
	gp_json_unsigned(json, event->event_id);
	gp_chrome_put_field(json, "device", device_id);
	gp_chrome_put_field(json, "context", event->context_id);
	gp_chrome_put_field(json, "stream", event->stream_id);
	gp_chrome_put_field(json, "correlation", event->correlation_id);
	gp_json_text(json, "}}");
}

static bool is_same_track(const struct item *a, const struct item *b)
{
	return a->device_id == b->device_id && a->context_id == b->context_id &&
	       a->stream_id == b->stream_id;
}

static void begin_track(struct gp_chrome *chrome, const struct item *item)
{
	const char *separator = *chrome->owner ? ": " : "";

	if (item->stream_id == GP_NO_STREAM)
		snprintf(chrome->track_name, sizeof(chrome->track_name), "%s%scontext %u (sync)",
			 chrome->owner, separator, item->context_id);
	else
		snprintf(chrome->track_name, sizeof(chrome->track_name), "%s%sstream %u (sync)",
			 chrome->owner, separator, item->stream_id);
	gp_chrome_begin_track_of(
		chrome,
		(struct gp_chrome_stream){item->device_id, item->context_id, item->stream_id, 0});
}

static void write_items(struct gp_chrome *chrome, const struct syncs *s)
{
	const struct gp_model *m = chrome->model;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct item *item = &s->items[i];
		bool is_sync = item->index < m->sync_count;
		uint64_t end_ns = is_sync ? m->syncs[item->index].end_ns : item->start_ns;

		if (i == 0 || !is_same_track(item, item - 1))
			begin_track(chrome, item);
		if (is_sync ? !gp_chrome_is_shown(chrome, m->syncs[item->index].start_ns, end_ns)
			    : !gp_chrome_is_moment_shown(chrome, end_ns))
			continue;
		if (is_sync)
			write_sync(chrome, s, &m->syncs[item->index], item->device_id);
		else
			write_event(chrome, &m->events[item->index - m->sync_count],
				    item->device_id);
	}
}

void gp_chrome_write_syncs(struct gp_chrome *chrome)
{
	struct syncs syncs = {0};

	if (gather(chrome->model, &syncs) == 0)
		write_items(chrome, &syncs);
	else
		chrome->error = -ENOMEM;
	gp_spill_free(syncs.items);
	gp_spill_free(syncs.by_sync_id);
	gp_spill_free(syncs.by_event);
}
