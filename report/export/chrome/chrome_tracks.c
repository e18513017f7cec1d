#include <stdio.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/export/chrome/chrome_writer.h"

/* Lanes of a track with an order in the viewer; further ones are in any order. */
#define SORTED_LANES 100u

static int compare_tids(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/* Includes tids from gp_chrome_fresh_tid(). */
bool gp_chrome_is_taken(const struct gp_chrome_tids *tids, uint32_t tid)
{
	if (tid >= GP_CHROME_FIRST_FREE_TID && tid < tids->next)
		return true;
	return tids->count > 0 &&
	       bsearch(&tid, tids->taken, tids->count, sizeof(*tids->taken), compare_tids);
}

uint32_t gp_chrome_fresh_tid(struct gp_chrome_tids *tids)
{
	if (tids->next < GP_CHROME_FIRST_FREE_TID)
		tids->next = GP_CHROME_FIRST_FREE_TID;
	while (gp_chrome_is_taken(tids, tids->next))
		tids->next++;
	return tids->next++;
}

void gp_chrome_take_tids(struct gp_chrome_tids *tids, const uint32_t *more, uint32_t count)
{
	uint32_t *taken =
		realloc(tids->taken, ((size_t)tids->count + count + 1) * sizeof(*tids->taken));

	memcpy(taken + tids->count, more, count * sizeof(*more));
	tids->taken = taken;
	tids->count += count;
	qsort(taken, tids->count, sizeof(*taken), compare_tids);
}

/* The number of a key of the track, from 0; *is_new: it is new. */
static uint32_t number_of(struct gp_chrome *chrome, char what, uint32_t lane, bool *is_new)
{
	char key[sizeof(chrome->track_key) + 16];
	uint32_t count = chrome->tracks.count, number;

	snprintf(key, sizeof(key), "%c%u %s", what, lane, chrome->track_key);
	number = gp_groups_find(&chrome->tracks, key);
	*is_new = chrome->tracks.count > count;
	return number;
}

/* The tid of a lane in all parts of a process. */
static uint32_t lasting_tid(struct gp_chrome *chrome, uint32_t lane)
{
	bool is_new;

	return GP_CHROME_FIRST_FREE_TID + number_of(chrome, 't', lane, &is_new);
}

/* owner: distinguishes tracks with the same name. */
static void begin_track(struct gp_chrome *chrome, struct gp_chrome_tids *tids, uint32_t pid,
			uint32_t tid, bool nesting, uint32_t owner)
{
	gp_lanes_begin(&chrome->lanes, nesting);
	chrome->tids = tids;
	chrome->pid = pid;
	chrome->tid = tid;
	chrome->lane_count = 0;
	chrome->sort_index = ++chrome->last_sort_index;
	if (!chrome->are_parts)
		return;
	snprintf(chrome->track_key, sizeof(chrome->track_key), "%u %u %s", pid, owner,
		 chrome->track_name);
	if (tid >= GP_CHROME_FIRST_FREE_TID)
		chrome->tid = lasting_tid(chrome, 0);
}

void gp_chrome_begin_track(struct gp_chrome *chrome, struct gp_chrome_tids *tids, uint32_t pid,
			   uint32_t tid, bool nesting)
{
	begin_track(chrome, tids, pid, tid, nesting, 0);
}

void gp_chrome_note_stream(struct gp_chrome *chrome, struct gp_chrome_stream stream)
{
	gp_array_grow(&chrome->streams, &chrome->stream_capacity, chrome->stream_count,
		      sizeof(*chrome->streams));
	stream.sort_index = chrome->sort_index;
	chrome->streams[chrome->stream_count++] = stream;
	chrome->last_sort_index++; /* reserved for gp_chrome_begin_track_of() */
}

static int compare_streams(const void *a, const void *b)
{
	const struct gp_chrome_stream *left = a, *right = b;

	if (left->device_id != right->device_id)
		return left->device_id < right->device_id ? -1 : 1;
	if (left->context_id != right->context_id)
		return left->context_id < right->context_id ? -1 : 1;
	return (left->stream_id > right->stream_id) - (left->stream_id < right->stream_id);
}

void gp_chrome_begin_track_of(struct gp_chrome *chrome, struct gp_chrome_stream stream)
{
	struct gp_chrome_gpu *gpu = gp_chrome_gpu(chrome, stream.device_id);
	const struct gp_chrome_stream *drawn =
		chrome->stream_count > 0 ? bsearch(&stream, chrome->streams, chrome->stream_count,
						   sizeof(stream), compare_streams)
					 : NULL;

	begin_track(chrome, &gpu->tids, gpu->pid, gp_chrome_fresh_tid(&gpu->tids), false,
		    stream.context_id);
	if (drawn)
		chrome->sort_index = drawn->sort_index + 1;
}

static void put_metadata(struct gp_chrome *chrome, const char *event, uint32_t pid, uint32_t tid)
{
	struct gp_json *json = &chrome->json;

	gp_json_text(json, chrome->begun ? ",\n" : "\n");
	chrome->begun = true;
	gp_json_text(json, "{\"ph\":\"M\",\"name\":\"");
	gp_json_text(json, event);
	gp_json_text(json, "\",\"pid\":");
	gp_json_unsigned(json, pid);
	gp_json_text(json, ",\"tid\":");
	gp_json_unsigned(json, tid);
	gp_json_text(json, ",\"args\":{");
}

static void put_metadata_text(struct gp_chrome *chrome, const char *event, uint32_t pid,
			      uint32_t tid, const char *key, const char *text)
{
	struct gp_json *json = &chrome->json;

	put_metadata(chrome, event, pid, tid);
	gp_json_string(json, key, strlen(key));
	gp_json_text(json, ":");
	gp_json_string(json, text, strlen(text));
	gp_json_text(json, "}}");
}

static void put_metadata_number(struct gp_chrome *chrome, const char *event, uint32_t pid,
				uint32_t tid, uint32_t number)
{
	put_metadata(chrome, event, pid, tid);
	gp_json_text(&chrome->json, "\"sort_index\":");
	gp_json_unsigned(&chrome->json, number);
	gp_json_text(&chrome->json, "}}");
}

static void name_lane(struct gp_chrome *chrome, uint32_t lane)
{
	uint32_t tid = chrome->lane_tids[lane];
	char name[sizeof(chrome->track_name) + 24];

	snprintf(name, sizeof(name), lane > 0 ? "%s, lane %u" : "%s", chrome->track_name, lane + 1);
	put_metadata_text(chrome, "thread_name", chrome->pid, tid, "name", name);
	put_metadata_number(chrome, "thread_sort_index", chrome->pid, tid,
			    chrome->sort_index * SORTED_LANES +
				    (lane < SORTED_LANES ? lane : SORTED_LANES - 1));
}

static void add_lane(struct gp_chrome *chrome)
{
	uint32_t lane = chrome->lane_count;
	bool is_new = true;

	gp_array_grow(&chrome->lane_tids, &chrome->lane_capacity, lane, sizeof(*chrome->lane_tids));
	chrome->lane_tids[lane] = lane == 0           ? chrome->tid
				  : chrome->are_parts ? lasting_tid(chrome, lane)
						      : gp_chrome_fresh_tid(chrome->tids);
	chrome->lane_count++;
	if (chrome->are_parts)
		number_of(chrome, 'n', lane, &is_new);
	if (is_new)
		name_lane(chrome, lane);
}

uint32_t gp_chrome_first_tid(struct gp_chrome *chrome)
{
	if (chrome->lane_count == 0)
		add_lane(chrome);
	return chrome->tid;
}

uint32_t gp_chrome_place(struct gp_chrome *chrome, uint64_t start_ns, uint64_t end_ns)
{
	uint32_t lane;

	gp_lanes_place(&chrome->lanes, start_ns, end_ns, &lane);
	while (lane >= chrome->lane_count)
		add_lane(chrome);
	chrome->slices++;
	return chrome->lane_tids[lane];
}

uint32_t gp_chrome_place_again(struct gp_chrome *chrome, uint64_t start_ns, uint64_t end_ns)
{
	uint32_t tid = gp_chrome_place(chrome, start_ns, end_ns);

	chrome->slices--;
	return tid;
}

void gp_chrome_name_process(struct gp_chrome *chrome, uint32_t pid, const char *name,
			    const char *label, uint32_t sort_index)
{
	put_metadata_text(chrome, "process_name", pid, 0, "name", name);
	put_metadata_text(chrome, "process_labels", pid, 0, "labels", label);
	put_metadata_number(chrome, "process_sort_index", pid, 0, sort_index);
}
