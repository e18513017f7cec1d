#include "report/import/kineto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/text/format.h"
#include "report/codec/input.h"
#include "report/import/kineto_records.h"
#include "report/codec/json_reader.h"
#include "report/model/losses.h"
#include "report/model/no_end.h"

struct reading {
	struct gp_importing *im;
	struct gp_json_reader *pull;
	int64_t unix_ns;      /* Unix time of time 0 */
	bool is_own;          /* written by gpuprof ... */
	bool has_no_order;    /* ... from a trace that does not say which operations may overlap */
	bool is_merged;       /* the file says that it has several processes */
	const char *recorder; /* of an export: the recorder of its trace, if not gpuprof */
	bool is_known;        /* has an event that only CUDA or PyTorch profilers write */
	bool has_events;      /* up to the end of their array */
	enum gp_json_reader_token last;
	uint64_t bad_events; /* skipped as they are no valid JSON */
	struct gp_kineto_event event;
};

/* ---- devices ---- */

/* Reads the next value if it is a whole number, in quotes if it is large. */
static bool take_whole(struct gp_json_reader *pull, int64_t *number)
{
	enum gp_json_reader_token token = gp_json_reader_next(pull);

	gp_json_reader_skip(pull, token);
	return (token == GP_JSON_NUMBER || token == GP_JSON_STRING) &&
	       gp_json_reader_whole(pull, number);
}

/* Reads the next value if it is a string; else name becomes "". */
static void take_name(struct gp_json_reader *pull, char *name, size_t room)
{
	enum gp_json_reader_token token = gp_json_reader_next(pull);
	size_t bytes;

	snprintf(name, room, "%s",
		 token == GP_JSON_STRING ? gp_json_reader_text(pull, &bytes) : "");
	gp_json_reader_skip(pull, token);
}

/* A device, and its links, which only gpuprof exports have. */
struct described {
	struct gp_record_device device;
	struct gp_record_link pcie, nvlink;
};

struct property {
	const char *key;
	size_t offset, bytes; /* of the member in struct described */
};

#define MEMBER(key, member)                                                                        \
	{                                                                                          \
		key, offsetof(struct described, member), sizeof(((struct described *)0)->member)   \
	}
#define PROPERTY(key, member) MEMBER(key, device.member)

static const struct property properties[] = {
	PROPERTY("id", device_id),
	PROPERTY("totalGlobalMem", memory_bytes),
	PROPERTY("computeMajor", compute_major),
	PROPERTY("computeMinor", compute_minor),
	PROPERTY("maxThreadsPerBlock", max_threads_per_block),
	PROPERTY("maxThreadsPerMultiprocessor", max_threads_per_multiprocessor),
	PROPERTY("regsPerBlock", registers_per_block),
	PROPERTY("warpSize", warp_threads),
	PROPERTY("sharedMemPerBlock", shared_per_block_bytes),
	PROPERTY("numSms", multiprocessors),
	PROPERTY("regsPerMultiprocessor", registers_per_multiprocessor),
	PROPERTY("sharedMemPerBlockOptin", shared_per_block_optin_bytes),
	PROPERTY("sharedMemPerMultiprocessor", shared_per_multiprocessor_bytes),
	PROPERTY("maxSharedMemoryPerMultiProcessor", shared_per_multiprocessor_bytes), /* HIP */
	/* of gpuprof exports */
	PROPERTY("maxBlocksPerMultiprocessor", max_blocks_per_multiprocessor),
	PROPERTY("clockRateKHz", core_clock_khz),
	PROPERTY("l2CacheSize", l2_bytes),
	PROPERTY("memoryBandwidthKBps", memory_bandwidth_kbytes_per_s),
	MEMBER("pcieGeneration", pcie.generation),
	MEMBER("pcieLanes", pcie.lanes),
	MEMBER("nvlinkLanes", nvlink.lanes),
	MEMBER("nvlinkLaneMBps", nvlink.lane_mbytes_per_s),
};

static void set_property(struct described *described, const struct property *property,
			 int64_t value)
{
	uint64_t limit = property->bytes < 8 ? (UINT64_C(1) << property->bytes * 8) - 1 : INT64_MAX;

	if (value >= 0 && (uint64_t)value <= limit) /* little-endian: the first bytes */
		memcpy((char *)described + property->offset, &value, property->bytes);
}

static void take_property(struct reading *r, struct described *described)
{
	size_t i = 0;
	int64_t value;

	while (i < COUNT(properties) && !gp_json_reader_is(r->pull, properties[i].key))
		i++;
	if (i == COUNT(properties))
		gp_json_reader_skip(r->pull, GP_JSON_KEY);
	else if (take_whole(r->pull, &value))
		set_property(described, &properties[i], value);
}

static int take_link(struct reading *r, struct gp_record_link *link, enum gp_link_kind kind,
		     uint16_t device_id)
{
	union gp_any_record record = {0};

	if (link->lanes == 0)
		return 0;
	link->link_kind = (uint16_t)kind;
	link->device_id = device_id;
	record.link = *link;
	return gp_import_record(r->im, GP_RECORD_LINK, &record);
}

/* Adds a device with its links. */
static int add_device(struct reading *r, struct described *described, const char *name)
{
	union gp_any_record record = {.device = described->device};
	uint16_t id = described->device.device_id;
	int result;

	if (strncmp(name, "AMD ", 4) == 0) /* its number is no compute capability of CUDA */
		record.device.compute_major = record.device.compute_minor = 0;
	if (record.device.warp_threads > 0)
		record.device.max_warps_per_multiprocessor =
			record.device.max_threads_per_multiprocessor / record.device.warp_threads;
	result = gp_import_string(r->im, GP_STRING_DEVICE, id, 0, name, strlen(name));
	if (result == 0)
		result = gp_import_record(r->im, GP_RECORD_DEVICE, &record);
	if (result == 0)
		result = take_link(r, &described->pcie, GP_LINK_PCIE, id);
	return result == 0 ? take_link(r, &described->nvlink, GP_LINK_NVLINK, id) : result;
}

static int take_device(struct reading *r)
{
	struct described described = {.device.device_id = UINT16_MAX};
	enum gp_json_reader_token token;
	char name[GP_KINETO_LABEL_BYTES] = "";

	for (token = gp_json_reader_next(r->pull); token == GP_JSON_KEY;
	     token = gp_json_reader_next(r->pull))
		if (!gp_json_reader_is(r->pull, "name"))
			take_property(r, &described);
		else
			take_name(r->pull, name, sizeof(name));
	if (token != GP_JSON_OBJECT_END || described.device.device_id >= GP_DEVICE_LIMIT)
		return 0;
	return add_device(r, &described, name);
}

static int take_devices(struct reading *r)
{
	enum gp_json_reader_token token = gp_json_reader_next(r->pull);
	int result = 0;

	if (token != GP_JSON_ARRAY) {
		gp_json_reader_skip(r->pull, token);
		return 0;
	}
	while (result == 0) {
		token = gp_json_reader_next(r->pull);
		if (token >= GP_JSON_END || token == GP_JSON_ARRAY_END)
			break;
		if (token == GP_JSON_OBJECT)
			result = take_device(r);
		else
			gp_json_reader_skip(r->pull, token);
	}
	return result;
}

/* ---- the file ---- */

/*
 * Reads the elements of "traceEvents", after its opening bracket. If an event is no valid JSON,
 * such as one with a name that was not escaped, goes on with the next one.
 */
static int take_elements(struct reading *r)
{
	uint32_t depth = gp_json_reader_depth(r->pull) + 1;
	enum gp_json_reader_token token = gp_json_reader_next(r->pull);
	int result = 0;

	while (result == 0 && token != GP_JSON_ARRAY_END && token < GP_JSON_END) {
		gp_json_reader_mark(r->pull);
		if (token != GP_JSON_OBJECT)
			gp_json_reader_skip(r->pull, token);
		else if (gp_kineto_event_read(r->pull, &r->event))
			result = gp_kineto_take_event(r->im, &r->event, &r->is_known);
		token = gp_json_reader_next(r->pull);
		if (token != GP_JSON_BAD)
			continue;
		r->bad_events++;
		if (gp_json_reader_resume(r->pull, depth, gp_kineto_event_has_key))
			token = GP_JSON_OBJECT;
		else
			token = gp_json_reader_next(r->pull);
	}
	r->has_events = token == GP_JSON_ARRAY_END || token == GP_JSON_END;
	return result;
}

static int take_events(struct reading *r)
{
	enum gp_json_reader_token token = gp_json_reader_next(r->pull);

	if (token == GP_JSON_ARRAY)
		return take_elements(r);
	gp_json_reader_skip(r->pull, token);
	return 0;
}

static int take_base(struct reading *r)
{
	if (!take_whole(r->pull, &r->unix_ns) || r->unix_ns < 0)
		r->unix_ns = 0;
	return 0;
}

static int take_number_info(struct reading *r, enum gp_info info)
{
	char text[24];
	int64_t number;

	if (!take_whole(r->pull, &number))
		return 0;
	snprintf(text, sizeof(text), "%lld", (long long)number);
	return gp_import_info(r->im, info, text);
}

static int take_cupti(struct reading *r)
{
	return take_number_info(r, GP_INFO_CUPTI_VERSION);
}

static int take_driver(struct reading *r)
{
	return take_number_info(r, GP_INFO_DRIVER_VERSION);
}

/* "distributedInfo": {"rank": 0, ...} */
static int take_distributed(struct reading *r)
{
	enum gp_json_reader_token token = gp_json_reader_next(r->pull);
	int result = 0;

	if (token != GP_JSON_OBJECT) {
		gp_json_reader_skip(r->pull, token);
		return 0;
	}
	while (result == 0 && gp_json_reader_next(r->pull) == GP_JSON_KEY) {
		if (gp_json_reader_is(r->pull, "rank"))
			result = take_number_info(r, GP_INFO_RANK);
		else if (gp_json_reader_is(r->pull, "world_size"))
			result = take_number_info(r, GP_INFO_WORLD_SIZE);
		else
			gp_json_reader_skip(r->pull, GP_JSON_KEY);
	}
	return result;
}

/* "processes": [{...}, ...], in a file merged by gpuprof */
static void count_processes(struct reading *r)
{
	enum gp_json_reader_token token = gp_json_reader_next(r->pull);
	uint32_t count = 0;

	if (token != GP_JSON_ARRAY) {
		gp_json_reader_skip(r->pull, token);
		return;
	}
	for (token = gp_json_reader_next(r->pull);
	     token < GP_JSON_END && token != GP_JSON_ARRAY_END;
	     token = gp_json_reader_next(r->pull)) {
		count += token == GP_JSON_OBJECT;
		gp_json_reader_skip(r->pull, token);
	}
	r->is_merged = count > 1;
}

/* "partial": 1, with the reason in another entry: the exported trace has no end. */
static void take_partial(struct reading *r)
{
	struct gp_model *m = r->im->builder->model;
	int64_t is_partial;

	if (take_whole(r->pull, &is_partial) && is_partial != 0 && !m->why_no_end)
		m->why_no_end = gp_no_end_told("");
}

/* The text of the next value; "" if it is none. */
static const char *take_text(struct reading *r)
{
	enum gp_json_reader_token token = gp_json_reader_next(r->pull);
	size_t bytes;

	gp_json_reader_skip(r->pull, token);
	return token == GP_JSON_STRING ? gp_json_reader_text(r->pull, &bytes) : "";
}

/* When the trace began or ended, which may be before its first and after its last event. */
static void take_bound(struct reading *r)
{
	int64_t time_ns;

	if (take_whole(r->pull, &time_ns))
		gp_import_note_time(r->im, gp_import_time(time_ns), gp_import_time(time_ns));
}

/* The export's samples were read from recorded calls of functions. */
static void take_function_interval(struct reading *r)
{
	int64_t interval_ns;

	if (take_whole(r->pull, &interval_ns) && interval_ns > 0 && interval_ns <= UINT32_MAX)
		r->im->builder->model->function_interval_ns = (uint32_t)interval_ns;
}

/* A text on how the process was recorded, or a number, which may be the count of a loss. */
static int take_fact(struct reading *r)
{
	static const struct {
		const char *key;
		enum gp_info info;
	} facts[] = {{"program", GP_INFO_PROGRAM},
		     {"command", GP_INFO_COMMAND},
		     {"directory", GP_INFO_DIRECTORY},
		     {"host", GP_INFO_HOST},
		     {"options", GP_INFO_OPTIONS}};
	enum gp_json_reader_token token;
	char key[256];
	size_t bytes;
	int64_t count;

	snprintf(key, sizeof(key), "%s", gp_json_reader_text(r->pull, &bytes));
	token = gp_json_reader_next(r->pull);
	gp_json_reader_skip(r->pull, token);
	if (token == GP_JSON_NUMBER && gp_json_reader_whole(r->pull, &count) && count > 0)
		gp_loss_restore(r->im->builder->model, key, (uint64_t)count);
	if (token != GP_JSON_STRING)
		return 0;
	for (size_t i = 0; i < COUNT(facts); i++)
		if (strcmp(key, facts[i].key) == 0)
			return gp_import_restore_info(r->im, facts[i].info,
						      gp_json_reader_text(r->pull, &bytes));
	return strncmp(key, "note ", 5) == 0
		       ? gp_import_info(r->im, GP_INFO_NOTE, gp_json_reader_text(r->pull, &bytes))
		       : 0;
}

/* "metadata": {...}: one of gpuprof's own entries identifies the writer. */
static int take_metadata(struct reading *r)
{
	enum gp_json_reader_token token = gp_json_reader_next(r->pull);
	int result = 0;

	if (token != GP_JSON_OBJECT) {
		gp_json_reader_skip(r->pull, token);
		return 0;
	}
	while (result == 0 && gp_json_reader_next(r->pull) == GP_JSON_KEY) {
		r->is_own |= gp_json_reader_is(r->pull, "slices left out");
		r->has_no_order |=
			gp_json_reader_is(r->pull, "operations of a stream may run at once");
		if (gp_json_reader_is(r->pull, "processes"))
			count_processes(r);
		else if (gp_json_reader_is(r->pull, "partial"))
			take_partial(r);
		else if (gp_json_reader_is(r->pull, "why partial"))
			r->im->builder->model->why_no_end = gp_no_end_told(take_text(r));
		else if (gp_json_reader_is(r->pull, "Python stacks are read every ns"))
			take_function_interval(r);
		else if (gp_json_reader_is(r->pull, "recorder"))
			r->recorder = gp_import_recorder_named(take_text(r));
		else if (gp_json_reader_is(r->pull, "start in ns") ||
			 gp_json_reader_is(r->pull, "end in ns"))
			take_bound(r);
		else
			result = take_fact(r);
	}
	return result;
}

static const struct {
	const char *key;
	int (*take)(struct reading *r); /* reads its value */
} entries[] = {
	{"metadata", take_metadata},           {"traceEvents", take_events},
	{"deviceProperties", take_devices},    {"baseTimeNanoseconds", take_base},
	{"distributedInfo", take_distributed}, {"cupti_version", take_cupti},
	{"cuda_driver_version", take_driver},
};

static int take_entry(struct reading *r)
{
	for (size_t i = 0; i < COUNT(entries); i++)
		if (gp_json_reader_is(r->pull, entries[i].key))
			return entries[i].take(r);
	gp_json_reader_skip(r->pull, GP_JSON_KEY);
	return 0;
}

static int name_categories(struct gp_importing *im)
{
	static const char *const names[] = {
		[GP_KINETO_OPERATOR] = "operator", [GP_KINETO_ANNOTATION] = "annotation"};
	int result = 0;

	for (uint32_t i = 1; i < COUNT(names) && result == 0; i++)
		result = gp_import_string(im, GP_STRING_CATEGORY, i, 0, names[i], strlen(names[i]));
	return result;
}

/* Reads an object with an entry for the events, or an array of events. */
static int take_all(struct reading *r)
{
	enum gp_json_reader_token token = gp_json_reader_next(r->pull);
	int result = 0;

	if (token == GP_JSON_ARRAY)
		return take_elements(r);
	if (token != GP_JSON_OBJECT)
		return token == GP_JSON_FAILED ? gp_json_reader_error(r->pull) : -ENODATA;
	while (result == 0 && gp_json_reader_next(r->pull) == GP_JSON_KEY)
		result = take_entry(r);
	return result;
}

static int tell_recorder(const struct reading *r)
{
	const uint32_t unknown = GP_UNKNOWN_SHARED_PARTS | GP_UNKNOWN_LOCAL | GP_UNKNOWN_CONTEXTS |
				 GP_UNKNOWN_SET_VALUES;

	if (r->is_own && r->recorder)
		return gp_import_recorder(
			r->im, r->recorder, unknown | (r->has_no_order ? GP_UNKNOWN_ORDER : 0),
			"this is an export of gpuprof: the original trace also has call stacks");
	if (r->is_own)
		return gp_import_recorder(
			r->im, "gpuprof, from an exported Chrome trace",
			unknown | (r->has_no_order ? GP_UNKNOWN_ORDER : 0),
			"this is an export: the original trace also has call stacks. Without them call sites are merged");
	return gp_import_recorder(
		r->im, GP_IMPORT_TORCH,
		unknown | GP_UNKNOWN_STATUS | GP_UNKNOWN_ALLOCATIONS | GP_UNKNOWN_ORDER,
		"torch.profiler records neither the results of calls nor the memory that CUDA calls allocate and free; it has only the sum of static and dynamic shared memory");
}

/* Memory is on the device of its call's context. */
static void place_memory(struct gp_model *m)
{
	for (uint32_t i = 0; i < m->memory_count; i++)
		for (uint32_t k = 0; k < m->context_count; k++)
			if (m->contexts[k].id == m->calls[m->memory[i].call].context_id)
				m->memory[i].device_id = m->contexts[k].device_id;
}

/* The device of all operations; GP_NONE: there are several, or none. */
static uint32_t only_device(const struct gp_model *m)
{
	for (uint32_t i = 1; i < m->op_count; i++)
		if (m->ops[i].device_id != m->ops[0].device_id)
			return GP_NONE;
	return m->op_count > 0 ? m->ops[0].device_id : GP_NONE;
}

/*
 * For AMD's GPUs, properties and allocators have HIP's number, but operations that of the driver's
 * agent. If there is one of either, they are the same.
 */
static int match_device(struct gp_importing *im)
{
	struct gp_model *m = im->builder->model;
	uint32_t device = only_device(m);

	if (m->device_count != 1 || device == GP_NONE || m->devices[0].device_id == device)
		return 0;
	for (uint32_t i = 0; i < im->builder->device_name_count; i++)
		im->builder->device_names[i].id = device;
	for (uint32_t i = 0; i < m->pool_count; i++)
		if (m->pools[i].device_id == m->devices[0].device_id)
			m->pools[i].device_id = (uint16_t)device;
	m->devices[0].device_id = (uint16_t)device;
	return gp_import_info(
		im, GP_INFO_NOTE,
		"the only device has one number in the list of devices and another in all operations; it is shown with the latter");
}

/* Notes the peak of the caching allocator on a device. */
static int tell_allocator(struct gp_importing *im, uint16_t device)
{
	const struct gp_model *m = im->builder->model;
	uint64_t reserved = 0, used = 0;
	char *note;

	for (uint32_t i = 0; i < m->pool_count; i++) {
		const struct gp_record_pool *pool = &m->pools[i];

		if (pool->device_id == device && pool->reserved_bytes > reserved)
			reserved = pool->reserved_bytes;
		if (pool->device_id == device && pool->used_bytes > used)
			used = pool->used_bytes;
	}
	if (asprintf(
		    &note,
		    "PyTorch's caching allocator reserved at most %s of GPU %u; tensors used at most %s",
		    gp_format_bytes(reserved).text, device, gp_format_bytes(used).text) < 0)
		return -ENOMEM;
	return gp_model_builder_note(im->builder, note);
}

static int tell_allocators(struct gp_importing *im)
{
	const struct gp_model *m = im->builder->model;
	bool done[GP_DEVICE_LIMIT] = {false};
	int result = 0;

	for (uint32_t i = 0; i < m->pool_count && result == 0; i++)
		if (!done[m->pools[i].device_id]) {
			done[m->pools[i].device_id] = true;
			result = tell_allocator(im, m->pools[i].device_id);
		}
	return result;
}

/* Whether only the text behind the events is no valid JSON. */
static bool has_bad_tail(const struct reading *r)
{
	return r->has_events && r->last == GP_JSON_BAD;
}

static int tell_damage(const struct reading *r)
{
	r->im->builder->model->losses.unknown_records += r->bad_events;
	if (gp_import_note_count(r->im, r->bad_events,
				 "events that were skipped, because they are not valid JSON") != 0)
		return -ENOMEM;
	if (!has_bad_tail(r))
		return 0;
	return gp_import_info(
		r->im, GP_INFO_NOTE,
		"all events were read; the text after them is not valid JSON, and its content is not known");
}

static int tell_counters(struct gp_importing *im)
{
	char *note;

	if (im->counters_left_out == 0)
		return 0;
	if (asprintf(
		    &note,
		    "%llu values of hardware counters were dropped: gpuprof reads %u for each kernel, with names of up to %u bytes",
		    (unsigned long long)im->counters_left_out, GP_KINETO_COUNTERS,
		    GP_KINETO_COUNTER_BYTES - 1) < 0)
		return -ENOMEM;
	return gp_model_builder_note(im->builder, note);
}

/*
 * Returns 0, also if the trace is truncated; -ENODATA if it has no events of torch.profiler; or the
 * read error.
 */
static int take(struct gp_importing *im, struct gp_json_reader *pull)
{
	struct reading *r = calloc(1, sizeof(*r));
	int result;

	if (!r)
		return -ENOMEM;
	r->im = im;
	r->pull = pull;
	result = name_categories(im);
	if (result == 0)
		result = take_all(r);
	if (result == 0)
		result = gp_json_reader_error(pull);
	if (result == 0 && !r->is_known)
		result = -ENODATA;
	if (result == 0 && r->is_merged)
		result = -ENOTUNIQ;
	r->last = gp_json_reader_next(pull);
	im->is_cut = r->last != GP_JSON_END && !has_bad_tail(r);
	if (result == 0)
		result = tell_recorder(r);
	if (result == 0)
		result = tell_damage(r);
	place_memory(im->builder->model);
	if (result == 0)
		result = match_device(im);
	if (result == 0)
		result = tell_allocators(im);
	if (result == 0)
		result = tell_counters(im);
	if (result == 0)
		result = gp_importing_finish(im, (uint64_t)r->unix_ns);
	free(r->event.line_changes);
	free(r);
	return result;
}

/* ---- files ---- */

static int read_input(struct gp_input *input, struct gp_model_builder *b)
{
	struct gp_json_reader *pull = gp_json_reader_new(gp_input_read, input);
	struct gp_importing im;
	int result;

	gp_importing_begin(&im, b);
	result = pull ? take(&im, pull) : -ENOMEM;
	gp_importing_free(&im);
	gp_json_reader_free(pull);
	return result;
}

/* For JSON files of gpuprof that are no traces. */
static void tell_other_json(const char *path, char *message, size_t message_bytes)
{
	char head[512] = "";

	gp_input_head(path, (uint8_t *)head, sizeof(head) - 1);
	if (gp_input_is_utf16((const uint8_t *)head, sizeof(head)))
		snprintf(message, message_bytes,
			 "%s is UTF-16, not JSON: convert it with iconv -f UTF-16 -t UTF-8", path);
	else if (strstr(head, "\"gpuprof_baseline\""))
		snprintf(message, message_bytes,
			 "%s is a baseline of gpuprof check, not a trace; use it with --baseline",
			 path);
	else if (strstr(head, "\"CPU functions\""))
		snprintf(
			message, message_bytes,
			"%s is a trace of PyTorch's older profiler, which records no kernels and calls; record the program with torch.profiler.profile or gpuprof-run",
			path);
	else if (strstr(head, "\"gpuprof_check\""))
		snprintf(message, message_bytes, "%s is a report of gpuprof check, not a trace",
			 path);
	else
		snprintf(
			message, message_bytes,
			"%s is JSON without events of torch.profiler. gpuprof does not read traces of other profilers, such as jax.profiler: record the program with gpuprof-run",
			path);
}

int gp_kineto_load(const char *path, struct gp_model_builder *b, char *message,
		   size_t message_bytes)
{
	struct gp_input *input = NULL;
	int result = gp_input_open(path, &input);

	if (result == 0)
		result = read_input(input, b);
	gp_input_close(input);
	if (result == -ENODATA)
		tell_other_json(path, message, message_bytes);
	else if (result == -ENOTUNIQ)
		snprintf(
			message, message_bytes,
			"%s has several processes that use the same numbers for different calls and streams; use their .gpuprof files, or one JSON file for each process",
			path);
	else if (result != 0)
		gp_import_explain(result, path, message, message_bytes);
	return result;
}
