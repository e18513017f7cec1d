/* The sink of the timeline walk: tracks, slices and instants with their arguments, counters. */
#include <stdio.h>

#include "report/export/perfetto/perfetto_schema.h"
#include "report/export/perfetto/perfetto_writer.h"
#include "report/symbols/call_tree.h"

/* ---- tracks ---- */

static uint32_t number_of(struct gp_perfetto *p, uint32_t device_id)
{
	return gp_gpu_numbers_find(&p->gpus, p->model, (uint16_t)device_id, NULL);
}

/* These are tracks of the process: in Perfetto a GPU queue accepts only operations. */
static void name_track(struct gp_perfetto *p, const struct gp_timeline_track *track, char *name,
		       size_t bytes)
{
	if (track->kind == GP_TRACK_STREAM_RANGES)
		snprintf(name, bytes, "ranges on GPU %u, stream %u, context %u",
			 number_of(p, track->device_id), track->stream_id, track->context_id);
	else if (track->kind == GP_TRACK_SYNC && track->stream_id != GP_NO_STREAM)
		snprintf(name, bytes, "GPU %u %s, context %u", number_of(p, track->device_id),
			 track->name, track->context_id);
	else if (track->kind == GP_TRACK_SYNC ||
		 (track->kind == GP_TRACK_DEVICE && track->device_id != GP_NONE))
		snprintf(name, bytes, "GPU %u %s", number_of(p, track->device_id), track->name);
	else
		snprintf(name, bytes, "%s", track->name);
}

static int take_track(void *context, const struct gp_timeline_track *track)
{
	struct gp_perfetto *p = context;
	char name[sizeof(p->track_name)];

	p->track_kind = track->kind;
	switch (track->kind) {
	case GP_TRACK_PROCESS:
		break;
	case GP_TRACK_THREAD:
		gp_perfetto_begin_thread(p, track->thread_id);
		break;
	case GP_TRACK_STREAM:
		gp_perfetto_begin_stream(p);
		break;
	default:
		name_track(p, track, name, sizeof(name));
		gp_perfetto_begin_track(p, name, track->is_nesting);
	}
	return p->error;
}

/* ---- events ---- */

static void put_args(struct gp_perfetto *p, const struct gp_timeline_event *event)
{
	for (uint32_t i = 0; i < event->arg_count; i++)
		gp_perfetto_arg(p, &event->args[i]);
}

static void write_instant(struct gp_perfetto *p, const struct gp_timeline_event *event)
{
	uint64_t track =
		p->track_kind == GP_TRACK_PROCESS ? p->process_track : gp_perfetto_first_track(p);

	gp_perfetto_open_event(p, GP_PERFETTO_INSTANT, track, event->start_ns);
	gp_perfetto_name_event(p, event->kind, gp_perfetto_text_name(p, event->name));
	put_args(p, event);
	gp_perfetto_close_event(p);
}

static void write_slice(struct gp_perfetto *p, const struct gp_timeline_event *event)
{
	uint64_t track = gp_perfetto_place(p, event->start_ns, event->end_ns);

	gp_perfetto_open_event(p, GP_PERFETTO_BEGIN, track, event->start_ns);
	gp_perfetto_name_event(p, event->kind, gp_perfetto_text_name(p, event->name));
	put_args(p, event);
	gp_perfetto_close_event(p);
	gp_perfetto_end_slice(p, track, event->end_ns);
}

/* Frames of one function share an interned name. */
static uint64_t name_of(struct gp_perfetto *p, const struct gp_frame *frame, struct gp_place place)
{
	uint32_t code = frame->origin < p->model->text_count ? frame->origin : p->model->text_count;
	char label[GP_SITE_LABEL_BYTES];

	place.line = 0;
	return gp_perfetto_name(p, &p->codes[code], gp_site_label(&place, label));
}

/* Python spans nest by construction, and a caller begins with its first callee: no lanes needed. */
static void write_python(struct gp_perfetto *p, const struct gp_timeline_event *event)
{
	const struct gp_host_span *span = event->of.python;
	uint64_t track = gp_perfetto_first_track(p);
	size_t count;
	const struct gp_place *place = gp_symbols_find(p->symbols, p->model, span->frame, &count);

	gp_perfetto_open_event(p, GP_PERFETTO_BEGIN, track, span->start_ns);
	gp_perfetto_name_event(p, event->kind, name_of(p, &p->model->frames[span->frame], *place));
	gp_perfetto_note(p, GP_PERFETTO_SAMPLES, span->samples);
	gp_perfetto_note(p, GP_PERFETTO_LINE, place->line);
	gp_perfetto_close_event(p);
	gp_perfetto_end_slice(p, track, span->end_ns);
}

static int take_event(void *context, const struct gp_timeline_event *event)
{
	struct gp_perfetto *p = context;

	if (event->is_elsewhere) {
		if (!gp_timeline_is_op(event))
			gp_perfetto_place(p, event->start_ns, event->end_ns);
		return p->error;
	}
	switch (event->kind) {
	case GP_TIMELINE_RUNTIME_CALL:
	case GP_TIMELINE_DRIVER_CALL:
		gp_perfetto_write_call(p, event);
		break;
	case GP_TIMELINE_KERNEL:
	case GP_TIMELINE_COPY:
	case GP_TIMELINE_MEMSET:
	case GP_TIMELINE_GRAPH:
		gp_perfetto_write_op(p, event);
		break;
	case GP_TIMELINE_PYTHON:
		write_python(p, event);
		break;
	default:
		if (event->is_instant)
			write_instant(p, event);
		else
			write_slice(p, event);
	}
	return p->error;
}

/* ---- counters ---- */

/* Each series is a counter; series of memory and pools, and one of several, have names. */
static uint64_t track_of(struct gp_perfetto *p, const struct gp_timeline_counter *counter,
			 uint32_t series)
{
	static const enum gp_perfetto_unit units[] = {
		[GP_TIMELINE_MEMORY] = GP_PERFETTO_UNIT_BYTES,
		[GP_TIMELINE_IN_USE] = GP_PERFETTO_UNIT_BYTES,
		[GP_TIMELINE_POOL] = GP_PERFETTO_UNIT_BYTES,
		[GP_TIMELINE_QUEUE] = GP_PERFETTO_UNIT_COUNT,
		[GP_TIMELINE_BANDWIDTH] = GP_PERFETTO_UNIT_GB_PER_S,
		[GP_TIMELINE_PERCENT] = GP_PERFETTO_UNIT_PERCENT,
		[GP_TIMELINE_CLOCK] = GP_PERFETTO_UNIT_MHZ,
		[GP_TIMELINE_POWER] = GP_PERFETTO_UNIT_WATTS,
		[GP_TIMELINE_ENERGY] = GP_PERFETTO_UNIT_JOULES,
	};
	bool is_named = counter->kind == GP_TIMELINE_MEMORY || counter->kind == GP_TIMELINE_POOL ||
			counter->series_count > 1;
	char name[160], owner[16] = "Host";

	if (counter->device_id != GP_NONE)
		snprintf(owner, sizeof(owner), "GPU %u", number_of(p, counter->device_id));
	snprintf(name, sizeof(name), "%s %s%s%s", owner, counter->name, is_named ? ": " : "",
		 is_named ? counter->series[series].name : "");
	return gp_perfetto_counter(p, name, units[counter->kind]);
}

static int take_counter(void *context, const struct gp_timeline_counter *counter)
{
	struct gp_perfetto *p = context;
	double divisor = gp_timeline_divisor(counter->kind);

	for (uint32_t i = 0; i < counter->series_count && p->error == 0; i++) {
		uint64_t value = counter->series[i].value, track;

		if (counter->changed != GP_NONE && counter->changed != i)
			continue;
		track = track_of(p, counter, i);
		gp_perfetto_open_event(p, GP_PERFETTO_COUNTER, track, counter->time_ns);
		if (divisor != 1)
			gp_protobuf_double(&p->event, EVENT_COUNTER_REAL, (double)value / divisor);
		else
			gp_protobuf_value(&p->event, EVENT_COUNTER, value);
		gp_perfetto_close_event(p);
	}
	return p->error;
}

const struct gp_timeline_sink gp_perfetto_sink = {
	.track = take_track, .event = take_event, .counter = take_counter};
