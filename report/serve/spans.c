#include "report/serve/spans.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/html/tracks.h"
#include "report/codec/json_write.h"
#include "report/base/spill_memory.h"
#include "report/model/slice_filter.h"

/* The events of a track by row and start; times count from the origin. */
struct track {
	const char *kind; /* static string */
	char *name;
	uint64_t id;
	const struct gp_model *model;
	uint32_t first_shape;
	struct gp_html_event *events;
	uint32_t count;
};

struct gp_spans {
	struct gp_scope scope;
	struct gp_html_tracks walk;
	struct track *tracks;
	uint32_t track_count, track_capacity;
	uint64_t events;  /* number of all events */
	uint64_t end_ns;  /* end of the last event, from the origin */
	uint64_t zero_ns; /* time 0 of queries, from the origin */
};

/* ---- collecting ---- */

static void keep_event(struct gp_spans *spans, struct track *track,
		       const struct gp_html_event *event)
{
	struct gp_html_event *kept = &track->events[track->count++];

	*kept = *event;
	kept->start_ns = gp_html_track_time(&spans->walk, track->model, event->start_ns);
	kept->end_ns = gp_html_track_time(&spans->walk, track->model, event->end_ns);
	if (kept->end_ns > spans->end_ns)
		spans->end_ns = kept->end_ns;
	spans->events++;
}

static int keep_track(void *context, const struct gp_html_track *from,
		      const struct gp_html_gather *gather)
{
	struct gp_spans *spans = context;
	struct track *track;

	gp_array_grow(&spans->tracks, &spans->track_capacity, spans->track_count,
		      sizeof(*spans->tracks));
	track = &spans->tracks[spans->track_count++];
	*track = (struct track){
		.kind = from->kind,
		.name = strdup(from->name),
		.id = from->id,
		.model = from->model,
		.first_shape = from->first_shape,
		.events = gp_spill_take((size_t)gather->count * sizeof(*track->events))};
	for (uint32_t i = 0; i < gather->count; i++)
		keep_event(spans, track, &gather->events[i]);
	return 0;
}

/* The first call or operation; the origin if there is none. */
static uint64_t zero_of(const struct gp_spans *spans)
{
	uint64_t start_unix_ns = spans->scope.start_unix_ns;
	uint64_t origin_unix_ns = spans->walk.origin_unix_ns;

	return start_unix_ns < UINT64_MAX && start_unix_ns > origin_unix_ns
		       ? start_unix_ns - origin_unix_ns
		       : 0;
}

int gp_spans_new(struct gp_model *const *models, size_t model_count, struct gp_spans **spans)
{
	struct gp_spans *new = calloc(1, sizeof(*new));
	int result = gp_scope_open(&new->scope, models, model_count, false);

	*spans = NULL;
	new->walk.scope = &new->scope;
	new->walk.take = keep_track;
	new->walk.context = new;
	if (result == 0)
		result = gp_html_tracks_walk(&new->walk);
	if (result < 0) {
		gp_spans_free(new);
		return result;
	}
	new->zero_ns = zero_of(new);
	*spans = new;
	return 0;
}

void gp_spans_free(struct gp_spans *spans)
{
	if (!spans)
		return;
	for (uint32_t i = 0; i < spans->track_count; i++) {
		free(spans->tracks[i].name);
		gp_spill_free(spans->tracks[i].events);
	}
	free(spans->tracks);
	gp_html_tracks_free(&spans->walk);
	gp_scope_close(&spans->scope);
	free(spans);
}

/* ---- the window ---- */

/* A contiguous piece of a row. */
struct piece {
	const struct gp_html_event *events;
	uint32_t count;
};

static bool ends_by(const void *element, const void *key)
{
	const struct gp_html_event *event = element;

	return event->end_ns < *(const uint64_t *)key;
}

static bool starts_before(const void *element, const void *key)
{
	const struct gp_html_event *event = element;

	return event->start_ns < *(const uint64_t *)key;
}

static bool is_of_row(const void *element, const void *key)
{
	const struct gp_html_event *event = element;

	return event->row <= *(const uint32_t *)key;
}

/*
 * The part of a row that may lie in the window. first: index of the row's first event. *next: index
 * of the next row.
 */
static struct piece find_piece(const struct track *track, uint32_t first, uint32_t *next,
			       const struct gp_slice_filter *window)
{
	const struct gp_html_event *row = &track->events[first];
	uint32_t count =
		gp_array_lower_bound(row, track->count - first, sizeof(*row), is_of_row, &row->row);
	uint32_t from, to;

	*next = first + count;
	from = gp_array_lower_bound(row, count, sizeof(*row), ends_by, &window->from_ns);
	to = gp_array_lower_bound(row, count, sizeof(*row), starts_before, &window->to_ns);
	return (struct piece){.events = row + from, .count = to > from ? to - from : 0};
}

static uint64_t clamp(uint64_t zero_ns, int64_t time_ns, uint64_t most_ns)
{
	uint64_t at_ns;

	if (time_ns < 0 && 0 - (uint64_t)time_ns > zero_ns)
		return 0;
	at_ns = zero_ns + (uint64_t)time_ns;
	return at_ns < most_ns ? at_ns : most_ns;
}

/* The events in the window, and their number. */
struct view {
	const struct gp_spans *spans;
	struct gp_slice_filter window; /* from the origin */
	uint64_t found;                /* number of events */
	uint32_t rows;                 /* number of rows with events */
	uint64_t resolution_ns;        /* shorter neighbors become one span; 0 = no grouping */
	uint32_t limit;
};

static bool is_in(const struct view *view, const struct gp_html_event *event)
{
	return gp_slice_filter_has(&view->window, event->start_ns, event->end_ns);
}

static void count_piece(struct view *view, const struct piece *piece)
{
	uint64_t found = 0;

	for (uint32_t i = 0; i < piece->count; i++)
		found += is_in(view, &piece->events[i]);
	view->found += found;
	view->rows += found > 0;
}

static void count_events(struct view *view)
{
	for (uint32_t i = 0; i < view->spans->track_count; i++) {
		const struct track *track = &view->spans->tracks[i];

		for (uint32_t first = 0, next; first < track->count; first = next) {
			struct piece piece = find_piece(track, first, &next, &view->window);

			count_piece(view, &piece);
		}
	}
}

/*
 * For each resolution_ns of the window a row has at most one span of short events and one long
 * event, plus the spans that cross its edges. The rows share the limit.
 */
static void choose_resolution(struct view *view)
{
	uint64_t length_ns = view->window.to_ns - view->window.from_ns;
	uint64_t share = view->rows > 0 ? view->limit / view->rows : view->limit;
	uint64_t bins = share > 5 ? (share - 3) / 2 : 1;

	view->resolution_ns = view->found > view->limit ? length_ns / bins + 1 : 0;
}

/* ---- writing ---- */

/* Neighboring events that become one span. */
struct group {
	const struct gp_html_event *longest;
	uint64_t start_ns, end_ns, busy_ns, bin;
	uint32_t count;
};

struct writer {
	const struct view *view;
	struct gp_json json;
	const struct track *track; /* the current track; NULL = none yet */
	uint32_t row;              /* the current row of it */
	uint32_t row_spans;        /* spans of the row */
	struct group group;
	uint32_t spans;
	uint64_t left_out; /* events beyond the limit */
};

static void put_key(struct gp_json *json, const char *key, uint64_t value)
{
	gp_json_text(json, key);
	gp_json_unsigned(json, value);
}

static void put_time(struct writer *writer, const char *key, uint64_t time_ns)
{
	gp_json_text(&writer->json, key);
	gp_json_signed(&writer->json, (int64_t)(time_ns - writer->view->spans->zero_ns));
}

static void begin_track(struct writer *writer, const struct track *track)
{
	struct gp_json *json = &writer->json;

	gp_json_text(json, writer->track ? "]]},\n{\"kind\":" : "\n{\"kind\":");
	gp_json_string(json, track->kind, strlen(track->kind));
	put_key(json, ",\"id\":", track->id);
	put_key(json, ",\"pid\":", track->model->pid);
	gp_json_string_after(json, ",\"name\":", track->name);
	gp_json_text(json, ",\"rows\":[[");
	writer->track = track;
	writer->row = writer->row_spans = 0;
}

/* Empty rows are written, too, so that a row's index identifies it. */
static void begin_row(struct writer *writer, const struct track *track, uint32_t row)
{
	if (writer->track != track)
		begin_track(writer, track);
	for (; writer->row < row; writer->row++) {
		gp_json_text(&writer->json, "],[");
		writer->row_spans = 0;
	}
}

static char kind_of(const struct gp_spans *spans, const struct gp_html_event *event)
{
	return spans->walk.labels.texts.rows[event->label].key[0];
}

static const char *kind_name(char kind)
{
	static const struct {
		char kind;
		const char *name;
	} names[] = {
		{GP_LABEL_KERNEL, "kernel"},  {GP_LABEL_COPY, "copy"},
		{GP_LABEL_SET, "memset"},     {GP_LABEL_GRAPH, "graph"},
		{GP_LABEL_CALL, "call"},      {GP_LABEL_RANGE, "range"},
		{GP_LABEL_CODE, "code"},      {GP_LABEL_UNIFIED, "unified"},
		{GP_LABEL_PLACE, "host"},     {GP_LABEL_OWN, "python"},
		{GP_LABEL_LIBRARY, "python"}, {GP_LABEL_UNKNOWN, "unknown"},
		{GP_LABEL_SHORT, "together"}, {GP_LABEL_SHORT_OPS, "together"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].kind == kind)
			return names[i].name;
	return "overhead";
}

static void put_name(struct writer *writer, const struct gp_html_event *event)
{
	const struct gp_spans *spans = writer->view->spans;
	const char *key = spans->walk.labels.texts.rows[event->label].key;
	const char *name = key + 1;

	if (key[0] == GP_LABEL_KERNEL)
		name = gp_names_short(spans->scope.names, name);
	gp_json_string_after(&writer->json, ",\"kind\":", kind_name(key[0]));
	gp_json_string_after(&writer->json, ",\"name\":", name);
}

static void put_three(struct gp_json *json, const char *key, const uint32_t *values)
{
	for (int i = 0; i < 3; i++)
		put_key(json, i > 0 ? "," : key, values[i]);
	gp_json_text(json, "]");
}

/* The details of a single event. */
static void put_more(struct writer *writer, const struct gp_html_event *event)
{
	const struct track *track = writer->track;
	char kind = kind_of(writer->view->spans, event);

	if (kind == GP_LABEL_COPY || kind == GP_LABEL_SET)
		put_key(&writer->json, ",\"bytes\":", event->aux);
	if (kind == GP_LABEL_CALL && event->aux != 0)
		put_key(&writer->json, ",\"result\":", event->aux);
	if (kind == GP_LABEL_SHORT || kind == GP_LABEL_SHORT_OPS) {
		put_key(&writer->json, ",\"count\":", event->stack);
		put_key(&writer->json, ",\"busy\":", event->aux);
	}
	if (kind == GP_LABEL_KERNEL && event->aux > 0) {
		const struct gp_record_shape *shape =
			&track->model->shapes[event->aux - 1 - track->first_shape];

		put_three(&writer->json, ",\"grid\":[", shape->grid);
		put_three(&writer->json, ",\"block\":[", shape->block);
	}
}

static void put_group(struct writer *writer, const struct track *track)
{
	struct group *group = &writer->group;

	if (group->count > 0 && writer->spans == writer->view->limit)
		writer->left_out += group->count;
	else if (group->count > 0) {
		begin_row(writer, track, group->longest->row);
		put_time(writer, writer->row_spans++ > 0 ? ",\n{\"start\":" : "\n{\"start\":",
			 group->start_ns);
		put_key(&writer->json, ",\"duration\":", group->end_ns - group->start_ns);
		put_name(writer, group->longest);
		if (group->count == 1) {
			put_more(writer, group->longest);
		} else {
			put_key(&writer->json, ",\"count\":", group->count);
			put_key(&writer->json, ",\"busy\":", group->busy_ns);
		}
		gp_json_text(&writer->json, "}");
		writer->spans++;
	}
	*group = (struct group){0};
}

static void add_event(struct writer *writer, const struct track *track,
		      const struct gp_html_event *event)
{
	struct group *group = &writer->group;
	uint64_t resolution_ns = writer->view->resolution_ns;
	uint64_t duration_ns = event->end_ns - event->start_ns;
	bool is_short = duration_ns < resolution_ns;
	uint64_t bin = is_short ? event->start_ns / resolution_ns : 0;

	if (!is_short || bin != group->bin)
		put_group(writer, track);
	if (group->count == 0)
		*group = (struct group){.longest = event, .start_ns = event->start_ns, .bin = bin};
	else if (duration_ns > group->longest->end_ns - group->longest->start_ns)
		group->longest = event;
	group->end_ns = event->end_ns;
	group->busy_ns += duration_ns;
	group->count++;
	if (!is_short)
		put_group(writer, track);
}

static void put_tracks(struct writer *writer)
{
	const struct view *view = writer->view;

	for (uint32_t i = 0; i < view->spans->track_count; i++) {
		const struct track *track = &view->spans->tracks[i];

		for (uint32_t first = 0, next; first < track->count; first = next) {
			struct piece piece = find_piece(track, first, &next, &view->window);

			for (uint32_t at = 0; at < piece.count; at++)
				if (is_in(view, &piece.events[at]))
					add_event(writer, track, &piece.events[at]);
			put_group(writer, track);
		}
	}
}

static void put_answer(struct writer *writer)
{
	const struct view *view = writer->view;
	const struct gp_spans *spans = view->spans;
	struct gp_json *json = &writer->json;

	put_key(json, "{\"zero_unix_ns\":", spans->walk.origin_unix_ns + spans->zero_ns);
	put_time(writer, ",\"from\":", view->window.from_ns);
	put_time(writer, ",\"to\":", view->window.to_ns);
	put_key(json, ",\"least\":", view->window.least_ns);
	put_key(json, ",\"events\":", spans->events);
	put_key(json, ",\"found\":", view->found);
	put_key(json, ",\"resolution\":", view->resolution_ns);
	gp_json_text(json, ",\n\"tracks\":[");
	put_tracks(writer);
	gp_json_text(json, writer->track ? "]]}" : "");
	put_key(json, "],\n\"spans\":", writer->spans);
	put_key(json, ",\"left_out\":", writer->left_out);
	put_key(json, ",\"crowded\":", spans->walk.crowded);
	gp_json_text(json, "}\n");
}

int gp_spans_write(const struct gp_spans *spans, const struct gp_span_query *query, FILE *out)
{
	uint64_t end_ns = spans->end_ns + 1; /* the end of the last event belongs to the window */
	struct view view = {
		.spans = spans,
		.limit = query->limit,
		.window = {.from_ns = clamp(spans->zero_ns, query->from_ns, end_ns),
			   .to_ns = clamp(spans->zero_ns, query->to_ns, end_ns),
			   .least_ns = query->least_ns,
			   .part_to_ns = UINT64_MAX},
	};
	struct writer writer = {.view = &view};
	int closed;

	gp_json_open(&writer.json, out);
	count_events(&view);
	choose_resolution(&view);
	put_answer(&writer);
	closed = gp_json_close(&writer.json);
	return closed;
}
