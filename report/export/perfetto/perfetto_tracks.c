#include <stdio.h>
#include <string.h>

#include "report/base/array.h"
#include "report/export/perfetto/perfetto_schema.h"
#include "report/export/perfetto/perfetto_writer.h"

/* Tid of threads that shared a ring and cannot be distinguished; no thread of Linux has it. */
#define UNKNOWN_THREAD 0x7fffffffu

static void close_track(struct gp_perfetto *p)
{
	gp_protobuf_message(&p->packet, PACKET_TRACK, &p->event);
	gp_perfetto_close(p);
}

void gp_perfetto_write_process(struct gp_perfetto *p)
{
	const char *program = p->model->info[GP_INFO_PROGRAM];
	const char *command = p->model->info[GP_INFO_COMMAND];

	p->process_track = ++p->last_track;
	p->parent_track = p->process_track;
	gp_perfetto_open(p, 0);
	gp_protobuf_number(&p->event, TRACK_UUID, p->process_track);
	gp_protobuf_number(&p->inner, PROCESS_PID, p->pid);
	if (command)
		gp_protobuf_text(&p->inner, PROCESS_CMDLINE, command);
	gp_protobuf_text(&p->inner, PROCESS_NAME, program && *program ? program : "program");
	gp_protobuf_message(&p->event, TRACK_PROCESS, &p->inner);
	close_track(p);
}

static void begin_lanes(struct gp_perfetto *p, bool nesting)
{
	p->lane_count = 0;
	gp_lanes_begin(&p->lanes, nesting);
}

uint64_t *gp_perfetto_lasting(struct gp_perfetto *p, const char *what, const char *name)
{
	char key[256];
	uint32_t number;

	snprintf(key, sizeof(key), "%s %s", what, name);
	number = gp_groups_find(&p->lasting, key);
	gp_array_grow(&p->lasting_numbers, &p->lasting_capacity, number,
		      sizeof(*p->lasting_numbers));
	if (number >= p->lasting_count) {
		p->lasting_count = number + 1;
		p->lasting_numbers[number] = 0;
	}
	return &p->lasting_numbers[number];
}

/* Add a lane to the current track; returns its track number.  *is_new: no earlier part has it. */
static uint64_t add_lane(struct gp_perfetto *p, bool *is_new)
{
	char lane[24];
	uint64_t *known;

	snprintf(lane, sizeof(lane), "lane %u", p->lane_count);
	known = gp_perfetto_lasting(p, lane, p->track_name);
	*is_new = *known == 0;
	if (*is_new)
		*known = ++p->last_track;
	gp_array_grow(&p->lane_tracks, &p->lane_capacity, p->lane_count, sizeof(*p->lane_tracks));
	return p->lane_tracks[p->lane_count++] = *known;
}

/* Write the next lane as a named track; the first lane of a thread is the thread itself. */
static uint64_t write_lane(struct gp_perfetto *p)
{
	char name[sizeof(p->track_name) + 24];
	uint32_t lane = p->lane_count;
	bool is_new;
	uint64_t track = add_lane(p, &is_new);

	if (!is_new)
		return track;
	snprintf(name, sizeof(name), lane > 0 ? "%s, lane %u" : "%s", p->track_name, lane + 1);
	gp_perfetto_open(p, 0);
	gp_protobuf_number(&p->event, TRACK_UUID, track);
	gp_protobuf_number(&p->event, TRACK_PARENT, p->parent_track);
	gp_protobuf_text(&p->event, TRACK_NAME, name);
	close_track(p);
	return track;
}

void gp_perfetto_begin_thread(struct gp_perfetto *p, uint32_t thread_id)
{
	const char *name = gp_model_thread_name(p->model, thread_id);
	uint64_t track;
	bool is_new;

	begin_lanes(p, true);
	p->parent_track = p->process_track;
	snprintf(p->track_name, sizeof(p->track_name), "thread %u", thread_id);
	track = add_lane(p, &is_new);
	if (!is_new)
		return;
	gp_perfetto_open(p, 0);
	gp_protobuf_number(&p->event, TRACK_UUID, track);
	gp_protobuf_number(&p->event, TRACK_PARENT, p->process_track);
	gp_protobuf_number(&p->inner, THREAD_PID, p->pid);
	gp_protobuf_number(&p->inner, THREAD_TID,
			   thread_id ? thread_id & INT32_MAX : UNKNOWN_THREAD);
	if (*name || thread_id == 0)
		gp_protobuf_text(&p->inner, THREAD_NAME, thread_id ? name : "threads not known");
	gp_protobuf_message(&p->event, TRACK_THREAD, &p->inner);
	close_track(p);
}

void gp_perfetto_begin_track(struct gp_perfetto *p, const char *name, bool nesting)
{
	p->parent_track = p->process_track;
	snprintf(p->track_name, sizeof(p->track_name), "%s", name);
	begin_lanes(p, nesting);
}

uint64_t gp_perfetto_place(struct gp_perfetto *p, uint64_t start_ns, uint64_t end_ns)
{
	uint32_t lane;

	gp_lanes_place(&p->lanes, start_ns, end_ns, &lane);
	while (p->error == 0 && lane >= p->lane_count)
		write_lane(p);
	return p->error == 0 ? p->lane_tracks[lane] : 0;
}

uint64_t gp_perfetto_first_track(struct gp_perfetto *p)
{
	return p->lane_count > 0 ? p->lane_tracks[0] : write_lane(p);
}

/* Perfetto knows some units; others are named. */
static void put_unit(struct gp_protobuf *counter, enum gp_perfetto_unit unit)
{
	static const char *const names[] = {[GP_PERFETTO_UNIT_GB_PER_S] = "GB/s",
					    [GP_PERFETTO_UNIT_PERCENT] = "%",
					    [GP_PERFETTO_UNIT_MHZ] = "MHz",
					    [GP_PERFETTO_UNIT_WATTS] = "W",
					    [GP_PERFETTO_UNIT_JOULES] = "J"};

	if (names[unit])
		gp_protobuf_text(counter, COUNTER_UNIT_NAME, names[unit]);
	else
		gp_protobuf_number(counter, COUNTER_UNIT,
				   unit == GP_PERFETTO_UNIT_COUNT ? COUNTER_UNIT_COUNT
								  : COUNTER_UNIT_BYTES);
}

uint64_t gp_perfetto_counter(struct gp_perfetto *p, const char *name, enum gp_perfetto_unit unit)
{
	uint64_t *known = gp_perfetto_lasting(p, "counter", name), track;

	if (*known != 0)
		return *known;
	track = *known = ++p->last_track;
	gp_perfetto_open(p, 0);
	gp_protobuf_number(&p->event, TRACK_UUID, track);
	gp_protobuf_number(&p->event, TRACK_PARENT, p->process_track);
	gp_protobuf_text(&p->event, TRACK_NAME, name);
	put_unit(&p->inner, unit);
	gp_protobuf_message(&p->event, TRACK_COUNTER, &p->inner);
	close_track(p);
	return track;
}
