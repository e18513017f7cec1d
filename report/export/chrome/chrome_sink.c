/*
 * The sink of the timeline walk: writes tracks, slices and instants with their arguments, and
 * counters.  Frequent kinds of events have their own writers.
 */
#include <stdio.h>
#include <string.h>

#include "report/export/chrome/chrome_writer.h"
#include "report/export/payload_json.h"

/* ---- tracks ---- */

/* Names of tracks and counters of a GPU contain their process. */
static const char *owner_separator(const struct gp_chrome *chrome)
{
	return *chrome->owner ? ": " : "";
}

static void begin_host_track(struct gp_chrome *chrome, const struct gp_timeline_track *track)
{
	snprintf(chrome->track_name, sizeof(chrome->track_name), "%s", track->name);
	gp_chrome_begin_track(chrome, &chrome->host_tids, chrome->host_pid,
			      gp_chrome_fresh_tid(&chrome->host_tids), track->is_nesting);
}

static void begin_device_track(struct gp_chrome *chrome, const struct gp_timeline_track *track)
{
	struct gp_chrome_gpu *gpu = track->device_id != GP_NONE
					    ? gp_chrome_gpu(chrome, (uint16_t)track->device_id)
					    : NULL;
	struct gp_chrome_tids *tids = gpu ? &gpu->tids : &chrome->host_tids;

	snprintf(chrome->track_name, sizeof(chrome->track_name), "%s%s%s", chrome->owner,
		 owner_separator(chrome), track->name);
	if (track->kind == GP_TRACK_SYNC)
		gp_chrome_begin_track_of(
			chrome, (struct gp_chrome_stream){(uint16_t)track->device_id,
							  track->context_id, track->stream_id, 0});
	else
		gp_chrome_begin_track(chrome, tids, gpu ? gpu->pid : chrome->host_pid,
				      gp_chrome_fresh_tid(tids), track->is_nesting);
}

static int take_track(void *context, const struct gp_timeline_track *track)
{
	struct gp_chrome *chrome = context;

	gp_chrome_end_python(chrome);
	chrome->track_kind = track->kind;
	chrome->is_again = track->is_again;
	chrome->thread_id = track->thread_id;
	switch (track->kind) {
	case GP_TRACK_PROCESS:
		chrome->pid = chrome->host_pid;
		break;
	case GP_TRACK_THREAD:
		if (track->is_again)
			chrome->pid = chrome->host_pid;
		else
			gp_chrome_begin_thread(chrome, track->thread_id);
		break;
	case GP_TRACK_PYTHON:
	case GP_TRACK_HOST:
		begin_host_track(chrome, track);
		break;
	case GP_TRACK_STREAM_RANGES:
	case GP_TRACK_STREAM:
		gp_chrome_begin_stream(chrome, track);
		break;
	case GP_TRACK_SYNC:
	case GP_TRACK_DEVICE:
		begin_device_track(chrome, track);
	}
	return chrome->error;
}

/* ---- events ---- */

static void put_bits(struct gp_json *json, uint64_t bits)
{
	const char *separator = "[";

	if (bits == 0)
		gp_json_text(json, separator);
	for (uint32_t i = 0; i < 64; i++) {
		if ((bits >> i & 1) == 0)
			continue;
		gp_json_text(json, separator);
		gp_json_unsigned(json, i);
		separator = ",";
	}
	gp_json_text(json, "]");
}

static void put_value(struct gp_chrome *chrome, const struct gp_timeline_arg *arg)
{
	struct gp_json *json = &chrome->json;

	switch (arg->type) {
	case GP_ARG_NUMBER:
		gp_chrome_put_number(json, arg->number);
		break;
	case GP_ARG_SIGNED:
		gp_json_signed(json, (int64_t)arg->number);
		break;
	case GP_ARG_ADDRESS:
		gp_json_address(json, arg->number);
		break;
	case GP_ARG_RATIO:
		gp_json_ratio(json, arg->number, arg->per);
		break;
	case GP_ARG_TIME:
		gp_json_us(json, arg->number);
		break;
	case GP_ARG_TEXT:
		gp_json_string(json, arg->text, strlen(arg->text));
		break;
	case GP_ARG_BITS:
		put_bits(json, arg->number);
		break;
	case GP_ARG_PAYLOAD:
		gp_payload_json_value(json, (uint8_t)arg->per, arg->number);
		break;
	case GP_ARG_FIELDS:
		gp_payload_json_fields(json, chrome->model, (uint32_t)arg->number);
	}
}

static void put_args(struct gp_chrome *chrome, const struct gp_timeline_event *event)
{
	struct gp_json *json = &chrome->json;

	gp_json_text(json, ",\"args\":{");
	for (uint32_t i = 0; i < event->arg_count; i++) {
		gp_json_text(json, i == 0 ? "\"" : ",\"");
		gp_json_text(json, event->args[i].key);
		gp_json_text(json, "\":");
		put_value(chrome, &event->args[i]);
	}
	gp_json_text(json, "}}");
}

static void write_instant(struct gp_chrome *chrome, const struct gp_timeline_event *event)
{
	bool is_of_process = chrome->track_kind == GP_TRACK_PROCESS;
	uint32_t tid = is_of_process      ? chrome->host_pid
		       : chrome->is_again ? chrome->thread_id
					  : gp_chrome_first_tid(chrome);

	gp_chrome_open(chrome, "i", gp_timeline_categories[event->kind], event->name, tid,
		       event->start_ns);
	gp_json_text(&chrome->json, is_of_process ? ",\"s\":\"p\"" : ",\"s\":\"t\"");
	put_args(chrome, event);
}

/*
 * Slices that are derived from others do not count for the limit.  Ranges on the track of a stream
 * overlap its operations.
 */
static uint32_t place(struct gp_chrome *chrome, const struct gp_timeline_event *event)
{
	if (event->kind == GP_TIMELINE_STREAM_RANGE && chrome->options->ranges_on_streams)
		return gp_chrome_first_tid(chrome);
	return event->kind == GP_TIMELINE_STREAM_RANGE || event->kind == GP_TIMELINE_PATH ||
			       event->kind == GP_TIMELINE_PHASE
		       ? gp_chrome_place_again(chrome, event->start_ns, event->end_ns)
		       : gp_chrome_place(chrome, event->start_ns, event->end_ns);
}

static void write_slice(struct gp_chrome *chrome, const struct gp_timeline_event *event)
{
	uint32_t tid = place(chrome, event);

	gp_chrome_open(chrome, "X", gp_timeline_categories[event->kind], event->name, tid,
		       event->start_ns);
	gp_json_key(&chrome->json, "dur");
	gp_json_us(&chrome->json, event->end_ns - event->start_ns);
	put_args(chrome, event);
}

/* Two events; viewers draw the time between them on a separate track. */
static void write_started(struct gp_chrome *chrome, const struct gp_timeline_event *event)
{
	const char *category = gp_timeline_categories[event->kind];
	uint32_t tid = gp_chrome_first_tid(chrome);

	chrome->last_async++;
	gp_chrome_open(chrome, "b", category, event->name, tid, event->start_ns);
	gp_chrome_put_field(&chrome->json, "id", chrome->last_async);
	put_args(chrome, event);
	gp_chrome_open(chrome, "e", category, event->name, tid, event->end_ns);
	gp_chrome_put_field(&chrome->json, "id", chrome->last_async);
	gp_json_text(&chrome->json, ",\"args\":{\"thread\":");
	gp_json_unsigned(&chrome->json, event->of.range->end_thread_id);
	gp_json_text(&chrome->json, "}}");
}

static void write_any(struct gp_chrome *chrome, const struct gp_timeline_event *event)
{
	bool is_range = event->kind == GP_TIMELINE_RANGE;
	bool is_started = is_range && event->of.range->style == GP_STYLE_START_END;

	if (event->is_instant)
		write_instant(chrome, event);
	else if (is_started && !event->is_elsewhere)
		write_started(chrome, event);
	else if (!event->is_elsewhere)
		write_slice(chrome, event);
	else if (is_range && !is_started)
		gp_chrome_place_again(chrome, event->start_ns, event->end_ns);
}

static int take_event(void *context, const struct gp_timeline_event *event)
{
	struct gp_chrome *chrome = context;

	switch (event->kind) {
	case GP_TIMELINE_RUNTIME_CALL:
	case GP_TIMELINE_DRIVER_CALL:
		gp_chrome_write_call(chrome, event);
		break;
	case GP_TIMELINE_KERNEL:
	case GP_TIMELINE_COPY:
	case GP_TIMELINE_MEMSET:
	case GP_TIMELINE_GRAPH:
		gp_chrome_write_op(chrome, event);
		break;
	case GP_TIMELINE_PYTHON:
		gp_chrome_write_python(chrome, event);
		break;
	default:
		write_any(chrome, event);
	}
	return chrome->error;
}

/* ---- counters ---- */

static void name_counter(const struct gp_chrome *chrome, const struct gp_timeline_counter *counter,
			 const struct gp_chrome_gpu *gpu, char *text, size_t bytes)
{
	bool is_memory = counter->kind == GP_TIMELINE_MEMORY;
	bool has_owner = *chrome->owner && counter->kind != GP_TIMELINE_IN_USE;
	/* with several series, their names are those of directions */
	bool needs_unit = counter->kind == GP_TIMELINE_BANDWIDTH &&
			  strcmp(counter->series[0].name, "GB/s") != 0;
	char number[16] = "";

	if (!gpu) {
		snprintf(text, bytes, "Host %s", counter->name);
		return;
	}
	if (counter->kind != GP_TIMELINE_QUEUE)
		snprintf(number, sizeof(number), "GPU %u ", gpu->number);
	snprintf(text, bytes, "%s%s%s%s%s%s%s", has_owner && !is_memory ? chrome->owner : "",
		 has_owner && !is_memory ? ": " : "", number, counter->name,
		 needs_unit ? " GB/s" : "", has_owner && is_memory ? ", " : "",
		 has_owner && is_memory ? chrome->owner : "");
}

static void put_count(struct gp_json *json, enum gp_timeline_counter_kind kind, uint64_t value)
{
	double divisor = gp_timeline_divisor(kind);
	char number[32];

	if (divisor == 1) {
		gp_chrome_put_number(json, value);
		return;
	}
	snprintf(number, sizeof(number), "%.3f", (double)value / divisor);
	gp_json_text(json, number);
}

static int take_counter(void *context, const struct gp_timeline_counter *counter)
{
	struct gp_chrome *chrome = context;
	struct gp_json *json = &chrome->json;
	const struct gp_chrome_gpu *gpu =
		counter->device_id == GP_NONE ? NULL
					      : gp_chrome_gpu(chrome, (uint16_t)counter->device_id);
	char name[160];

	name_counter(chrome, counter, gpu, name, sizeof(name));
	gp_json_text(json, ",\n{\"ph\":\"C\",\"name\":\"");
	gp_json_text(json, name);
	gp_json_text(json, "\",\"pid\":");
	gp_json_unsigned(json, gpu ? gpu->pid : chrome->host_pid);
	gp_json_text(json, ",\"ts\":");
	gp_json_us(json, counter->time_ns + chrome->offset_ns);
	gp_json_text(json, ",\"args\":{");
	for (uint32_t i = 0; i < counter->series_count; i++) {
		gp_json_text(json, i == 0 ? "" : ",");
		gp_json_string(json, counter->series[i].name, strlen(counter->series[i].name));
		gp_json_text(json, ":");
		put_count(json, counter->kind, counter->series[i].value);
	}
	gp_json_text(json, "}}");
	return chrome->error;
}

const struct gp_timeline_sink gp_chrome_sink = {
	.track = take_track, .event = take_event, .counter = take_counter};
