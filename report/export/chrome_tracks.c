#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/array.h"
#include "report/export/chrome_writer.h"
#include "report/memory_stats.h"

/* Lanes of one track that are told apart by the viewer's order; more of them are drawn, in any
 * order. */
#define SORTED_LANES 100u

static int compare_tids(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

uint32_t gp_chrome_fresh_tid(struct gp_chrome_tids *tids)
{
	if (tids->next < GP_CHROME_FIRST_FREE_TID)
		tids->next = GP_CHROME_FIRST_FREE_TID;
	while (tids->count > 0 &&
	       bsearch(&tids->next, tids->taken, tids->count, sizeof(*tids->taken), compare_tids))
		tids->next++;
	return tids->next++;
}

void gp_chrome_begin_track(struct gp_chrome *chrome, struct gp_chrome_tids *tids, uint32_t pid,
			   uint32_t tid, bool nesting)
{
	if (gp_lanes_begin(&chrome->lanes, nesting) < 0)
		chrome->error = -ENOMEM;
	chrome->tids = tids;
	chrome->pid = pid;
	chrome->tid = tid;
	chrome->lane_count = 0;
	chrome->sort_index++;
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

static bool add_lane(struct gp_chrome *chrome)
{
	uint32_t lane = chrome->lane_count;

	if (gp_array_grow(&chrome->lane_tids, &chrome->lane_capacity, lane,
			  sizeof(*chrome->lane_tids)) < 0)
		return false;
	chrome->lane_tids[lane] = lane == 0 ? chrome->tid : gp_chrome_fresh_tid(chrome->tids);
	chrome->lane_count++;
	name_lane(chrome, lane);
	return true;
}

uint32_t gp_chrome_place(struct gp_chrome *chrome, uint64_t start_ns, uint64_t end_ns)
{
	uint32_t lane;

	if (gp_lanes_place(&chrome->lanes, start_ns, end_ns, &lane) < 0)
		goto fail;
	while (lane >= chrome->lane_count)
		if (!add_lane(chrome))
			goto fail;
	chrome->slices++;
	return chrome->lane_tids[lane];
fail:
	chrome->error = -ENOMEM;
	return chrome->tid;
}

uint32_t gp_chrome_gpu_pid(const struct gp_chrome *chrome, uint16_t device_id)
{
	return chrome->gpu_pid_base + device_id;
}

static void write_process(struct gp_chrome *chrome, uint32_t pid, const char *name,
			  const char *label, uint32_t sort_index)
{
	put_metadata_text(chrome, "process_name", pid, 0, "name", name);
	put_metadata_text(chrome, "process_labels", pid, 0, "labels", label);
	put_metadata_number(chrome, "process_sort_index", pid, 0, sort_index);
}

static void write_device(struct gp_chrome *chrome, uint16_t device_id)
{
	const struct gp_model *model = chrome->model;
	const struct gp_record_device *device = gp_model_device(model, device_id);
	const char *name = device ? model->device_names[device - model->devices] : NULL;
	char label[24], title[160];

	snprintf(label, sizeof(label), "GPU %u", device_id);
	snprintf(title, sizeof(title), name && *name ? "%s: %.120s" : "%s", label, name);
	write_process(chrome, gp_chrome_gpu_pid(chrome, device_id), title, label,
		      GP_CHROME_GPU_BASE + device_id);
}

static void mark(struct gp_chrome *chrome, uint16_t device_id)
{
	chrome->devices[device_id / 8] |= (uint8_t)(1u << device_id % 8);
}

static bool is_marked(const struct gp_chrome *chrome, uint32_t device_id)
{
	return chrome->devices[device_id / 8] >> device_id % 8 & 1;
}

void gp_chrome_find_processes(struct gp_chrome *chrome)
{
	const struct gp_model *model = chrome->model;

	for (uint32_t i = 0; i < model->op_count; i++)
		mark(chrome, model->ops[i].device_id);
	for (uint32_t i = 0; i < model->memory_count; i++)
		if (!gp_memory_is_of_host(model->memory[i].memory_kind))
			mark(chrome, model->memory[i].device_id);
	for (uint32_t i = 0; i < model->usage_count; i++)
		mark(chrome, model->usages[i].device_id);
	chrome->host_pid = model->pid;
	if (model->pid <= UINT16_MAX && is_marked(chrome, model->pid))
		chrome->gpu_pid_base = GP_CHROME_GPU_BASE;
}

void gp_chrome_write_processes(struct gp_chrome *chrome)
{
	const char *program = chrome->model->info[GP_INFO_PROGRAM];

	write_process(chrome, chrome->host_pid, program && *program ? program : "program", "CPU",
		      chrome->host_pid);
	for (uint32_t device_id = 0; device_id <= UINT16_MAX; device_id++)
		if (is_marked(chrome, device_id))
			write_device(chrome, (uint16_t)device_id);
}
