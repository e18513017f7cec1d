/* The Chrome trace of what is neither call nor operation, written from trace files. */
#include "tests/unit.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "tests/report/trace_builder.h"

#define THREAD 100
#define OTHER  200

static void begin(struct gp_builder *b)
{
	gp_builder_init(b);
	gp_builder_start(b);
	gp_builder_add(b, &(struct gp_record_context){.kind = GP_RECORD_CONTEXT, .id = 1});
	gp_builder_chunk(b, 1, THREAD);
}

/* The events of the file. */
static json_t *export(struct gp_builder *b, json_t **root)
{
	struct gp_model *model = gp_builder_load(b);
	struct gp_export_options options = {0};
	json_error_t error;
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	gp_builder_free(b);
	assert_int_equal(gp_export_model(&gp_exporter_chrome, model, &options, out), 0);
	fclose(out);
	gp_model_free(model);
	*root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
	if (!*root)
		fail_msg("line %d: %s", error.line, error.text);
	free(text);
	return json_object_get(*root, "traceEvents");
}

static const char *text_of(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* The only event with that phase, category and name; NULL if there is none. */
static json_t *find(json_t *events, const char *phase, const char *category, const char *name)
{
	json_t *event, *found = NULL;
	size_t i;

	json_array_foreach(events, i, event)
	{
		if (strcmp(text_of(event, "ph"), phase) != 0 ||
		    strcmp(text_of(event, "cat"), category) != 0 ||
		    strcmp(text_of(event, "name"), name) != 0)
			continue;
		assert_null(found);
		found = event;
	}
	return found;
}

static json_t *need(json_t *events, const char *phase, const char *category, const char *name)
{
	json_t *event = find(events, phase, category, name);

	if (!event)
		fail_msg("no %s %s \"%s\"", phase, category, name);
	return event;
}

/* The event's time in ns of the model, whose 0 is GP_TEST_UNIX. */
static int64_t at(json_t *root, json_t *event)
{
	int64_t base_ns = json_integer_value(json_object_get(root, "baseTimeNanoseconds"));

	return base_ns + llround(json_real_value(json_object_get(event, "ts")) * 1000) -
	       (int64_t)GP_TEST_UNIX;
}

static int64_t length_of(json_t *event)
{
	return llround(json_real_value(json_object_get(event, "dur")) * 1000);
}

static json_int_t arg(json_t *event, const char *key)
{
	json_t *value = json_object_get(json_object_get(event, "args"), key);

	if (!json_is_integer(value))
		fail_msg("no integer %s in %s", key, json_dumps(event, 0));
	return json_integer_value(value);
}

static const char *text_arg(json_t *event, const char *key)
{
	return text_of(json_object_get(event, "args"), key);
}

static json_int_t tid_of(json_t *event)
{
	return json_integer_value(json_object_get(event, "tid"));
}

static json_int_t pid_of(json_t *event)
{
	return json_integer_value(json_object_get(event, "pid"));
}

/* The name of the track that an event is on. */
static const char *track_of(json_t *events, json_t *on)
{
	json_t *event;
	size_t i;

	json_array_foreach(events, i, event)
	{
		if (strcmp(text_of(event, "name"), "thread_name") == 0 &&
		    pid_of(event) == pid_of(on) && tid_of(event) == tid_of(on))
			return text_arg(event, "name");
	}
	return "";
}

/* Where viewers put the track. */
static json_int_t order_of(json_t *events, json_t *on)
{
	json_t *event;
	size_t i;

	json_array_foreach(events, i, event)
	{
		if (strcmp(text_of(event, "name"), "thread_sort_index") == 0 &&
		    pid_of(event) == pid_of(on) && tid_of(event) == tid_of(on))
			return arg(event, "sort_index");
	}
	return -1;
}

/* ---- ranges ---- */

static void add_range(struct gp_builder *b, struct gp_record_range range, uint64_t at_ns)
{
	range.kind = GP_RECORD_RANGE;
	range.ticks = GP_TEST_AT_TICK(at_ns);
	gp_builder_add(b, &range);
}

static void test_ranges_on_their_thread(void **state)
{
	struct gp_builder b;
	json_t *root, *events, *range, *call;

	begin(&b);
	gp_builder_string(&b, GP_STRING_DOMAIN, 2, 0, "my \"lib\"");
	gp_builder_string(&b, GP_STRING_RANGE, 1, 0, "step\n\"1\"");
	gp_builder_string(&b, GP_STRING_RANGE, 2, 0, "load");
	gp_builder_string(&b, GP_STRING_RANGE, 3, 0, "here");
	gp_builder_string(&b, GP_STRING_CATEGORY, 9, 2, "io");
	add_range(&b,
		  (struct gp_record_range){.op = GP_RANGE_PUSH,
					   .domain_id = 2,
					   .text_id = 1,
					   .category = 9,
					   .flags = GP_RANGE_HAS_COLOR,
					   .color_argb = 0xff0a0b0c,
					   .payload_kind = GP_PAYLOAD_SIGNED,
					   .payload = (uint64_t)-5},
		  100);
	gp_builder_call(&b, GP_TEST_SYNC, 1, 110, 20);
	add_range(&b, (struct gp_record_range){.op = GP_RANGE_MARK, .text_id = 3}, 140);
	add_range(&b, (struct gp_record_range){.op = GP_RANGE_POP, .domain_id = 2}, 150);
	add_range(&b, (struct gp_record_range){.op = GP_RANGE_START, .text_id = 2, .range_id = 4},
		  160);
	gp_builder_chunk(&b, 2, OTHER); /* a thread that called nothing */
	add_range(&b, (struct gp_record_range){.op = GP_RANGE_END, .range_id = 4}, 500);
	add_range(&b, (struct gp_record_range){.op = GP_RANGE_PUSH}, 510);
	add_range(&b, (struct gp_record_range){.op = GP_RANGE_POP}, 520);
	events = export(&b, &root);
	range = need(events, "X", "user_annotation", "step\n\"1\"");
	call = need(events, "X", "cuda_runtime", "cudaDeviceSynchronize");
	assert_int_equal(at(root, range), 100);
	assert_int_equal(length_of(range), 50);
	assert_int_equal(tid_of(range), tid_of(call));
	assert_string_equal(text_arg(range, "domain"), "my \"lib\"");
	assert_string_equal(text_arg(range, "category"), "io");
	assert_string_equal(text_arg(range, "color"), "#0a0b0c");
	assert_int_equal(arg(range, "payload"), -5);
	assert_int_equal(at(root, need(events, "i", "user_annotation", "here")), 140);
	assert_int_equal(at(root, need(events, "b", "user_annotation", "load")), 160);
	assert_int_equal(at(root, need(events, "e", "user_annotation", "load")), 500);
	assert_int_equal(arg(need(events, "e", "user_annotation", "load"), "thread"), OTHER);
	assert_string_equal(track_of(events, need(events, "X", "user_annotation", "(no name)")),
			    "thread 200");
	json_decref(root);
}

static void test_payloads(void **state)
{
	struct gp_builder b;
	json_t *root, *events, *fields;
	const double not_finite = INFINITY;
	uint64_t bits;

	memcpy(&bits, &not_finite, sizeof(bits));
	begin(&b);
	gp_builder_string(&b, GP_STRING_SCHEMA, 1, 0,
			  "1\t4\ts\n0\t12\t0\t0\trank\n0\t12\t1\t0\trank\n16\t1\t2\t2\tname\n");
	gp_builder_string(&b, GP_STRING_PAYLOAD, 7, 1, "AB\"!");
	gp_builder_string(&b, GP_STRING_RANGE, 1, 0, "m");
	add_range(&b,
		  (struct gp_record_range){.op = GP_RANGE_MARK,
					   .text_id = 1,
					   .payload_kind = GP_PAYLOAD_FLOATING,
					   .payload = bits,
					   .payload_id = 7},
		  100);
	events = export(&b, &root);
	fields = json_object_get(json_object_get(need(events, "i", "user_annotation", "m"), "args"),
				 "fields");
	assert_int_equal(json_integer_value(json_object_get(fields, "rank")), 'A');
	assert_int_equal(json_integer_value(json_object_get(fields, "rank (2)")), 'B');
	assert_string_equal(text_of(fields, "name"), "\"!");
	assert_string_equal(text_arg(need(events, "i", "user_annotation", "m"), "payload"), "inf");
	json_decref(root);
}

/* A range of its own on each stream, above the operations. */
static void test_ranges_on_the_gpu(void **state)
{
	struct gp_builder b;
	json_t *root, *events, *range;

	begin(&b);
	gp_builder_string(&b, GP_STRING_RANGE, 1, 0, "outer");
	gp_builder_string(&b, GP_STRING_RANGE, 2, 0, "inner");
	add_range(&b, (struct gp_record_range){.op = GP_RANGE_PUSH, .text_id = 1}, 100);
	gp_builder_call(&b, GP_TEST_LAUNCH, 1, 110, 5);
	gp_builder_kernel(&b, 1, 1000, 1100);
	add_range(&b, (struct gp_record_range){.op = GP_RANGE_PUSH, .text_id = 2}, 120);
	gp_builder_call(&b, GP_TEST_LAUNCH, 2, 130, 5);
	gp_builder_kernel(&b, 2, 1100, 1250);
	add_range(&b, (struct gp_record_range){.op = GP_RANGE_POP}, 140);
	add_range(&b, (struct gp_record_range){.op = GP_RANGE_POP}, 150);
	gp_builder_call(&b, GP_TEST_LAUNCH, 3, 160, 5);
	gp_builder_kernel(&b, 3, 2000, 2100);
	events = export(&b, &root);
	range = need(events, "X", "gpu_user_annotation", "outer");
	assert_int_equal(at(root, range), 1000);
	assert_int_equal(length_of(range), 250);
	assert_string_equal(track_of(events, range), "stream 7, ranges");
	range = need(events, "X", "gpu_user_annotation", "inner");
	assert_int_equal(at(root, range), 1100);
	assert_int_equal(length_of(range), 150);
	range = need(events, "X", "user_annotation", "outer");
	assert_int_equal(arg(range, "GPU operations"), 2);
	json_decref(root);
}

/* ---- synchronization ---- */

static void add_event(struct gp_builder *b, uint32_t correlation_id, uint32_t event_id,
		      uint64_t sync_id, uint64_t device_ns)
{
	gp_builder_add(b, &(struct gp_record_event){
				  .kind = GP_RECORD_EVENT,
				  .correlation_id = correlation_id,
				  .context_id = 1,
				  .stream_id = 13,
				  .event_id = event_id,
				  .sync_id = sync_id,
				  .device_ns = device_ns ? GP_TEST_CUPTI(device_ns) : 0});
}

static void add_sync(struct gp_builder *b, uint16_t kind, uint32_t correlation_id,
		     uint32_t stream_id, uint64_t event_sync_id, uint64_t start_ns)
{
	gp_builder_add(b, &(struct gp_record_sync){.kind = GP_RECORD_SYNC,
						   .sync_kind = kind,
						   .correlation_id = correlation_id,
						   .start_ns = GP_TEST_CUPTI(start_ns),
						   .end_ns = GP_TEST_CUPTI(start_ns + 10),
						   .context_id = 1,
						   .stream_id = stream_id,
						   .event_id = kind <= 2 ? 5 : 0,
						   .event_sync_id = event_sync_id});
}

static void test_synchronizations_as_kineto_has_them(void **state)
{
	struct gp_builder b;
	json_t *root, *events, *sync;

	begin(&b);
	add_event(&b, 20, 5, 71, 0);
	add_event(&b, 21, 5, 72, 400);
	add_event(&b, 22, 5, 73, 0);
	add_event(&b, 90, 6, 0, 0);
	add_sync(&b, 2, 30, 7, 72, 500);
	add_sync(&b, 1, 31, GP_NO_STREAM, 0, 600); /* no id: the last recording before */
	add_sync(&b, 3, 32, 7, 0, 700);
	add_sync(&b, 4, 33, GP_NO_STREAM, 0, 800);
	events = export(&b, &root);
	sync = need(events, "X", "cuda_sync", "Stream Wait Event");
	assert_int_equal(at(root, sync), 500);
	assert_int_equal(arg(sync, "stream"), 7);
	assert_int_equal(arg(sync, "correlation"), 30);
	assert_int_equal(arg(sync, "wait_on_stream"), 13);
	assert_int_equal(arg(sync, "wait_on_cuda_event_record_corr_id"), 21);
	assert_string_equal(text_arg(sync, "cuda_sync_kind"), "Stream Wait Event");
	assert_string_equal(track_of(events, sync), "stream 7 (sync)");
	sync = need(events, "X", "cuda_sync", "Event Sync");
	assert_int_equal(arg(sync, "stream"), -1);
	assert_int_equal(arg(sync, "wait_on_cuda_event_record_corr_id"), 22);
	sync = need(events, "X", "cuda_sync", "Context Sync");
	assert_int_equal(arg(sync, "stream"), -1);
	assert_string_equal(track_of(events, sync), "context 1 (sync)");
	assert_null(json_object_get(json_object_get(sync, "args"), "wait_on_stream"));
	need(events, "X", "cuda_sync", "Stream Sync");
	assert_int_equal(at(root, need(events, "i", "cuda_event", "event 5")), 400);
	json_decref(root);
}

static void test_an_event_that_was_not_recorded(void **state)
{
	struct gp_builder b;
	json_t *root, *events, *sync;

	begin(&b);
	add_sync(&b, 2, 30, 7, 72, 500);
	events = export(&b, &root);
	sync = need(events, "X", "cuda_sync", "Stream Wait Event");
	assert_int_equal(arg(sync, "wait_on_stream"), -1);
	assert_int_equal(arg(sync, "wait_on_cuda_event_record_corr_id"), -1);
	json_decref(root);
}

/* ---- graphs ---- */

static void test_graphs(void **state)
{
	struct gp_builder b;
	json_t *root, *events, *event;

	begin(&b);
	gp_builder_add(&b,
		       &(struct gp_record_call){.kind = GP_RECORD_CALL,
						.api = GP_TEST_LAUNCH,
						.correlation_id = 10,
						.start_ticks = GP_TEST_AT_TICK(100),
						.duration_low_ticks = 5,
						.status = GP_CALL_CAPTURED | GP_CALL_COOPERATIVE |
							  GP_CALL_OVERLAPPING});
	gp_builder_call(&b, GP_TEST_GRAPH_LAUNCH, 20, 200, 5);
	gp_builder_add(&b, &(struct gp_record_node){.kind = GP_RECORD_NODE,
						    .correlation_id = 10,
						    .node_id = 0x101,
						    .graph_id = 1});
	gp_builder_add(&b, &(struct gp_record_kernel){.kind = GP_RECORD_KERNEL,
						      .correlation_id = 20,
						      .start_ns = GP_TEST_CUPTI(300),
						      .end_ns = GP_TEST_CUPTI(310),
						      .name_id = 1,
						      .shape_id = 1,
						      .context_id = 1,
						      .stream_id = 7,
						      .graph_node_id = 0x101,
						      .graph_id = 1});
	gp_builder_add(&b, &(struct gp_record_graph){.kind = GP_RECORD_GRAPH,
						     .correlation_id = 20,
						     .start_ns = GP_TEST_CUPTI(400),
						     .end_ns = GP_TEST_CUPTI(500),
						     .context_id = 1,
						     .stream_id = 7,
						     .graph_id = 3});
	events = export(&b, &root);
	event = need(events, "X", "kernel", "kernel(float*)");
	assert_int_equal(arg(event, "cooperative"), 1);
	assert_int_equal(arg(event, "programmatic dependent launch"), 1);
	assert_string_equal(text_arg(event, "captured call"), "cudaLaunchKernel");
	assert_int_equal(arg(event, "captured correlation"), 10);
	event = need(events, "X", "gpu_graph", "graph 3");
	assert_int_equal(at(root, event), 400);
	assert_int_equal(length_of(event), 100);
	assert_int_equal(arg(event, "correlation"), 20);
	json_decref(root);
}

/* ---- what is left ---- */

static void add_unified(struct gp_builder *b, uint16_t kind, uint32_t source, uint32_t destination,
			uint64_t start_ns, uint64_t end_ns)
{
	gp_builder_add(b, &(struct gp_record_unified){.kind = GP_RECORD_UNIFIED,
						      .counter_kind = kind,
						      .flags = 3,
						      .start_ns = GP_TEST_CUPTI(start_ns),
						      .end_ns = end_ns ? GP_TEST_CUPTI(end_ns) : 0,
						      .value = 4096,
						      .address = 0x7000,
						      .source_device_id = source,
						      .destination_device_id = destination});
}

static void test_unified_memory(void **state)
{
	struct gp_builder b;
	json_t *root, *events, *event;

	begin(&b);
	gp_builder_add(&b, &(struct gp_record_device){.kind = GP_RECORD_DEVICE, .device_id = 1});
	add_unified(&b, 1, UINT32_MAX, 1, 100, 200);
	add_unified(&b, 2, 1, UINT32_MAX, 150, 300); /* overlaps */
	add_unified(&b, 4, 1, 1, 350, 0);
	add_unified(&b, 3, UINT32_MAX, UINT32_MAX, 360, 0);
	add_unified(&b, 5, 1 << 1 | 1 << 4, 0, 370, 0); /* bits */
	events = export(&b, &root);
	event = need(events, "X", "unified_memory", "migration HtoD");
	assert_int_equal(pid_of(event), 1);
	assert_int_equal(arg(event, "bytes"), 4096);
	assert_string_equal(text_arg(event, "address"), "0x7000");
	assert_string_equal(text_arg(event, "source"), "host");
	assert_int_equal(arg(event, "destination"), 1);
	assert_string_equal(text_arg(event, "cause"), "prefetch");
	assert_string_equal(track_of(events, event), "unified memory");
	event = need(events, "X", "unified_memory", "migration DtoH");
	assert_string_equal(track_of(events, event), "unified memory, lane 2");
	assert_int_equal(pid_of(need(events, "i", "unified_memory", "page fault of a GPU")), 1);
	event = need(events, "i", "unified_memory", "thrashing");
	assert_int_equal(pid_of(event), 1);
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(event, "args"), "devices")), 2);
	assert_int_equal(pid_of(need(events, "i", "unified_memory", "page fault of the CPU")),
			 4242);
	json_decref(root);
}

static void add_stream(struct gp_builder *b, uint32_t id, uint32_t made_by, uint16_t flags,
		       int32_t priority)
{
	gp_builder_add(b, &(struct gp_record_stream){.kind = GP_RECORD_STREAM,
						     .id = id,
						     .context_id = 1,
						     .correlation_id = made_by,
						     .flags = flags,
						     .priority = priority});
}

/* The first call makes the context, whose streams come with it. */
static void test_calls_say_what_they_made(void **state)
{
	struct gp_builder b;
	json_t *root, *events, *event;

	begin(&b);
	gp_builder_add(&b, &(struct gp_record_context){
				   .kind = GP_RECORD_CONTEXT, .id = 1, .null_stream_id = 7});
	add_stream(&b, 7, 1, 3, 0);
	add_stream(&b, 6, 1, 1, 0);
	add_stream(&b, 13, 3, 2, -5);
	add_stream(&b, 14, 99, 2, 0);
	gp_builder_call(&b, GP_TEST_FREE, 1, 100, 50);
	gp_builder_call(&b, GP_TEST_SYNC, 2, 200, 50);
	gp_builder_call(&b, GP_TEST_SET, 3, 300, 50);
	gp_builder_add(&b, &(struct gp_record_kernel){.kind = GP_RECORD_KERNEL,
						      .start_ns = GP_TEST_CUPTI(400),
						      .end_ns = GP_TEST_CUPTI(500),
						      .context_id = 1,
						      .stream_id = 13});
	gp_builder_string(&b, GP_STRING_API, 135, GP_API_EVENT, "cudaEventRecord");
	gp_builder_call(&b, 135, 4, 600, 50);
	gp_builder_add(&b, &(struct gp_record_event){.kind = GP_RECORD_EVENT,
						     .correlation_id = 4,
						     .context_id = 1,
						     .stream_id = 13,
						     .event_id = 9});
	gp_builder_add(&b, &(struct gp_record_sync){.kind = GP_RECORD_SYNC,
						    .sync_kind = 3,
						    .start_ns = GP_TEST_CUPTI(700),
						    .end_ns = GP_TEST_CUPTI(800),
						    .context_id = 1,
						    .stream_id = 13});
	events = export(&b, &root);
	event = need(events, "X", "cuda_runtime", "cudaEventRecord");
	assert_int_equal(arg(event, "event_id"), 9);
	assert_int_equal(arg(event, "recorded in stream"), 13);
	assert_int_equal(order_of(events, need(events, "X", "cuda_sync", "Stream Sync")),
			 order_of(events, need(events, "X", "kernel", "(unknown kernel)")) + 100);
	event = need(events, "X", "cuda_runtime", "cudaFree");
	assert_int_equal(arg(event, "made context"), 1);
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(event, "args"), "made streams")),
		2);
	event = need(events, "X", "cuda_runtime", "cudaMemsetAsync");
	assert_int_equal(arg(event, "priority"), -5);
	assert_string_equal(text_arg(event, "stream kind"), "non-blocking");
	event = need(events, "X", "cuda_runtime", "cudaDeviceSynchronize");
	assert_null(json_object_get(json_object_get(event, "args"), "made streams"));
	event = need(events, "X", "kernel", "(unknown kernel)");
	assert_string_equal(track_of(events, event), "stream 13 (priority -5, non-blocking)");
	json_decref(root);
}

/* Two contexts have a stream of one number, of which a trace can say more than fits a name. */
static void test_streams_with_long_names(void **state)
{
	const uint32_t number = 4000000000u;
	struct gp_builder b;
	json_t *root, *events, *event;
	const char *name;
	size_t i, found = 0;

	begin(&b);
	for (uint32_t context = 1; context <= 2; context++) {
		gp_builder_add(&b, &(struct gp_record_context){.kind = GP_RECORD_CONTEXT,
							       .id = context,
							       .null_stream_id = number});
		gp_builder_add(&b, &(struct gp_record_stream){.kind = GP_RECORD_STREAM,
							      .id = number,
							      .context_id = context,
							      .flags = 2,
							      .priority = INT32_MIN});
		gp_builder_string(&b, GP_STRING_STREAM, number, context,
				  "a name of more than thirty-two bytes");
		gp_builder_add(&b, &(struct gp_record_kernel){.kind = GP_RECORD_KERNEL,
							      .start_ns = GP_TEST_CUPTI(400),
							      .end_ns = GP_TEST_CUPTI(500),
							      .context_id = context,
							      .stream_id = number});
	}
	events = export(&b, &root);
	json_array_foreach(events, i, event)
	{
		if (strcmp(text_of(event, "name"), "thread_name") != 0)
			continue;
		name = text_arg(event, "name");
		found += strncmp(name, "stream 4000000000 (default) (a name of more", 43) == 0;
		assert_true(strlen(name) < 96);
	}
	assert_int_equal(found, 2);
	json_decref(root);
}

static void add_physical(struct gp_builder *b, uint16_t api, uint8_t op, uint64_t start_ns,
			 uint64_t address, uint64_t handle)
{
	gp_builder_add(b,
		       &(struct gp_record_memory){.call = {.kind = GP_RECORD_MEMORY,
							   .api = api,
							   .start_ticks = GP_TEST_AT_TICK(start_ns),
							   .duration_low_ticks = 10},
						  .address = address,
						  .bytes = op == GP_MEMORY_FREE ? 0 : 4096,
						  .pool = handle,
						  .op = op,
						  .memory_kind = GP_MEMORY_PHYSICAL});
}

/* The unmapping ends the memory: its args are those of a free. */
static void test_mappings_of_physical_memory(void **state)
{
	const uint16_t create = 549, map = 550, release = 551, unmap = 552;
	struct gp_builder b;
	json_t *root, *events, *event;

	begin(&b);
	gp_builder_string(&b, GP_STRING_API, create, GP_API_ALLOC, "cuMemCreate");
	gp_builder_string(&b, GP_STRING_API, map, GP_API_OTHER, "cuMemMap");
	gp_builder_string(&b, GP_STRING_API, release, GP_API_FREE, "cuMemRelease");
	gp_builder_string(&b, GP_STRING_API, unmap, GP_API_OTHER, "cuMemUnmap");
	add_physical(&b, create, GP_MEMORY_ALLOC, 100, 0xa, 0);
	add_physical(&b, map, GP_MEMORY_MAP, 200, 0x7000, 0xa);
	add_physical(&b, release, GP_MEMORY_FREE, 300, 0xa, 0);
	add_physical(&b, unmap, GP_MEMORY_UNMAP, 400, 0x7000, 0);
	events = export(&b, &root);
	event = need(events, "X", "cuda_runtime", "cuMemMap");
	assert_string_equal(text_arg(event, "address"), "0x7000");
	assert_string_equal(text_arg(event, "handle"), "0xa");
	assert_int_equal(arg(event, "bytes"), 4096);
	event = need(events, "X", "cuda_runtime", "cuMemUnmap");
	assert_string_equal(text_arg(event, "memory"), "physical");
	assert_string_equal(text_arg(event, "address"), "0xa");
	json_decref(root);
}

static void test_compiling_pools_and_gates(void **state)
{
	struct gp_builder b;
	json_t *root, *events, *event;

	begin(&b);
	gp_builder_add(&b, &(struct gp_record_jit){.kind = GP_RECORD_JIT,
						   .start_ns = GP_TEST_CUPTI(100),
						   .end_ns = GP_TEST_CUPTI(900),
						   .entry_kind = 1,
						   .op_kind = 3,
						   .thread_id = THREAD,
						   .cache_bytes = 50});
	gp_builder_add(&b, &(struct gp_record_pool){.kind = GP_RECORD_POOL,
						    .time_ns = GP_TEST_CUPTI(200),
						    .address = 0xabc,
						    .reserved_bytes = 4096,
						    .used_bytes = 64});
	gp_builder_add(&b, &(struct gp_record_gate){.kind = GP_RECORD_GATE,
						    .on = 0,
						    .reason = GP_GATE_SIGNAL,
						    .ticks = GP_TEST_AT_TICK(950)});
	events = export(&b, &root);
	event = need(events, "X", "jit", "compile PTX to CUBIN");
	assert_int_equal(at(root, event), 100);
	assert_int_equal(length_of(event), 800);
	assert_int_equal(arg(event, "compute cache bytes"), 50);
	event = need(events, "C", "", "GPU 0 pool 0xabc");
	assert_int_equal(arg(event, "reserved"), 4096);
	assert_int_equal(arg(event, "used"), 64);
	event = need(events, "i", "gpuprof", "recording off");
	assert_int_equal(at(root, event), 950);
	assert_string_equal(text_of(event, "s"), "p");
	assert_string_equal(text_arg(event, "by"), "a signal");
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges_on_their_thread),
		cmocka_unit_test(test_payloads),
		cmocka_unit_test(test_ranges_on_the_gpu),
		cmocka_unit_test(test_synchronizations_as_kineto_has_them),
		cmocka_unit_test(test_an_event_that_was_not_recorded),
		cmocka_unit_test(test_graphs),
		cmocka_unit_test(test_unified_memory),
		cmocka_unit_test(test_calls_say_what_they_made),
		cmocka_unit_test(test_streams_with_long_names),
		cmocka_unit_test(test_mappings_of_physical_memory),
		cmocka_unit_test(test_compiling_pools_and_gates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
