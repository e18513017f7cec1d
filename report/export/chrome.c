#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/trace.h"
#include "report/export/chrome_writer.h"
#include "report/format.h"
#include "report/stats.h"

/*
 * Times count from a multiple of this: half of Kineto's quarter of a year, the same for all ranks
 * of a job. Readers hold us in a double and multiply by 1000: that gives every ns below 2^42 us (51
 * days), but not in the day after.
 */
#define BASE_UNIT_NS 3944619000000000u

void gp_chrome_put_times(struct gp_chrome *chrome, uint64_t start_ns, uint64_t end_ns)
{
	struct gp_json *json = &chrome->json;

	gp_json_text(json, ",\"ts\":");
	gp_json_us(json, start_ns + chrome->offset_ns);
	gp_json_text(json, ",\"dur\":");
	gp_json_us(json, end_ns - start_ns);
}

void gp_chrome_put_number(struct gp_json *json, uint64_t value)
{
	if (value > INT64_MAX)
		gp_json_address(json, value);
	else
		gp_json_unsigned(json, value);
}

struct gp_chrome_text gp_chrome_take(struct gp_json *scratch)
{
	struct gp_chrome_text text = {.length = (uint32_t)scratch->used};

	text.bytes = scratch->error == 0 ? malloc(scratch->used + 1) : NULL;
	if (text.bytes)
		memcpy(text.bytes, scratch->buffer, scratch->used);
	else
		text.length = 0;
	scratch->used = 0;
	return text;
}

/* ---- the window ---- */

static uint64_t collect_ends(const struct gp_model *model, uint64_t *ends)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < model->call_count; i++)
		ends[count++] = model->calls[i].start_ns + model->calls[i].duration_ns;
	for (uint32_t i = 0; i < model->op_count; i++)
		if (!model->ops[i].untimed)
			ends[count++] = model->ops[i].end_ns;
	for (uint32_t i = 0; i < model->overhead_count; i++)
		ends[count++] = model->overheads[i].end_ns;
	return count;
}

/* The last slices up to the limit, by their end: those that run into the window belong to it. */
static int choose_window(struct gp_chrome *chrome, uint64_t limit)
{
	const struct gp_model *model = chrome->model;
	uint64_t most = (uint64_t)model->call_count + model->op_count + model->overhead_count;
	uint64_t *ends, count;

	if (limit == 0 || most <= limit)
		return 0;
	ends = malloc(most * sizeof(*ends));
	if (!ends)
		return -ENOMEM;
	count = collect_ends(model, ends);
	if (count > limit) {
		chrome->is_cut = true;
		chrome->cut_ns = gp_stats_select(ends, count, count - limit - 1);
		for (uint64_t i = 0; i < count; i++)
			chrome->slices_left_out += ends[i] <= chrome->cut_ns;
	}
	free(ends);
	return 0;
}

static void explain_window(const struct gp_chrome *chrome)
{
	const struct gp_model *model = chrome->model;
	uint64_t from_ns = chrome->cut_ns > model->first_ns ? chrome->cut_ns - model->first_ns : 0;

	if (!chrome->is_cut || !chrome->options->messages)
		return;
	fprintf(chrome->options->messages,
		"gpuprof: the Chrome trace holds the last %s of %s slices, from %s on; for all: "
		"gpuprof export --format chrome -o FILE.json %s\n",
		gp_format_count(chrome->slices).text,
		gp_format_count(chrome->slices + chrome->slices_left_out).text,
		gp_format_moment(from_ns).text, model->path ? model->path : "TRACE");
}

/* ---- what stands before the events ---- */

static void put_text_field(struct gp_json *json, const char *key, const char *text)
{
	gp_json_string(json, key, strlen(key));
	gp_json_text(json, ": ");
	gp_json_string(json, text, strlen(text));
}

static void put_device(struct gp_json *json, const struct gp_record_device *device,
		       const char *name)
{
	const struct {
		const char *key;
		uint64_t value;
	} fields[] = {
		{"totalGlobalMem", device->memory_bytes},
		{"computeMajor", device->compute_major},
		{"computeMinor", device->compute_minor},
		{"maxThreadsPerBlock", device->max_threads_per_block},
		{"maxThreadsPerMultiprocessor", device->max_threads_per_multiprocessor},
		{"regsPerBlock", device->registers_per_block},
		{"warpSize", device->warp_threads},
		{"sharedMemPerBlock", device->shared_per_block_bytes},
		{"numSms", device->multiprocessors},
		{"regsPerMultiprocessor", device->registers_per_multiprocessor},
		{"sharedMemPerBlockOptin", device->shared_per_block_optin_bytes},
		{"sharedMemPerMultiprocessor", device->shared_per_multiprocessor_bytes},
	};

	gp_json_text(json, "{\"id\": ");
	gp_json_unsigned(json, device->device_id);
	gp_json_text(json, ", ");
	put_text_field(json, "name", name);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		gp_json_text(json, ", ");
		gp_json_string(json, fields[i].key, strlen(fields[i].key));
		gp_json_text(json, ": ");
		gp_chrome_put_number(json, fields[i].value);
	}
	gp_json_text(json, "}");
}

static void put_devices(struct gp_chrome *chrome)
{
	const struct gp_model *model = chrome->model;
	struct gp_json *json = &chrome->json;

	gp_json_text(json, "\"deviceProperties\": [");
	for (uint32_t i = 0; i < model->device_count; i++) {
		gp_json_text(json, i == 0 ? "\n" : ",\n");
		put_device(json, &model->devices[i],
			   model->device_names[i] ? model->device_names[i] : "");
	}
	gp_json_text(json, "],\n");
}

static void put_integer_info(struct gp_chrome *chrome, const char *key, enum gp_info info)
{
	const char *text = chrome->model->info[info];

	if (!text)
		return;
	gp_json_string(&chrome->json, key, strlen(key));
	gp_json_text(&chrome->json, ": ");
	gp_chrome_put_number(&chrome->json, strtoull(text, NULL, 10));
	gp_json_text(&chrome->json, ",\n");
}

/* HTA's search for the rank wants the space. Without a rank the program is taken for the only one.
 */
static void put_rank(struct gp_chrome *chrome)
{
	const char *rank = chrome->model->info[GP_INFO_RANK];

	gp_json_text(&chrome->json, "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": ");
	gp_chrome_put_number(&chrome->json, rank ? strtoul(rank, NULL, 10) : 0);
	if (!rank)
		gp_json_text(&chrome->json, ", \"world_size\": 1");
	gp_json_text(&chrome->json, "},\n");
}

static void put_metadata_texts(struct gp_chrome *chrome)
{
	static const struct {
		enum gp_info info;
		const char *key;
	} fields[] = {
		{GP_INFO_VERSION, "gpuprof"},     {GP_INFO_PROGRAM, "program"},
		{GP_INFO_COMMAND, "command"},     {GP_INFO_HOST, "host"},
		{GP_INFO_DIRECTORY, "directory"}, {GP_INFO_OPTIONS, "options"},
	};
	struct gp_json *json = &chrome->json;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const char *text = chrome->model->info[fields[i].info];

		if (!text)
			continue;
		put_text_field(json, fields[i].key, text);
		gp_json_text(json, ", ");
	}
	for (uint32_t i = 0; i < chrome->model->note_count; i++) {
		char key[24];

		snprintf(key, sizeof(key), "note %u", i + 1);
		put_text_field(json, key, chrome->model->notes[i]);
		gp_json_text(json, ", ");
	}
}

static uint64_t count_untimed(const struct gp_model *model)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < model->op_count; i++)
		count += model->ops[i].untimed;
	return count;
}

/* What is not in the file is said in it. */
static void put_metadata(struct gp_chrome *chrome)
{
	const struct gp_losses *losses = &chrome->model->losses;
	const struct {
		const char *key;
		uint64_t value;
	} fields[] = {
		{"pid", chrome->model->pid},
		{"slices left out", chrome->slices_left_out},
		{"operations without timestamps, not drawn", count_untimed(chrome->model)},
		{"operations without a call", losses->ops_without_call},
		{"launches without an operation", losses->launches_without_op},
		{"records dropped by CUPTI", chrome->model->counters[GP_COUNTER_LOST_CUPTI]},
		{"records dropped, ring full", chrome->model->counters[GP_COUNTER_LOST_RING_FULL]},
		{"partial", !losses->closed || losses->cut || losses->live},
	};
	struct gp_json *json = &chrome->json;

	gp_json_text(json, "\"metadata\": {");
	put_metadata_texts(chrome);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		gp_json_text(json, i == 0 ? "" : ", ");
		gp_json_string(json, fields[i].key, strlen(fields[i].key));
		gp_json_text(json, ": ");
		gp_chrome_put_number(json, fields[i].value);
	}
	gp_json_text(json, "},\n");
}

static void write_head(struct gp_chrome *chrome)
{
	struct gp_json *json = &chrome->json;

	gp_json_text(json, "{\"schemaVersion\": 1,\n");
	put_devices(chrome);
	put_integer_info(chrome, "cupti_version", GP_INFO_CUPTI_VERSION);
	put_integer_info(chrome, "cuda_driver_version", GP_INFO_DRIVER_VERSION);
	put_rank(chrome);
	gp_json_text(json, "\"displayTimeUnit\": \"ns\",\n\"baseTimeNanoseconds\": ");
	gp_chrome_put_number(json, chrome->model->base_unix_ns - chrome->offset_ns);
	gp_json_text(json, ",\n");
	put_metadata(chrome);
	gp_json_text(json, "\"traceEvents\": [");
}

/* Kineto's last key: the file's name, which here is the trace's with another suffix. */
static void write_tail(struct gp_chrome *chrome)
{
	const char *path = chrome->model->path ? chrome->model->path : "gpuprof";
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *suffix = strstr(name, GP_TRACE_SUFFIX);
	size_t length = suffix ? (size_t)(suffix - name) : strlen(name);
	char text[256];

	snprintf(text, sizeof(text), "%.*s.json", (int)(length < 240 ? length : 240), name);
	gp_json_text(&chrome->json, "\n],\n\"traceName\": ");
	gp_json_string(&chrome->json, text, strlen(text));
	gp_json_text(&chrome->json, "}\n");
}

static void write_events(struct gp_chrome *chrome)
{
	struct gp_chrome_tids tids = {0};
	const struct gp_model *model = chrome->model;

	tids.taken = malloc(((size_t)model->call_count + 1) * sizeof(*tids.taken));
	if (!tids.taken) {
		chrome->error = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < model->call_count; i++)
		if (i == 0 || model->calls[i].thread_id != model->calls[i - 1].thread_id)
			tids.taken[tids.count++] = model->calls[i].thread_id;
	gp_chrome_write_processes(chrome);
	gp_chrome_write_calls(chrome, &tids);
	gp_chrome_write_overheads(chrome, &tids);
	gp_chrome_write_ops(chrome);
	gp_chrome_write_memory(chrome);
	free(tids.taken);
}

static int write_chrome(const struct gp_model *model, const struct gp_export_options *options,
			FILE *out)
{
	struct gp_chrome chrome = {.model = model, .options = options};
	int result = -ENOMEM, closed;

	chrome.offset_ns = model->base_unix_ns % BASE_UNIT_NS;
	chrome.names = gp_names_new();
	if (!chrome.names || gp_json_open(&chrome.json, out) < 0)
		goto done;
	chrome.json.progress = options->progress;
	chrome.json.progress_context = options->progress_context;
	result = choose_window(&chrome, options->slice_limit);
	if (result == 0) {
		gp_chrome_find_processes(&chrome);
		write_head(&chrome);
		write_events(&chrome);
		write_tail(&chrome);
		result = chrome.error;
	}
	closed = gp_json_close(&chrome.json);
	result = result < 0 ? result : closed;
	if (result == 0)
		explain_window(&chrome);
done:
	gp_lanes_free(&chrome.lanes);
	free(chrome.lane_tids);
	gp_names_free(chrome.names);
	return result;
}

const struct gp_exporter gp_exporter_chrome = {
	.name = "chrome",
	.suffix = ".json",
	.help = "Chrome trace, for https://ui.perfetto.dev and chrome://tracing; fields as Kineto "
		"has them",
	.write = write_chrome,
};
