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
#include "report/model/no_end.h"

struct reading {
	struct gp_importing *im;
	struct gp_pull *pull;
	int64_t unix_ns;   /* Unix time of the times' 0 */
	bool is_own;       /* gpuprof has written the file ... */
	bool has_no_order; /* ... from one that does not say what may run at once */
	bool is_merged;    /* it says that several processes are in it */
	bool is_known;     /* there is an event that only a profiler of CUDA or PyTorch writes */
	struct gp_kineto_event event;
};

/* ---- devices ---- */

/* The value that comes next, where it is a whole number. */
static bool take_whole(struct gp_pull *pull, int64_t *number)
{
	enum gp_pull_token token = gp_pull_next(pull);

	gp_pull_skip(pull, token);
	return token == GP_PULL_NUMBER && gp_pull_whole(pull, number);
}

/* The same of a text; else it becomes none. */
static void take_name(struct gp_pull *pull, char *name, size_t room)
{
	enum gp_pull_token token = gp_pull_next(pull);
	size_t bytes;

	snprintf(name, room, "%s", token == GP_PULL_STRING ? gp_pull_text(pull, &bytes) : "");
	gp_pull_skip(pull, token);
}

struct property {
	const char *key;
	size_t offset, bytes; /* in a gp_record_device */
};

#define PROPERTY(key, member)                                                                      \
	{                                                                                          \
		key, offsetof(struct gp_record_device, member),                                    \
			sizeof(((struct gp_record_device *)0)->member)                             \
	}

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
};

static void set_property(struct gp_record_device *device, const struct property *property,
			 int64_t value)
{
	uint64_t limit = property->bytes < 8 ? (UINT64_C(1) << property->bytes * 8) - 1 : INT64_MAX;

	if (value >= 0 && (uint64_t)value <= limit) /* little-endian: the first bytes */
		memcpy((char *)device + property->offset, &value, property->bytes);
}

static void take_property(struct reading *r, struct gp_record_device *device)
{
	size_t i = 0;
	int64_t value;

	while (i < COUNT(properties) && !gp_pull_is(r->pull, properties[i].key))
		i++;
	if (i == COUNT(properties))
		gp_pull_skip(r->pull, GP_PULL_KEY);
	else if (take_whole(r->pull, &value))
		set_property(device, &properties[i], value);
}

static int take_device(struct reading *r)
{
	union gp_any_record record = {0};
	enum gp_pull_token token;
	char name[GP_KINETO_LABEL_BYTES] = "";

	record.device.device_id = UINT16_MAX;
	for (token = gp_pull_next(r->pull); token == GP_PULL_KEY; token = gp_pull_next(r->pull))
		if (!gp_pull_is(r->pull, "name"))
			take_property(r, &record.device);
		else
			take_name(r->pull, name, sizeof(name));
	if (token != GP_PULL_OBJECT_END || record.device.device_id >= GP_DEVICE_LIMIT)
		return 0;
	if (record.device.warp_threads > 0)
		record.device.max_warps_per_multiprocessor =
			record.device.max_threads_per_multiprocessor / record.device.warp_threads;
	return gp_import_string(r->im, GP_STRING_DEVICE, record.device.device_id, 0, name,
				strlen(name)) == 0
		       ? gp_import_record(r->im, GP_RECORD_DEVICE, &record)
		       : -ENOMEM;
}

static int take_devices(struct reading *r)
{
	enum gp_pull_token token = gp_pull_next(r->pull);
	int result = 0;

	if (token != GP_PULL_ARRAY) {
		gp_pull_skip(r->pull, token);
		return 0;
	}
	while (result == 0) {
		token = gp_pull_next(r->pull);
		if (token >= GP_PULL_END || token == GP_PULL_ARRAY_END)
			break;
		if (token == GP_PULL_OBJECT)
			result = take_device(r);
		else
			gp_pull_skip(r->pull, token);
	}
	return result;
}

/* ---- the whole ---- */

/* The elements of "traceEvents", behind its opening bracket. */
static int take_elements(struct reading *r)
{
	int result = 0;

	while (result == 0) {
		enum gp_pull_token token = gp_pull_next(r->pull);

		if (token >= GP_PULL_END || token == GP_PULL_ARRAY_END)
			break;
		if (token != GP_PULL_OBJECT)
			gp_pull_skip(r->pull, token);
		else if (gp_kineto_event_read(r->pull, &r->event))
			result = gp_kineto_take_event(r->im, &r->event, &r->is_known);
	}
	return result;
}

static int take_events(struct reading *r)
{
	enum gp_pull_token token = gp_pull_next(r->pull);

	if (token == GP_PULL_ARRAY)
		return take_elements(r);
	gp_pull_skip(r->pull, token);
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
	enum gp_pull_token token = gp_pull_next(r->pull);
	int result = 0;

	if (token != GP_PULL_OBJECT) {
		gp_pull_skip(r->pull, token);
		return 0;
	}
	while (result == 0 && gp_pull_next(r->pull) == GP_PULL_KEY) {
		if (gp_pull_is(r->pull, "rank"))
			result = take_number_info(r, GP_INFO_RANK);
		else
			gp_pull_skip(r->pull, GP_PULL_KEY);
	}
	return result;
}

/* "processes": [{...}, ...] of a file that gpuprof has merged */
static void count_processes(struct reading *r)
{
	enum gp_pull_token token = gp_pull_next(r->pull);
	uint32_t count = 0;

	if (token != GP_PULL_ARRAY) {
		gp_pull_skip(r->pull, token);
		return;
	}
	for (token = gp_pull_next(r->pull); token < GP_PULL_END && token != GP_PULL_ARRAY_END;
	     token = gp_pull_next(r->pull)) {
		count += token == GP_PULL_OBJECT;
		gp_pull_skip(r->pull, token);
	}
	r->is_merged = count > 1;
}

/* "partial": 1, and why beside it: the trace of which the file is an export has no end. */
static void take_partial(struct reading *r)
{
	struct gp_model *m = r->im->builder->model;
	int64_t is_partial;

	if (take_whole(r->pull, &is_partial) && is_partial != 0 && !m->why_no_end)
		m->why_no_end = gp_no_end_told("");
}

static void take_why_partial(struct reading *r)
{
	enum gp_pull_token token = gp_pull_next(r->pull);
	size_t bytes;

	if (token == GP_PULL_STRING)
		r->im->builder->model->why_no_end = gp_no_end_told(gp_pull_text(r->pull, &bytes));
	gp_pull_skip(r->pull, token);
}

/* "metadata": {...}: of gpuprof's own entries one tells who has written them. */
static int take_metadata(struct reading *r)
{
	enum gp_pull_token token = gp_pull_next(r->pull);

	if (token != GP_PULL_OBJECT) {
		gp_pull_skip(r->pull, token);
		return 0;
	}
	while (gp_pull_next(r->pull) == GP_PULL_KEY) {
		r->is_own |= gp_pull_is(r->pull, "slices left out");
		r->has_no_order |= gp_pull_is(r->pull, "operations of a stream may run at once");
		if (gp_pull_is(r->pull, "processes"))
			count_processes(r);
		else if (gp_pull_is(r->pull, "partial"))
			take_partial(r);
		else if (gp_pull_is(r->pull, "why partial"))
			take_why_partial(r);
		else
			gp_pull_skip(r->pull, GP_PULL_KEY);
	}
	return 0;
}

static const struct {
	const char *key;
	int (*take)(struct reading *r); /* its value, which comes next */
} entries[] = {
	{"metadata", take_metadata},           {"traceEvents", take_events},
	{"deviceProperties", take_devices},    {"baseTimeNanoseconds", take_base},
	{"distributedInfo", take_distributed}, {"cupti_version", take_cupti},
	{"cuda_driver_version", take_driver},
};

static int take_entry(struct reading *r)
{
	for (size_t i = 0; i < COUNT(entries); i++)
		if (gp_pull_is(r->pull, entries[i].key))
			return entries[i].take(r);
	gp_pull_skip(r->pull, GP_PULL_KEY);
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

/* An object of which one entry are the events, or nothing but these. */
static int take_all(struct reading *r)
{
	enum gp_pull_token token = gp_pull_next(r->pull);
	int result = 0;

	if (token == GP_PULL_ARRAY)
		return take_elements(r);
	if (token != GP_PULL_OBJECT)
		return token == GP_PULL_FAILED ? gp_pull_error(r->pull) : -ENODATA;
	while (result == 0 && gp_pull_next(r->pull) == GP_PULL_KEY)
		result = take_entry(r);
	return result;
}

static int tell_recorder(const struct reading *r)
{
	const uint32_t unknown = GP_UNKNOWN_STATUS | GP_UNKNOWN_ALLOCATIONS |
				 GP_UNKNOWN_SHARED_PARTS | GP_UNKNOWN_LOCAL | GP_UNKNOWN_CONTEXTS |
				 GP_UNKNOWN_SET_VALUES;

	if (r->is_own)
		return gp_import_recorder(
			r->im, "gpuprof, from an exported Chrome trace",
			unknown | (r->has_no_order ? GP_UNKNOWN_ORDER : 0),
			"this is an export: the trace itself, where it is still there, also has memory, call stacks and lost records: here no advice is about allocations, and calls of several places count as one");
	return gp_import_recorder(
		r->im, "torch.profiler", unknown | GP_UNKNOWN_ORDER,
		"torch.profiler does not record whether calls succeeded, nor what CUDA calls allocated and freed; of shared memory it has the sum of static and dynamic");
}

/* What the caching allocator had on a device at most. */
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
		    "PyTorch's caching allocator had at most %s of GPU %u reserved, and %s given to tensors",
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

static int tell_counters(struct gp_importing *im)
{
	char *note;

	if (im->counters_left_out == 0)
		return 0;
	if (asprintf(
		    &note,
		    "%llu values of hardware counters were left out: of a kernel the first %u are read, and names of up to %u bytes",
		    (unsigned long long)im->counters_left_out, GP_KINETO_COUNTERS,
		    GP_KINETO_COUNTER_BYTES - 1) < 0)
		return -ENOMEM;
	return gp_model_builder_note(im->builder, note);
}

/*
 * Returns 0, also where the trace is cut, -ENODATA if there is nothing in it that torch.profiler
 * writes, or what reading failed with.
 */
static int take(struct gp_importing *im, struct gp_pull *pull)
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
		result = gp_pull_error(pull);
	if (result == 0 && !r->is_known)
		result = -ENODATA;
	if (result == 0 && r->is_merged)
		result = -ENOTUNIQ;
	im->is_cut = gp_pull_next(pull) != GP_PULL_END;
	if (result == 0)
		result = tell_recorder(r);
	if (result == 0)
		result = tell_allocators(im);
	if (result == 0)
		result = tell_counters(im);
	if (result == 0)
		result = gp_importing_finish(im, (uint64_t)r->unix_ns);
	free(r->event.turns);
	free(r);
	return result;
}

/* ---- files ---- */

static int read_input(struct gp_input *input, struct gp_model_builder *b)
{
	struct gp_pull *pull = gp_pull_new(gp_input_read, input);
	struct gp_importing im;
	int result;

	gp_importing_begin(&im, b);
	result = pull ? take(&im, pull) : -ENOMEM;
	gp_importing_free(&im);
	gp_pull_free(pull);
	return result;
}

/* gpuprof's own JSON that is no trace lies beside traces. */
static void tell_other_json(const char *path, char *message, size_t message_bytes)
{
	char head[64] = "";

	gp_input_head(path, (uint8_t *)head, sizeof(head) - 1);
	if (strstr(head, "\"gpuprof_baseline\""))
		snprintf(message, message_bytes,
			 "%s is a baseline of gpuprof check and no trace; it goes after --baseline",
			 path);
	else if (strstr(head, "\"gpuprof_check\""))
		snprintf(message, message_bytes, "%s is a report of gpuprof check and no trace",
			 path);
	else
		snprintf(
			message, message_bytes,
			"%s is JSON, but no trace of torch.profiler: it has none of its events; what others write, such as jax.profiler, is not read: record the program with gpuprof-run",
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
			"%s holds several processes, of which the same numbers name different calls and streams; name their .gpuprof files in place of it, or one JSON file for each process",
			path);
	else if (result != 0)
		gp_import_explain(result, path, message, message_bytes);
	return result;
}
