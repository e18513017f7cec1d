#include "report/html/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "report/html/gather.h"
#include "report/html/pack.h"
#include "report/base/spill_memory.h"

/*
 * START is relative to the end of the previous event of the row (to 0 for the first one), so it is
 * never negative.  LINK of an operation is 1 + the number of its call among all events, written as
 * the difference to the previous event.  Both start from 0 in each block.  AUX is 1 + the launch
 * shape of a kernel, the bytes of a copy or memset, the result of a call or GP_HTML_ESTIMATED.  For
 * merged short events AUX is the sum of their times in ns, and STACK their number.
 */
enum column { START, DURATION, LABEL, LINK, AUX, STACK, COLUMNS };

/* State while tracks are written. */
struct writer {
	struct gp_html_timeline *timeline;
	const struct gp_model *model; /* of the current track */
	struct gp_html_columns columns;
	uint32_t *event_of_call; /* for calls of the model: 1 + the number of the event; 0 = none */
	uint64_t last_end_ns;    /* of the previous event of the row */
	uint32_t last_link, tracks;
};

/* ---- writing a track ---- */

static void add_sum(uint32_t *sum, uint64_t value)
{
	*sum = *sum * 31 + ((uint32_t)value ^ (uint32_t)(value >> 32));
}

static uint32_t link_of(struct writer *writer, const struct gp_html_event *event, bool is_host)
{
	if (event->call == GP_NONE)
		return 0;
	if (!is_host)
		return writer->event_of_call[event->call];
	writer->event_of_call[event->call] = (uint32_t)writer->timeline->events + 1;
	return 0;
}

static void put_event(struct writer *writer, const struct gp_html_event *event, bool is_host)
{
	struct gp_html_timeline *timeline = writer->timeline;
	uint32_t link = link_of(writer, event, is_host);
	uint64_t start_ns = gp_html_track_time(&timeline->walk, writer->model, event->start_ns);
	uint64_t row[COLUMNS] = {
		[START] = start_ns,     [DURATION] = event->end_ns - event->start_ns,
		[LABEL] = event->label, [LINK] = link,
		[AUX] = event->aux,     [STACK] = event->stack};

	for (int i = 0; i < COLUMNS; i++)
		add_sum(&timeline->sums[i], row[i]);
	if (gp_html_columns_at_block(&writer->columns))
		writer->last_end_ns = writer->last_link = 0;
	row[START] = start_ns - writer->last_end_ns;
	row[LINK] = gp_html_zigzag((int64_t)link - (int64_t)writer->last_link);
	gp_html_columns_add(&writer->columns, row);
	writer->last_end_ns = start_ns + row[DURATION];
	if (writer->last_end_ns > timeline->end_ns)
		timeline->end_ns = writer->last_end_ns;
	writer->last_link = link;
	timeline->events++;
}

static void put_rows(struct writer *writer, const struct gp_html_gather *gather, bool is_host)
{
	struct gp_json *json = &writer->timeline->tracks;
	uint64_t first = writer->timeline->events;
	uint32_t row = gather->events[0].row; /* of which all may be too short */

	writer->last_end_ns = 0;
	for (uint32_t i = 0; i < gather->count; i++) {
		const struct gp_html_event *event = &gather->events[i];

		if (event->row != row) {
			gp_json_unsigned(json, writer->timeline->events - first);
			gp_json_text(json, ",");
			first = writer->timeline->events;
			row = event->row;
			writer->last_end_ns = 0;
		}
		put_event(writer, event, is_host);
	}
	gp_json_unsigned(json, writer->timeline->events - first);
}

static void begin_process(struct writer *writer, const struct gp_model *model)
{
	gp_spill_free(writer->event_of_call);
	writer->model = model;
	writer->event_of_call =
		gp_spill_take_zeroed((size_t)model->call_count + 1, sizeof(*writer->event_of_call));
}

static int put_track(void *context, const struct gp_html_track *track,
		     const struct gp_html_gather *gather)
{
	struct writer *writer = context;
	struct gp_json *json = &writer->timeline->tracks;

	if (track->model != writer->model)
		begin_process(writer, track->model);
	gp_json_text(json, writer->tracks++ > 0 ? ",\n{\"kind\":\"" : "{\"kind\":\"");
	gp_json_text(json, track->kind);
	gp_json_text(json, "\",\"id\":");
	gp_json_unsigned(json, track->id);
	gp_json_text(json, ",\"process\":");
	gp_json_unsigned(json, track->process);
	gp_json_text(json, ",\"name\":");
	gp_json_string(json, track->name, strlen(track->name));
	gp_json_text(json, ",\"rows\":[");
	put_rows(writer, gather, track->is_host);
	gp_json_text(json, "]}");
	return 0;
}

/*
 * "[gx,gy,gz,bx,by,bz,registers,static shared,dynamic shared,cluster x,y,z]"; null: unknown
 */
static void put_shape(struct gp_json *json, const struct gp_model *model,
		      const struct gp_record_shape *shape)
{
	const size_t static_shared = 7;
	bool has_parts = (model->unknown & GP_UNKNOWN_SHARED_PARTS) == 0;
	const uint32_t values[] = {shape->grid[0],
				   shape->grid[1],
				   shape->grid[2],
				   shape->block[0],
				   shape->block[1],
				   shape->block[2],
				   shape->registers,
				   shape->static_shared_bytes,
				   shape->dynamic_shared_bytes,
				   shape->cluster[0],
				   shape->cluster[1],
				   shape->cluster[2]};

	for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
		gp_json_text(json, v > 0 ? "," : "[");
		if (v == static_shared && !has_parts)
			gp_json_text(json, "null");
		else
			gp_json_unsigned(json, values[v]);
	}
	gp_json_text(json, "]");
}

static void put_shapes(struct gp_html_timeline *timeline)
{
	const struct gp_scope *scope = timeline->walk.scope;
	const char *separator = "";

	for (size_t m = 0; m < scope->model_count; m++)
		for (uint32_t i = 0; i < scope->models[m]->shape_count; i++) {
			gp_json_text(&timeline->shapes, separator);
			put_shape(&timeline->shapes, scope->models[m],
				  &scope->models[m]->shapes[i]);
			separator = ",\n";
		}
}

/* Includes calls and operations that are not among the longest events. */
static void find_end(struct gp_html_timeline *timeline)
{
	const struct gp_scope *scope = timeline->walk.scope;

	for (size_t m = 0; m < scope->model_count; m++) {
		const struct gp_model *model = scope->models[m];
		uint64_t last_ns = gp_html_track_time(&timeline->walk, model, model->last_ns);

		if (model->call_count + model->op_count > 0 && last_ns > timeline->end_ns)
			timeline->end_ns = last_ns;
	}
}

int gp_html_timeline_write(struct gp_html_timeline *timeline, FILE *out)
{
	struct writer writer = {.timeline = timeline};
	int result = gp_html_columns_open(&writer.columns, out, "events", COLUMNS);

	if (result == 0)
		result = gp_json_open(&timeline->tracks, NULL);
	if (result == 0)
		result = gp_json_open(&timeline->shapes, NULL);
	timeline->walk.take = put_track;
	timeline->walk.context = &writer;
	if (result == 0)
		result = gp_html_tracks_walk(&timeline->walk);
	if (result == 0) {
		find_end(timeline);
		put_shapes(timeline);
	}
	gp_html_columns_close(&writer.columns);
	gp_spill_free(writer.event_of_call);
	return result < 0 ? result : 0;
}

void gp_html_timeline_free(struct gp_html_timeline *timeline)
{
	gp_html_tracks_free(&timeline->walk);
	gp_json_close(&timeline->tracks);
	gp_json_close(&timeline->shapes);
}
