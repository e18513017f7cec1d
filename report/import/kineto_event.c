#include "report/import/kineto_event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"

struct field {
	const char *key;
	/* Reads the value of the key, which was the last token. Returns false if the input ends. */
	bool (*take)(struct gp_json_reader *pull, struct gp_kineto_event *event, uint32_t number);
	uint32_t number;
};

static bool take_number(struct gp_json_reader *pull, struct gp_kineto_event *event, uint32_t number)
{
	enum gp_json_reader_token token = gp_json_reader_next(pull);

	if ((token == GP_JSON_NUMBER || token == GP_JSON_STRING) &&
	    gp_json_reader_whole(pull, &event->numbers[number]))
		event->has |= UINT64_C(1) << number;
	return gp_json_reader_skip(pull, token);
}

/* Reads an address: "0x7f00". */
static bool take_address(struct gp_json_reader *pull, struct gp_kineto_event *event,
			 uint32_t number)
{
	enum gp_json_reader_token token = gp_json_reader_next(pull);
	const char *text = "";
	size_t bytes;

	if (token == GP_JSON_STRING)
		text = gp_json_reader_text(pull, &bytes);
	if (strncmp(text, "0x", 2) == 0) {
		event->numbers[number] = (int64_t)strtoull(text, NULL, 16);
		event->has |= UINT64_C(1) << number;
	}
	return gp_json_reader_skip(pull, token);
}

static bool take_start(struct gp_json_reader *pull, struct gp_kineto_event *event, uint32_t number)
{
	enum gp_json_reader_token token = gp_json_reader_next(pull);

	(void)number;
	if (token == GP_JSON_NUMBER || token == GP_JSON_STRING)
		event->has_start = gp_json_reader_thousandths(pull, &event->start_ns);
	return gp_json_reader_skip(pull, token);
}

/*
 * A century. A profiler that subtracts in unsigned numbers writes some 2^64 ns in place of a
 * negative length, which means that there is no end.
 */
#define LONGEST_NS INT64_C(3155760000000000000)

static bool take_duration(struct gp_json_reader *pull, struct gp_kineto_event *event,
			  uint32_t number)
{
	enum gp_json_reader_token token = gp_json_reader_next(pull);

	(void)number;
	if (token == GP_JSON_NUMBER || token == GP_JSON_STRING)
		gp_json_reader_thousandths(pull, &event->duration_ns);
	if (event->duration_ns > LONGEST_NS)
		event->duration_ns = -1;
	return gp_json_reader_skip(pull, token);
}

static bool take_text(struct gp_json_reader *pull, char *to, size_t room, size_t *length)
{
	enum gp_json_reader_token token = gp_json_reader_next(pull);
	const char *text;

	*length = 0;
	if (token == GP_JSON_STRING) {
		text = gp_json_reader_text(pull, length);
		if (*length >= room)
			*length = room - 1;
		memcpy(to, text, *length);
	}
	to[*length] = '\0';
	return gp_json_reader_skip(pull, token);
}

static bool take_name(struct gp_json_reader *pull, struct gp_kineto_event *event, uint32_t number)
{
	(void)number;
	return take_text(pull, event->name, sizeof(event->name), &event->name_bytes);
}

/* Devices and processes have numbers, or any names. */
static bool take_process(struct gp_json_reader *pull, struct gp_kineto_event *event,
			 uint32_t number)
{
	enum gp_json_reader_token token = gp_json_reader_next(pull);
	size_t bytes;

	if (token == GP_JSON_NUMBER || token == GP_JSON_STRING) {
		snprintf(event->process, sizeof(event->process), "%s",
			 gp_json_reader_text(pull, &bytes));
		if (gp_json_reader_whole(pull, &event->numbers[number]))
			event->has |= UINT64_C(1) << number;
	}
	return gp_json_reader_skip(pull, token);
}

static bool take_phase(struct gp_json_reader *pull, struct gp_kineto_event *event, uint32_t number)
{
	size_t length;

	(void)number;
	return take_text(pull, event->phase, sizeof(event->phase), &length);
}

static bool take_category(struct gp_json_reader *pull, struct gp_kineto_event *event,
			  uint32_t number)
{
	size_t length;

	(void)number;
	return take_text(pull, event->category, sizeof(event->category), &length);
}

static bool take_label(struct gp_json_reader *pull, struct gp_kineto_event *event, uint32_t number)
{
	size_t length;

	(void)number;
	return take_text(pull, event->label, sizeof(event->label), &length);
}

/* Reads [x, y, z]; *is_there: these are three 32-bit numbers. */
static bool take_three(struct gp_json_reader *pull, uint32_t three[3], bool *is_there)
{
	enum gp_json_reader_token token = gp_json_reader_next(pull);
	uint32_t count = 0;
	int64_t number;

	*is_there = false;
	if (token != GP_JSON_ARRAY)
		return gp_json_reader_skip(pull, token);
	for (token = gp_json_reader_next(pull); token != GP_JSON_ARRAY_END;
	     token = gp_json_reader_next(pull)) {
		if (token == GP_JSON_NUMBER && count < 3 && gp_json_reader_whole(pull, &number) &&
		    number >= 0 && number <= UINT32_MAX)
			three[count] = (uint32_t)number;
		else if (!gp_json_reader_skip(pull, token))
			return false;
		count++;
	}
	*is_there = count == 3;
	return true;
}

/* Reads an array of 32-bit numbers and calls take() for each; skips other elements. */
static bool take_list(struct gp_json_reader *pull, struct gp_kineto_event *event,
		      void (*take)(struct gp_kineto_event *event, uint32_t number))
{
	enum gp_json_reader_token token = gp_json_reader_next(pull);
	int64_t number;

	if (token != GP_JSON_ARRAY)
		return gp_json_reader_skip(pull, token);
	for (token = gp_json_reader_next(pull); token != GP_JSON_ARRAY_END;
	     token = gp_json_reader_next(pull)) {
		if (token != GP_JSON_NUMBER && !gp_json_reader_skip(pull, token))
			return false;
		if (token == GP_JSON_NUMBER && gp_json_reader_whole(pull, &number) && number >= 0 &&
		    number <= UINT32_MAX)
			take(event, (uint32_t)number);
	}
	return true;
}

static void add_stream(struct gp_kineto_event *event, uint32_t stream)
{
	if (event->stream_count < GP_KINETO_STREAMS)
		event->streams[event->stream_count++] = stream;
}

static void add_device(struct gp_kineto_event *event, uint32_t device)
{
	if (device < 32)
		event->devices |= 1u << device;
}

static bool take_streams(struct gp_json_reader *pull, struct gp_kineto_event *event,
			 uint32_t number)
{
	(void)number;
	return take_list(pull, event, add_stream);
}

static bool take_device_list(struct gp_json_reader *pull, struct gp_kineto_event *event,
			     uint32_t number)
{
	(void)number;
	return take_list(pull, event, add_device);
}

static bool take_stream_kind(struct gp_json_reader *pull, struct gp_kineto_event *event,
			     uint32_t number)
{
	size_t length;

	(void)number;
	return take_text(pull, event->stream_kind, sizeof(event->stream_kind), &length);
}

static bool take_memory(struct gp_json_reader *pull, struct gp_kineto_event *event, uint32_t number)
{
	size_t length;

	(void)number;
	return take_text(pull, event->memory, sizeof(event->memory), &length);
}

static bool take_domain(struct gp_json_reader *pull, struct gp_kineto_event *event, uint32_t number)
{
	size_t length;

	(void)number;
	return take_text(pull, event->domain, sizeof(event->domain), &length);
}

static bool take_call_stack(struct gp_json_reader *pull, struct gp_kineto_event *event,
			    uint32_t number)
{
	size_t length;

	(void)number;
	return take_text(pull, event->call_stack, sizeof(event->call_stack), &length);
}

static bool take_grid(struct gp_json_reader *pull, struct gp_kineto_event *event, uint32_t number)
{
	(void)number;
	return take_three(pull, event->grid, &event->has_grid);
}

static bool take_block(struct gp_json_reader *pull, struct gp_kineto_event *event, uint32_t number)
{
	(void)number;
	return take_three(pull, event->block, &event->has_block);
}

#define NUMBER(key, name)                                                                          \
	{                                                                                          \
		key, take_number, GP_KINETO_##name                                                 \
	}

static const struct field args_fields[] = {
	{"name", take_label, 0},
	{"file", take_label, 0},
	{"by", take_label, 0},
	{"domain", take_domain, 0},
	{"Call stack", take_call_stack, 0},
	{"grid", take_grid, 0},
	{"block", take_block, 0},
	NUMBER("device", DEVICE),
	NUMBER("context", CONTEXT),
	NUMBER("stream", STREAM),
	NUMBER("correlation", CORRELATION),
	NUMBER("bytes", BYTES),
	NUMBER("registers per thread", REGISTERS),
	NUMBER("shared memory", SHARED),
	NUMBER("graph id", GRAPH),
	NUMBER("graph node id", GRAPH_NODE),
	NUMBER("channel", CHANNEL),
	NUMBER("channel_type", CHANNEL_TYPE),
	NUMBER("cbid", CBID),
	NUMBER("fromDevice", FROM_DEVICE),
	NUMBER("inDevice", IN_DEVICE),
	NUMBER("toDevice", TO_DEVICE),
	NUMBER("fromContext", FROM_CONTEXT),
	NUMBER("inContext", IN_CONTEXT),
	NUMBER("toContext", TO_CONTEXT),
	NUMBER("wait_on_cuda_event_id", EVENT),
	NUMBER("event_id", EVENT),
	NUMBER("Total Reserved", RESERVED),
	NUMBER("Total Allocated", ALLOCATED),
	NUMBER("Device Type", DEVICE_TYPE),
	NUMBER("Device Id", DEVICE_ID),
	NUMBER("thread", THREAD),
	NUMBER("operation", OPERATION),
	NUMBER("compute cache bytes", CACHE_BYTES),
	NUMBER("status", STATUS),
	NUMBER("captured", CAPTURED),
	NUMBER("cooperative", COOPERATIVE),
	NUMBER("programmatic dependent launch", OVERLAPPING),
	{"made streams", take_streams, 0},
	{"stream kind", take_stream_kind, 0},
	{"memory", take_memory, 0},
	{"devices", take_device_list, 0},
	{"address", take_address, GP_KINETO_ADDRESS},
	NUMBER("in context", CALL_CONTEXT),
	NUMBER("made context", MADE_CONTEXT),
	NUMBER("default stream", DEFAULT_STREAM),
	NUMBER("of device", CONTEXT_DEVICE),
	NUMBER("priority", PRIORITY),
	NUMBER("value", VALUE),
	NUMBER("flags", FLAGS),
	NUMBER("source", SOURCE),
	NUMBER("destination", DESTINATION),
	NUMBER("samples", SAMPLES),
	NUMBER("looks", SAMPLES), /* in older exports */
	NUMBER("line", LINE),
	NUMBER("imported", IMPORTED),
};

/* Most keys differ in the first letter. */
static bool is_key(const char *key, const char *text)
{
	return *key == *text && strcmp(key, text) == 0;
}

/* CUPTI metrics have names such as "smsp__inst_executed.sum"; no other key contains "__". */
static bool is_counter(const char *key)
{
	return strstr(key, "__") != NULL;
}

static bool take_counter(struct gp_json_reader *pull, struct gp_kineto_event *event,
			 const char *key)
{
	struct gp_kineto_counter *counter = &event->counters[event->counter_count];
	bool has_room =
		event->counter_count < GP_KINETO_COUNTERS && strlen(key) < sizeof(counter->name);
	enum gp_json_reader_token token;
	size_t bytes;

	if (has_room)
		snprintf(counter->name, sizeof(counter->name), "%s", key);
	token = gp_json_reader_next(pull);
	if (token == GP_JSON_NUMBER && has_room) {
		counter->value = strtod(gp_json_reader_text(pull, &bytes), NULL);
		event->counter_count++;
	} else if (token == GP_JSON_NUMBER) {
		event->counters_left_out++;
	}
	return gp_json_reader_skip(pull, token);
}

/* "lines", and "lines 2" and so on if they do not fit into one text. */
static bool is_lines(const char *key)
{
	return strncmp(key, "lines", 5) == 0;
}

/* Reads "14@2500000 2@7000000" up to the first invalid pair. */
static bool take_lines(struct gp_json_reader *pull, struct gp_kineto_event *event)
{
	enum gp_json_reader_token token = gp_json_reader_next(pull);
	const char *text = "";
	char *end = NULL;
	size_t bytes;

	if (token == GP_JSON_STRING)
		text = gp_json_reader_text(pull, &bytes);
	for (; *text != '\0'; text = end) {
		struct gp_kineto_line_change line_change = {
			.line = (uint32_t)strtoul(text, &end, 10)};

		if (*end != '@')
			break;
		line_change.after_ns = strtoull(end + 1, &end, 10);
		if (gp_array_grow(&event->line_changes, &event->line_change_capacity,
				  event->line_change_count, sizeof(line_change)) == 0)
			event->line_changes[event->line_change_count++] = line_change;
		else
			event->has_no_memory = true;
	}
	return gp_json_reader_skip(pull, token);
}

/* Reads the entries of an object up to its closing bracket. */
static bool take_fields(struct gp_json_reader *pull, struct gp_kineto_event *event,
			const struct field *fields, size_t count)
{
	enum gp_json_reader_token token;

	for (token = gp_json_reader_next(pull); token == GP_JSON_KEY;
	     token = gp_json_reader_next(pull)) {
		size_t i = 0, bytes;
		const char *key = gp_json_reader_text(pull, &bytes);

		while (i < count && !is_key(fields[i].key, key))
			i++;
		if (i < count         ? !fields[i].take(pull, event, fields[i].number)
		    : is_counter(key) ? !take_counter(pull, event, key)
		    : is_lines(key)   ? !take_lines(pull, event)
				      : !gp_json_reader_skip(pull, token))
			return false;
	}
	return token == GP_JSON_OBJECT_END;
}

static bool take_args(struct gp_json_reader *pull, struct gp_kineto_event *event, uint32_t number)
{
	enum gp_json_reader_token token = gp_json_reader_next(pull);

	(void)number;
	if (token == GP_JSON_OBJECT)
		return take_fields(pull, event, args_fields, COUNT(args_fields));
	return gp_json_reader_skip(pull, token);
}

static const struct field event_fields[] = {
	{"ph", take_phase, 0},     {"cat", take_category, 0},
	{"name", take_name, 0},    {"pid", take_process, GP_KINETO_PID},
	NUMBER("tid", TID),        {"ts", take_start, 0},
	{"dur", take_duration, 0}, {"args", take_args, 0},
};

bool gp_kineto_event_read(struct gp_json_reader *pull, struct gp_kineto_event *event)
{
	memset(event, 0, offsetof(struct gp_kineto_event, name));
	event->name[0] = event->call_stack[0] = '\0';
	return take_fields(pull, event, event_fields, COUNT(event_fields));
}

bool gp_kineto_event_has_key(const char *key)
{
	size_t i = 0;

	while (i < COUNT(event_fields) && !is_key(event_fields[i].key, key))
		i++;
	return i < COUNT(event_fields);
}

bool gp_kineto_has(const struct gp_kineto_event *event, enum gp_kineto_number number)
{
	return (event->has >> number & 1u) != 0;
}

uint32_t gp_kineto_number(const struct gp_kineto_event *event, enum gp_kineto_number number,
			  uint32_t otherwise)
{
	int64_t value = event->numbers[number];

	return gp_kineto_has(event, number) && value >= 0 && value <= UINT32_MAX ? (uint32_t)value
										 : otherwise;
}
