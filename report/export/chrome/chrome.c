#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/shell_word.h"
#include "gpuprof/trace.h"
#include "report/export/chrome/chrome_writer.h"
#include "report/base/text/format.h"
#include "report/symbols/names.h"
#include "report/symbols/unique_names.h"
#include "report/model/losses.h"
#include "report/model/process_name.h"
#include "report/model/recorded.h"
#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"

/* ---- its length ---- */

/* Measured on traces of PyTorch and JAX: a call with its arrow; and more of a kernel, without its name. */
#define SLICE_BYTES  230
#define KERNEL_BYTES 470

double gp_export_chrome_bytes(const struct gp_model *model)
{
	struct gp_names *names = gp_names_new();
	size_t *lengths = calloc((size_t)model->name_count + 1, sizeof(*lengths));
	double bytes = (double)gp_export_most_slices(model) * SLICE_BYTES;

	for (uint32_t i = 0; i < model->name_count; i++)
		lengths[i] = strlen(gp_names_full(names, model->names[i]));
	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (op->kind == GP_OP_KERNEL)
			bytes += KERNEL_BYTES +
				 (double)(op->name < model->name_count ? lengths[op->name] : 0);
	}
	gp_names_free(names);
	free(lengths);
	return bytes;
}

/* ---- the window ---- */

/* Ends of slices, in times of the file. */
struct ends {
	uint64_t offset_ns;
	uint64_t *ns;
	uint32_t count, capacity;
};

static int ignore_track(void *context, const struct gp_timeline_track *track)
{
	(void)context;
	(void)track;
	return 0;
}

/* Start/end ranges are two events, not a slice. */
static int note_end(void *context, const struct gp_timeline_event *event)
{
	struct ends *ends = context;

	if (event->is_instant ||
	    (event->kind == GP_TIMELINE_RANGE && event->of.range->style == GP_STYLE_START_END))
		return 0;
	gp_array_grow(&ends->ns, &ends->capacity, ends->count, sizeof(*ends->ns));
	ends->ns[ends->count++] = ends->offset_ns + event->end_ns;
	return 0;
}

static int collect_ends(struct gp_chrome *chrome, struct ends *ends)
{
	static const struct gp_timeline_sink sink = {.track = ignore_track, .event = note_end};
	struct gp_timeline timeline = {
		.model = chrome->model,
		.filter = gp_slice_filter_of(&chrome->options->choice, chrome->model),
		.slices_only = true,
		.host_depth = gp_host_spans_depth(chrome->model),
		.sink = &sink,
		.context = ends,
	};

	ends->offset_ns = chrome->offset_ns;
	return gp_timeline_walk(&timeline);
}

static void cut(struct gp_chrome *chrome, struct ends *ends, uint64_t limit)
{
	if (ends->count <= limit)
		return;
	chrome->is_cut = true;
	chrome->cut_in_file_ns = gp_stats_select(ends->ns, ends->count, ends->count - limit - 1);
	for (uint32_t i = 0; i < ends->count; i++)
		chrome->slices_left_out += ends->ns[i] <= chrome->cut_in_file_ns;
}

/* Keep the last slices, by their ends: a slice that began before the window belongs to it. */
static int choose_window(struct gp_chrome *chrome, const struct gp_export_source *source)
{
	uint64_t limit = chrome->options->slice_limit;
	struct ends ends = {0};
	int result = 0;

	for (size_t i = 0; limit > 0 && result == 0 && i < source->count; i++) {
		chrome->model = source->get(source->context, i);
		if (!chrome->model || !gp_chrome_set_times(chrome))
			continue;
		if (source->count > 1 || chrome->model->sample_count > 0 ||
		    gp_export_most_slices(chrome->model) > limit)
			result = collect_ends(chrome, &ends);
	}
	if (result == 0)
		cut(chrome, &ends, limit);
	free(ends.ns);
	return result;
}

static void explain_window(const struct gp_chrome *chrome)
{
	uint64_t start_ns = chrome->first_in_file_ns, cut_ns = chrome->cut_in_file_ns;
	const char *path = chrome->model && chrome->model->path ? chrome->model->path : "TRACE";
	char word[GP_SHELL_WORD_BYTES];

	if (!chrome->is_cut || !chrome->options->messages)
		return;
	fprintf(chrome->options->messages,
		"gpuprof: the Chrome trace has the last %s of %s slices, from %s on; for all of them: ",
		gp_format_count(chrome->slices).text,
		gp_format_count(chrome->slices + chrome->slices_left_out).text,
		gp_format_moment((int64_t)(cut_ns - start_ns)).text);
	if (chrome->is_merged)
		fputs("gpuprof merge without --limit\n", chrome->options->messages);
	else
		fprintf(chrome->options->messages,
			"gpuprof export --format chrome -o FILE.json %s\n",
			gp_shell_word(path, word, sizeof(word)));
}

static void explain_depth(const struct gp_chrome *chrome)
{
	if (chrome->timeline.deep_ranges > 0 && chrome->options->messages)
		fprintf(chrome->options->messages,
			"gpuprof: %s ranges are nested in %u or more others of their thread: the Chrome trace shows them on the thread, not on the GPU\n",
			gp_format_count(chrome->timeline.deep_ranges).text, GP_RANGE_SPANS_OPEN);
}

/* ---- before the events ---- */

static void put_text_field(struct gp_json *json, const char *key, const char *text)
{
	gp_json_string(json, key, strlen(key));
	gp_json_text(json, ": ");
	gp_json_string(json, text, strlen(text));
}

/* model: the process that has the device's links; NULL: they are left out. */
static void put_device(struct gp_json *json, const struct gp_record_device *device, uint32_t id,
		       const char *name, const struct gp_model *model)
{
	const struct gp_record_link *pcie =
		model ? gp_model_link(model, device->device_id, GP_LINK_PCIE) : NULL;
	const struct gp_record_link *nvlink =
		model ? gp_model_link(model, device->device_id, GP_LINK_NVLINK) : NULL;
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
		/* gpuprof's own */
		{"maxBlocksPerMultiprocessor", device->max_blocks_per_multiprocessor},
		{"clockRateKHz", device->core_clock_khz},
		{"l2CacheSize", device->l2_bytes},
		{"memoryBandwidthKBps", device->memory_bandwidth_kbytes_per_s},
		{"pcieGeneration", pcie ? pcie->generation : 0},
		{"pcieLanes", pcie ? pcie->lanes : 0},
		{"nvlinkLanes", nvlink ? nvlink->lanes : 0},
		{"nvlinkLaneMBps", nvlink ? nvlink->lane_mbytes_per_s : 0},
	};

	gp_json_text(json, "{\"id\": ");
	gp_json_unsigned(json, id);
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
		put_device(json, &model->devices[i], model->devices[i].device_id,
			   model->device_names[i] ? model->device_names[i] : "", model);
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

/*
 * HTA needs a rank, and its search needs the space.  Without a rank the program counts as the only
 * one.
 */
static void put_rank(struct gp_chrome *chrome)
{
	uint32_t rank = gp_model_rank(chrome->model);
	uint32_t world_size = rank == GP_NONE ? 1 : gp_model_world_size(chrome->model);

	gp_json_text(&chrome->json, "\"distributedInfo\": {\"rank\": ");
	gp_chrome_put_number(&chrome->json, rank == GP_NONE ? 0 : rank);
	if (world_size > 0) {
		gp_json_text(&chrome->json, ", \"world_size\": ");
		gp_chrome_put_number(&chrome->json, world_size);
	}
	gp_json_text(&chrome->json, "},\n");
}

static void put_metadata_texts(const struct gp_model *model, struct gp_json *json)
{
	static const struct {
		enum gp_info info;
		const char *key;
	} fields[] = {
		{GP_INFO_VERSION, "gpuprof"},     {GP_INFO_PROGRAM, "program"},
		{GP_INFO_COMMAND, "command"},     {GP_INFO_HOST, "host"},
		{GP_INFO_DIRECTORY, "directory"}, {GP_INFO_OPTIONS, "options"},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const char *text = model->info[fields[i].info];

		if (!text)
			continue;
		put_text_field(json, fields[i].key, text);
		gp_json_text(json, ", ");
	}
	for (uint32_t i = 0; i < model->note_count; i++) {
		char key[24];

		snprintf(key, sizeof(key), "note %u", i + 1);
		put_text_field(json, key, model->notes[i]);
		gp_json_text(json, ", ");
	}
}

static uint64_t count_untimed(const struct gp_model *model)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < model->op_count; i++)
		count += model->ops[i].untimed;
	return count - model->contradiction_count;
}

static void put_loss(void *context, const struct gp_loss *loss, uint64_t count)
{
	struct gp_json *json = context;
	char key[64];
	const char *const keys[] = {loss->sentence, key};

	snprintf(key, sizeof(key), GP_LOSS_KEY "%s", loss->name);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		gp_json_text(json, ", ");
		gp_json_string(json, keys[i], strlen(keys[i]));
		gp_json_text(json, ": ");
		gp_chrome_put_number(json, count);
	}
}

/* Metadata: identifies the process, and names missing data. */
static void put_metadata(const struct gp_chrome *chrome, uint64_t slices_left_out,
			 struct gp_json *json)
{
	const struct gp_model *model = chrome->model;
	const bool is_whole = !model->part.is_one; /* a part does not know failed joins */
	const struct gp_losses *losses = &model->losses;
	const struct {
		const char *key;
		uint64_t value;
		bool is_known;
	} fields[] = {
		{"pid", model->pid, true},
		{"slices left out", slices_left_out, true},
		{"start in ns", chrome->offset_ns, true},
		{"end in ns", gp_model_end_ns(model) + chrome->offset_ns, true},
		{"operations without timestamps, not drawn", count_untimed(model), true},
		{"launches outside the recorded windows", losses->launches_outside, is_whole},
		{"partial", !gp_recorded_is_whole(model), true},
		{"operations of a stream may run at once", 1,
		 (model->unknown & GP_UNKNOWN_ORDER) != 0},
		{"Python stacks are read every ns", model->function_interval_ns,
		 model->function_interval_ns > 0},
	};

	gp_json_text(json, "{");
	put_metadata_texts(model, json);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (!fields[i].is_known)
			continue;
		gp_json_text(json, i == 0 ? "" : ", ");
		gp_json_string(json, fields[i].key, strlen(fields[i].key));
		gp_json_text(json, ": ");
		gp_chrome_put_number(json, fields[i].value);
	}
	gp_loss_each(model, put_loss, json);
	gp_loss_each_left_out(model, put_loss, json);
	if (model->recorder) {
		gp_json_text(json, ", ");
		put_text_field(json, "recorder", model->recorder);
	}
	if (!gp_recorded_is_whole(model)) {
		gp_json_text(json, ", ");
		put_text_field(json, "why partial", gp_recorded_tell_no_end(model));
	}
	gp_json_text(json, "}");
}

/* Before the events, as in Kineto. */
static void put_process(struct gp_chrome *chrome)
{
	put_devices(chrome);
	put_integer_info(chrome, "cupti_version", GP_INFO_CUPTI_VERSION);
	put_integer_info(chrome, "cuda_driver_version", GP_INFO_DRIVER_VERSION);
	put_rank(chrome);
}

static void write_head(struct gp_chrome *chrome)
{
	struct gp_json *json = &chrome->json;

	gp_json_text(json, "{\"schemaVersion\": 1,\n");
	if (!chrome->is_merged)
		put_process(chrome);
	gp_json_text(json, "\"displayTimeUnit\": \"ns\",\n\"baseTimeNanoseconds\": ");
	gp_chrome_put_number(json, chrome->base_ns);
	gp_json_text(json, ",\n");
	if (!chrome->is_merged) {
		gp_json_text(json, "\"metadata\": ");
		put_metadata(chrome, chrome->slices_left_out, json);
		gp_json_text(json, ",\n");
	}
	gp_json_text(json, "\"traceEvents\": [");
}

/* The last key in Kineto: the name of the file, here that of the trace with another suffix. */
static void write_name(struct gp_chrome *chrome)
{
	const char *path = chrome->model->path ? chrome->model->path : "gpuprof";
	const char *name = basename(path);
	const char *suffix = strstr(name, GP_TRACE_SUFFIX);
	size_t length = suffix ? (size_t)(suffix - name) : strlen(name);
	char text[256];

	snprintf(text, sizeof(text), "%.*s.json", (int)(length < 240 ? length : 240), name);
	gp_json_text(&chrome->json, "\"traceName\": ");
	gp_json_string(&chrome->json, text, strlen(text));
}

/* Data about all processes, known at the end. */
static void write_about(struct gp_chrome *chrome)
{
	struct gp_json *json = &chrome->json;
	const char *separator = "\n";

	gp_json_text(json, "\"deviceProperties\": [");
	for (uint32_t i = 0; i < chrome->gpu_count; i++) {
		const struct gp_chrome_gpu *gpu = &chrome->gpus[i];

		if (!gpu->is_known)
			continue;
		gp_json_text(json, separator);
		put_device(json, &gpu->record, gpu->number, gpu->name, NULL);
		separator = ",\n";
	}
	gp_json_text(json, "],\n\"metadata\": {\"slices left out\": ");
	gp_chrome_put_number(json, chrome->slices_left_out);
	gp_json_text(json, ", \"processes\": [");
	gp_json_bytes(json, chrome->about.buffer, chrome->about.used);
	gp_json_text(json, "]}");
}

static void write_tail(struct gp_chrome *chrome)
{
	gp_json_text(&chrome->json, "\n],\n");
	if (chrome->is_merged)
		write_about(chrome);
	else
		write_name(chrome);
	gp_json_text(&chrome->json, "}\n");
}

/* ---- processes ---- */

/* Take the tids of all threads with calls or ranges. */
static void take_threads(const struct gp_model *model, struct gp_chrome_tids *tids)
{
	uint32_t *threads = gp_spill_take(((size_t)model->call_count + model->range_count + 1) *
					  sizeof(*threads));
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->call_count; i++)
		if (i == 0 || model->calls[i].thread_id != threads[count - 1])
			threads[count++] = model->calls[i].thread_id;
	for (uint32_t i = 0; i < model->range_count; i++)
		if (i == 0 || model->ranges[i].thread_id != threads[count - 1])
			threads[count++] = model->ranges[i].thread_id;
	gp_chrome_take_tids(tids, threads, count);
	gp_spill_free(threads);
}

static void write_events(struct gp_chrome *chrome)
{
	const struct gp_export_options *options = chrome->options;
	uint64_t cut_ns = chrome->cut_in_file_ns, offset_ns = chrome->offset_ns;
	int result;

	take_threads(chrome->model, &chrome->host_tids);
	chrome->timeline = (struct gp_timeline){
		.model = chrome->model,
		.filter = gp_slice_filter_of(&options->choice, chrome->model),
		.cut_ns = cut_ns > offset_ns ? cut_ns - offset_ns : 0,
		.is_cut = chrome->is_cut,
		.is_later = chrome->is_later,
		.has_curves = options->counters,
		.has_path = options->critical_path,
		.ranges_on_streams = options->ranges_on_streams,
		.host_depth = chrome->host_depth,
		.names = chrome->names,
		.deep_ranges = chrome->timeline.deep_ranges,
		.cut_ranges = chrome->timeline.cut_ranges,
		.sink = &gp_chrome_sink,
		.context = chrome,
	};
	result = gp_chrome_calls_open(chrome);
	if (result == 0)
		result = gp_chrome_ops_open(chrome);
	if (result == 0)
		result = gp_timeline_walk(&chrome->timeline);
	if (result < 0)
		chrome->error = result;
	gp_chrome_end_python(chrome);
	gp_chrome_calls_close(chrome);
	gp_chrome_ops_close(chrome);
	free(chrome->host_tids.taken);
	chrome->host_tids = (struct gp_chrome_tids){0};
}

static void begin_process(struct gp_chrome *chrome)
{
	chrome->host_depth = gp_host_spans_depth(chrome->model);
	if (chrome->options->messages)
		gp_host_depth_explain(&chrome->host_depth, chrome->options->messages);
	gp_chrome_write_processes(chrome);
}

/* A later part: streams get their tids again; gp_chrome_begin_track() keeps the others. */
static void go_on(struct gp_chrome *chrome)
{
	for (uint32_t i = 0; i < chrome->gpu_count; i++)
		chrome->gpus[i].tids.count = chrome->gpus[i].tids.next = 0;
	gp_chrome_write_more_gpus(chrome);
}

static void write_process(struct gp_chrome *chrome)
{
	const struct gp_model *model = chrome->model;

	if (chrome->processes == 0) {
		chrome->first_in_file_ns = chrome->offset_ns + model->first_ns;
		write_head(chrome);
	}
	chrome->is_later = chrome->are_parts && chrome->processes > 0;
	if (chrome->is_later)
		go_on(chrome);
	else {
		gp_kernels_tell_apart(chrome->names, &model, 1);
		begin_process(chrome);
	}
	gp_chrome_stacks_use(chrome->stacks, model);
	if (chrome->error == 0)
		write_events(chrome);
	gp_chrome_stacks_use(chrome->stacks, NULL);
	if (chrome->is_merged) {
		gp_json_text(&chrome->about, chrome->processes == 0 ? "\n" : ",\n");
		put_metadata(chrome, 0, &chrome->about);
	}
	chrome->first_arrow += model->op_count;
	chrome->stream_count = 0;
	chrome->processes++;
}

static void explain_left_out(const struct gp_chrome *chrome)
{
	if (chrome->options->messages)
		fprintf(chrome->options->messages,
			"gpuprof: %s begins more than a day before the first trace and is left out; name it first\n",
			chrome->model->path ? chrome->model->path : "a trace");
}

static int write_processes(struct gp_chrome *chrome, const struct gp_export_source *source)
{
	for (size_t i = 0; i < source->count; i++) {
		const struct gp_model *model = source->get(source->context, i);

		if (!model)
			continue;
		chrome->model = model;
		if (!gp_chrome_set_times(chrome))
			explain_left_out(chrome);
		else
			write_process(chrome);
		if (chrome->error != 0 || chrome->json.error != 0)
			return chrome->error;
	}
	if (chrome->processes == 0)
		return -ENODATA;
	write_tail(chrome);
	return chrome->about.error;
}

static int write_file(struct gp_chrome *chrome, const struct gp_export_source *source)
{
	int result = choose_window(chrome, source);

	if (result == 0)
		result = write_processes(chrome, source);
	if (result == 0) {
		explain_window(chrome);
		explain_depth(chrome);
		gp_export_explain_cut(chrome->timeline.cut_ranges, chrome->options->messages);
		gp_chrome_explain_stacks(chrome);
	}
	return result;
}

static int write_chrome(const struct gp_export_source *source,
			const struct gp_export_options *options, FILE *out)
{
	struct gp_chrome chrome = {.options = options,
				   .is_merged = source->count > 1 && !source->are_parts,
				   .are_parts = source->are_parts && source->count > 1};
	int result, closed;

	chrome.names = gp_names_new();
	chrome.stacks = gp_chrome_stacks_new();
	gp_json_open(&chrome.json, out);
	gp_json_open(&chrome.about, NULL);
	chrome.json.progress = options->progress;
	chrome.json.progress_context = options->progress_context;
	result = write_file(&chrome, source);
	closed = gp_json_close(&chrome.json);
	gp_json_close(&chrome.about);
	gp_lanes_free(&chrome.lanes);
	free(chrome.lane_tids);
	free(chrome.streams);
	gp_groups_free(&chrome.tracks);
	gp_chrome_free_places(&chrome);
	gp_chrome_stacks_free(chrome.stacks);
	gp_names_free(chrome.names);
	return result < 0 ? result : closed;
}

const struct gp_exporter gp_exporter_chrome = {
	.name = "chrome",
	.suffix = ".json",
	.help = "timeline as Chrome trace, with Kineto's fields",
	.readers = "https://ui.perfetto.dev, chrome://tracing, HolisticTraceAnalysis",
	.heeds = GP_EXPORT_LIMIT | GP_EXPORT_PART | GP_EXPORT_CURVES | GP_EXPORT_STREAM_RANGES,
	.write = write_chrome,
};
