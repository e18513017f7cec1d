#include "tests/unit.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "tests/report/model_builder.h"

/* A slice of the file, with its times in ns since the file's base. */
struct slice {
	json_int_t pid, tid;
	uint64_t start, end;
	json_t *event;
	bool is_gpu;
};

/* A trace as a viewer has it. */
struct trace {
	char *text;
	json_t *root, *events;
	struct slice *slices; /* sorted by pid, tid, start, then the longer first */
	size_t count;
	char *messages;
};

static const char *string_of(json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	if (!value)
		fail_msg("no string \"%s\" in %s", key, json_dumps(object, 0));
	return value;
}

static json_int_t integer_of(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_integer(value))
		fail_msg("no integer \"%s\" in %s", key, json_dumps(object, 0));
	return json_integer_value(value);
}

static bool is_phase(json_t *event, const char *phase)
{
	return strcmp(string_of(event, "ph"), phase) == 0;
}

/* As the viewers read it: a double of us, rounded to ns. */
static uint64_t ns_of(json_t *event, const char *key)
{
	json_t *value = json_object_get(event, key);

	assert_true(json_is_real(value));
	assert_true(json_real_value(value) >= 0);
	return (uint64_t)llround(json_real_value(value) * 1000);
}

static int compare_slices(const void *a, const void *b)
{
	const struct slice *left = a, *right = b;

	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return (left->end < right->end) - (left->end > right->end);
}

static void collect_slices(struct trace *trace)
{
	json_t *event;
	size_t index;

	trace->slices = calloc(json_array_size(trace->events) + 1, sizeof(*trace->slices));
	json_array_foreach(trace->events, index, event)
	{
		struct slice *slice = &trace->slices[trace->count];

		if (!is_phase(event, "X"))
			continue;
		*slice = (struct slice){.pid = integer_of(event, "pid"),
					.tid = integer_of(event, "tid"),
					.start = ns_of(event, "ts"),
					.event = event};
		slice->end = slice->start + ns_of(event, "dur");
		slice->is_gpu = json_object_get(json_object_get(event, "args"), "stream") != NULL;
		trace->count++;
	}
	qsort(trace->slices, trace->count, sizeof(*trace->slices), compare_slices);
}

static struct trace export_limited(const struct gp_model *model, uint64_t limit)
{
	struct trace trace = {0};
	size_t bytes, message_bytes;
	json_error_t error;
	FILE *out = open_memstream(&trace.text, &bytes);
	FILE *messages = open_memstream(&trace.messages, &message_bytes);
	struct gp_export_options options = {.slice_limit = limit, .messages = messages};

	assert_int_equal(gp_export_model(&gp_exporter_chrome, model, &options, out), 0);
	fclose(out);
	fclose(messages);
	trace.root = json_loadb(trace.text, bytes, JSON_REJECT_DUPLICATES, &error);
	if (!trace.root)
		fail_msg("line %d: %s", error.line, error.text);
	trace.events = json_object_get(trace.root, "traceEvents");
	assert_true(json_is_array(trace.events));
	collect_slices(&trace);
	return trace;
}

static struct trace export_all(const struct gp_model *model)
{
	return export_limited(model, 0);
}

static void free_trace(struct trace *trace)
{
	json_decref(trace->root);
	free(trace->slices);
	free(trace->text);
	free(trace->messages);
}

/* The innermost slice of a track at a time: what a flow event there binds to. */
static const struct slice *find_slice(const struct trace *trace, json_int_t pid, json_int_t tid,
				      uint64_t ns)
{
	const struct slice *found = NULL;

	for (size_t i = 0; i < trace->count; i++) {
		const struct slice *slice = &trace->slices[i];

		if (slice->pid == pid && slice->tid == tid && slice->start <= ns &&
		    (ns < slice->end || ns == slice->start))
			found = slice;
	}
	return found;
}

/* ---- the rules ---- */

static void check_nesting(const struct trace *trace)
{
	for (size_t i = 0; i < trace->count; i++)
		for (size_t k = i + 1; k < trace->count; k++) {
			const struct slice *a = &trace->slices[i], *b = &trace->slices[k];

			if (a->pid != b->pid || a->tid != b->tid)
				break;
			assert_true(a->start != b->start);
			assert_true(b->start >= a->end || (!a->is_gpu && b->end <= a->end));
		}
}

static bool has_metadata(const struct trace *trace, const char *name, json_int_t pid,
			 json_int_t tid)
{
	json_t *event;
	size_t index;

	json_array_foreach(trace->events, index,
			   event) if (is_phase(event, "M") &&
				      strcmp(string_of(event, "name"), name) == 0 &&
				      integer_of(event, "pid") == pid &&
				      (tid < 0 || integer_of(event, "tid") == tid)) return true;
	return false;
}

static void check_names(const struct trace *trace)
{
	for (size_t i = 0; i < trace->count; i++) {
		const struct slice *slice = &trace->slices[i];

		assert_true(*string_of(slice->event, "name"));
		assert_true(slice->tid > 0 || slice->pid == 0);
		if (i > 0 && slice[-1].pid == slice->pid && slice[-1].tid == slice->tid)
			continue;
		assert_true(has_metadata(trace, "process_name", slice->pid, -1));
		assert_true(has_metadata(trace, "thread_name", slice->pid, slice->tid));
		assert_true(has_metadata(trace, "thread_sort_index", slice->pid, slice->tid));
	}
}

/* The event's arrow partner, which must be the only one with its id. */
static json_t *find_start(const struct trace *trace, json_int_t id)
{
	json_t *event, *found = NULL;
	size_t index;

	json_array_foreach(trace->events, index, event)
	{
		if (!is_phase(event, "s") || integer_of(event, "id") != id)
			continue;
		assert_null(found);
		found = event;
	}
	return found;
}

static const struct slice *bind(const struct trace *trace, json_t *flow)
{
	const struct slice *slice = find_slice(trace, integer_of(flow, "pid"),
					       integer_of(flow, "tid"), ns_of(flow, "ts"));

	if (!slice)
		fail_msg("unbound: %s", json_dumps(flow, 0));
	return slice;
}

static json_int_t correlation_of(const struct slice *slice)
{
	return integer_of(json_object_get(slice->event, "args"), "correlation");
}

static size_t check_arrows(const struct trace *trace)
{
	size_t starts = 0, ends = 0, index;
	json_t *event;

	json_array_foreach(trace->events, index, event)
	{
		json_t *start;

		starts += is_phase(event, "s");
		if (!is_phase(event, "f"))
			continue;
		ends++;
		start = find_start(trace, integer_of(event, "id"));
		assert_non_null(start);
		assert_string_equal(string_of(event, "bp"), "e");
		assert_string_equal(string_of(start, "cat"), string_of(event, "cat"));
		assert_true(ns_of(start, "ts") <= ns_of(event, "ts"));
		assert_false(bind(trace, start)->is_gpu);
		assert_true(bind(trace, event)->is_gpu);
		assert_int_equal(correlation_of(bind(trace, start)),
				 correlation_of(bind(trace, event)));
	}
	assert_int_equal(starts, ends);
	return ends;
}

/* One event a line, so that grep works; no escaped surrogates, on which viewers give up. */
static void check_text(const struct trace *trace)
{
	const char *line =
		strstr(trace->text, "\"traceEvents\": [\n") + strlen("\"traceEvents\": [\n");
	size_t lines = 0;

	for (; *line == '{'; line = strchr(line, '\n') + 1)
		lines++;
	assert_int_equal(lines, json_array_size(trace->events));
	for (const char *at = trace->text; (at = strstr(at, "\\u")) != NULL; at += 2)
		assert_true(at[2] == '0' && at[3] == '0');
}

static size_t check_rules(const struct trace *trace)
{
	assert_string_equal(string_of(trace->root, "displayTimeUnit"), "ns");
	assert_int_equal(integer_of(trace->root, "baseTimeNanoseconds") % 3944619000000000, 0);
	assert_non_null(strstr(trace->text, "\"rank\": "));
	check_text(trace);
	check_nesting(trace);
	check_names(trace);
	return check_arrows(trace);
}

/* ---- what is looked for ---- */

static json_t *find_event(const struct trace *trace, const char *phase, const char *name)
{
	json_t *event;
	size_t index;

	json_array_foreach(trace->events, index,
			   event) if (is_phase(event, phase) &&
				      strcmp(string_of(event, "name"), name) == 0) return event;
	fail_msg("no event %s \"%s\"", phase, name);
	return NULL;
}

static void expect_thread(const struct trace *trace, json_int_t pid, json_int_t tid,
			  const char *name)
{
	json_t *event;
	size_t index;

	json_array_foreach(trace->events, index,
			   event) if (is_phase(event, "M") &&
				      strcmp(string_of(event, "name"), "thread_name") == 0 &&
				      integer_of(event, "pid") == pid &&
				      integer_of(event, "tid") == tid)
	{
		assert_string_equal(string_of(json_object_get(event, "args"), "name"), name);
		return;
	}
	fail_msg("no name for pid %d tid %d", (int)pid, (int)tid);
}

static struct build build_one_launch(void)
{
	struct build b = build_begin(4242);
	struct gp_op *op;

	build_info(&b, GP_INFO_PROGRAM, "saxpy");
	build_device(&b, 0, "NVIDIA H200");
	build_thread(&b, 4242, "main");
	build_name(&b, "_Z5saxpyifPKfPf");
	build_shape(&b, 264, 256);
	build_call(&b, 4242, BUILD_LAUNCH, 1001, 2003, 17);
	op = build_op(&b, GP_OP_KERNEL, 7, 5007, 9123, 17);
	op->name = 0;
	op->shape = 0;
	return b;
}

static void a_launch_has_everything(void **state)
{
	struct build b = build_one_launch();
	struct gp_model *model = build_end(&b);
	struct trace trace = export_all(model);
	json_t *call = find_event(&trace, "X", "cudaLaunchKernel");
	json_t *kernel = find_event(&trace, "X", "saxpy(int, float, float const*, float*)");
	json_t *args = json_object_get(kernel, "args");
	uint64_t base = (uint64_t)integer_of(trace.root, "baseTimeNanoseconds");

	assert_int_equal(check_rules(&trace), 1);
	assert_string_equal(string_of(call, "cat"), "cuda_runtime");
	assert_int_equal(integer_of(call, "pid"), 4242);
	assert_int_equal(integer_of(call, "tid"), 4242);
	assert_int_equal(base + ns_of(call, "ts"), BUILD_BASE_UNIX_NS + 1001);
	assert_int_equal(ns_of(call, "dur"), 2003);
	assert_int_equal(integer_of(json_object_get(call, "args"), "cbid"), 211);
	assert_null(json_object_get(json_object_get(call, "args"), "stream"));
	assert_string_equal(string_of(kernel, "cat"), "kernel");
	assert_int_equal(integer_of(kernel, "pid"), 0);
	assert_int_equal(integer_of(kernel, "tid"), 7);
	assert_int_equal(base + ns_of(kernel, "ts"), BUILD_BASE_UNIX_NS + 5007);
	assert_int_equal(ns_of(kernel, "dur"), 9123 - 5007);
	assert_int_equal(integer_of(args, "correlation"), 17);
	assert_int_equal(integer_of(args, "registers per thread"), 32);
	assert_int_equal(integer_of(args, "shared memory"), 1536);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(args, "grid"), 0)), 264);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(args, "block"), 0)),
			 256);
	assert_true(json_real_value(json_object_get(args, "blocks per SM")) == 2.0);
	assert_true(json_real_value(json_object_get(args, "warps per SM")) == 16.0);
	assert_int_equal(integer_of(args, "est. achieved occupancy %"), 25);
	expect_thread(&trace, 4242, 4242, "thread 4242 (main)");
	expect_thread(&trace, 0, 7, "stream 7");
	free_trace(&trace);
	gp_model_free(model);
}

static void devices_have_kineto_s_properties(void **state)
{
	struct build b = build_one_launch();
	struct gp_model *model = build_end(&b);
	struct trace trace = export_all(model);
	json_t *device = json_array_get(json_object_get(trace.root, "deviceProperties"), 0);

	assert_int_equal(integer_of(trace.root, "schemaVersion"), 1);
	assert_string_equal(string_of(device, "name"), "NVIDIA H200");
	assert_int_equal(integer_of(device, "numSms"), 132);
	assert_int_equal(integer_of(device, "totalGlobalMem"), 150109880320);
	assert_int_equal(integer_of(device, "warpSize"), 32);
	free_trace(&trace);
	gp_model_free(model);
}

static void copies_and_sets_have_bytes_and_bandwidth(void **state)
{
	struct build b = build_one_launch();
	struct gp_model *model;
	struct gp_op *op;
	struct trace trace;
	json_t *args;

	op = build_op(&b, GP_OP_COPY, 7, 10000, 12000, 30);
	op->copy_kind = 1;
	op->source_kind = 2;
	op->destination_kind = 3;
	op->bytes = 48000;
	op = build_op(&b, GP_OP_SET, 7, 13000, 13000, 31);
	op->bytes = 64;
	op->destination_kind = 3;
	model = build_end(&b);
	trace = export_all(model);
	check_rules(&trace);
	args = json_object_get(find_event(&trace, "X", "Memcpy HtoD (Pinned -> Device)"), "args");
	assert_int_equal(integer_of(args, "bytes"), 48000);
	assert_true(json_real_value(json_object_get(args, "memory bandwidth (GB/s)")) == 24.0);
	args = json_object_get(find_event(&trace, "X", "Memset (Device)"), "args");
	assert_int_equal(integer_of(args, "bytes"), 64);
	assert_null(json_object_get(args, "memory bandwidth (GB/s)"));
	free_trace(&trace);
	gp_model_free(model);
}

static void failed_and_captured_calls_say_so(void **state)
{
	struct build b = build_one_launch();
	struct gp_model *model;
	struct trace trace;
	json_t *args;

	build_call(&b, 4242, BUILD_DRIVER_LAUNCH, 20000, 100, 40)->status = 2;
	build_call(&b, 4242, BUILD_MEMSET_ASYNC, 30000, 100, 41)->captured = true;
	model = build_end(&b);
	trace = export_all(model);
	args = json_object_get(find_event(&trace, "X", "cuLaunchKernel"), "args");
	assert_int_equal(integer_of(args, "status"), 2);
	assert_string_equal(string_of(args, "error"), "out of memory");
	assert_int_equal(integer_of(args, "cbid"), 307);
	args = json_object_get(find_event(&trace, "X", "cudaMemsetAsync"), "args");
	assert_int_equal(integer_of(args, "captured"), 1);
	assert_null(json_object_get(args, "status"));
	assert_int_equal(check_rules(&trace), 1);
	free_trace(&trace);
	gp_model_free(model);
}

static void a_graph_launch_has_an_arrow_to_every_node(void **state)
{
	struct build b = build_begin(1000);
	struct gp_model *model;
	struct trace trace;

	build_call(&b, 1000, BUILD_GRAPH_LAUNCH, 100, 50, 5);
	for (uint32_t i = 0; i < 10; i++) {
		struct gp_op *op =
			build_op(&b, GP_OP_KERNEL, 7 + i % 2, 200 + 10 * i, 215 + 10 * i, 5);

		op->graph_id = 1;
		build_node(&b, op, (1ull << 32) + i);
	}
	model = build_end(&b);
	trace = export_all(model);
	assert_int_equal(check_rules(&trace), 10);
	free_trace(&trace);
	gp_model_free(model);
}

/* The clocks differ a little: the arrow still goes forward, or there is none if no place is left
 * for it. */
static void arrows_never_go_back_in_time(void **state)
{
	struct build b = build_begin(1000);
	struct gp_model *model;
	struct trace trace;

	build_call(&b, 1000, BUILD_LAUNCH, 1000, 50, 1);
	build_op(&b, GP_OP_KERNEL, 7, 990, 1100, 1);
	build_call(&b, 1000, BUILD_LAUNCH, 2000, 50, 2);
	build_op(&b, GP_OP_KERNEL, 7, 1900, 2000, 2);
	model = build_end(&b);
	trace = export_all(model);
	assert_int_equal(trace.count, 4);
	assert_int_equal(check_rules(&trace), 1);
	assert_int_equal(ns_of(find_event(&trace, "f", "ac2g"), "ts"),
			 ns_of(find_event(&trace, "s", "ac2g"), "ts"));
	free_trace(&trace);
	gp_model_free(model);
}

/* Back to back on any day of the year, at the end of a base's unit too: as a reader computes them,
 * they touch. */
static void times_are_exact_on_any_day(void **state)
{
	srand(6);
	for (uint64_t day = 0; day < 370; day++) {
		struct build b = build_begin(1000);
		struct gp_model *model;
		struct trace trace;
		uint64_t now = 0;

		b.model->base_unix_ns += day * 86400000000000u + (uint64_t)rand() * 40000u;
		for (uint32_t i = 0; i < 50; i++) {
			uint64_t end = now + 1 + (uint64_t)(rand() % 3000);

			build_op(&b, GP_OP_KERNEL, 7, now, end, i + 1);
			now = end;
		}
		model = build_end(&b);
		trace = export_all(model);
		for (size_t i = 0; i < trace.count; i++)
			assert_int_equal((uint64_t)integer_of(trace.root, "baseTimeNanoseconds") +
						 trace.slices[i].start,
					 model->base_unix_ns + model->ops[i].start_ns);
		check_rules(&trace);
		free_trace(&trace);
		gp_model_free(model);
	}
}

static void overlapping_operations_go_to_lanes(void **state)
{
	struct build b = build_begin(1000);
	struct gp_model *model;
	struct trace trace;

	build_op(&b, GP_OP_KERNEL, 7, 100, 200, 1);
	build_op(&b, GP_OP_KERNEL, 7, 150, 250, 2);
	build_op(&b, GP_OP_KERNEL, 7, 160, 170, 3);
	build_op(&b, GP_OP_KERNEL, 10000000, 100, 200, 4);
	model = build_end(&b);
	trace = export_all(model);
	check_rules(&trace);
	assert_int_equal(trace.count, 4);
	expect_thread(&trace, 0, 7, "stream 7");
	expect_thread(&trace, 0, 10000000, "stream 10000000");
	expect_thread(&trace, 0, 10000001, "stream 7, lane 2");
	expect_thread(&trace, 0, 10000002, "stream 7, lane 3");
	for (size_t i = 0; i < trace.count; i++)
		if (trace.slices[i].tid != 10000000)
			assert_int_equal(integer_of(json_object_get(trace.slices[i].event, "args"),
						    "stream"),
					 7);
	free_trace(&trace);
	gp_model_free(model);
}

static void pids_and_tids_never_collide(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct trace trace;

	build_call(&b, 1, BUILD_LAUNCH, 10, 5, 1);
	build_call(&b, 0, BUILD_LAUNCH, 10, 5, 2);
	build_op(&b, GP_OP_KERNEL, 7, 100, 200, 1)->device_id = 1;
	build_op(&b, GP_OP_KERNEL, 0, 100, 200, 2)->device_id = 1;
	build_op(&b, GP_OP_KERNEL, 7, 100, 200, 3)->device_id = 1;
	b.model->ops[2].context_id = 2;
	model = build_end(&b);
	trace = export_all(model);
	assert_int_equal(check_rules(&trace), 2);
	expect_thread(&trace, 5000001, 7, "stream 7");
	expect_thread(&trace, 5000001, 10000000, "stream 0");
	expect_thread(&trace, 5000001, 10000001, "stream 7 (context 2)");
	expect_thread(&trace, 1, 1, "thread 1");
	expect_thread(&trace, 1, 10000000, "threads not known");
	free_trace(&trace);
	gp_model_free(model);
}

static void untimed_operations_are_counted_not_drawn(void **state)
{
	struct build b = build_one_launch();
	struct gp_model *model;
	struct trace trace;

	build_call(&b, 4242, BUILD_LAUNCH, 20000, 100, 50);
	build_op(&b, GP_OP_KERNEL, 7, 0, 0, 50)->untimed = 1;
	model = build_end(&b);
	trace = export_all(model);
	assert_int_equal(trace.count, 3);
	assert_int_equal(check_rules(&trace), 1);
	assert_int_equal(integer_of(json_object_get(trace.root, "metadata"),
				    "operations without timestamps, not drawn"),
			 1);
	free_trace(&trace);
	gp_model_free(model);
}

static void names_may_hold_any_bytes(void **state)
{
	struct build b = build_one_launch();
	char name[256];
	struct gp_model *model;
	struct trace trace;

	for (int i = 0; i < 255; i++)
		name[i] = (char)(i + 1);
	name[255] = '\0';
	free(b.model->names[0]);
	b.model->names[0] = strdup(name);
	build_info(&b, GP_INFO_PROGRAM, name);
	build_info(&b, GP_INFO_COMMAND, name);
	build_thread(&b, 5000, name);
	build_call(&b, 5000, 999, 1, 1, 0);
	build_api(&b, 999, name, GP_API_OTHER);
	model = build_end(&b);
	trace = export_all(model);
	check_rules(&trace);
	free_trace(&trace);
	gp_model_free(model);
}

static uint64_t counter_at(const struct trace *trace, size_t position, const char *series)
{
	json_t *event;
	size_t index, seen = 0;

	json_array_foreach(trace->events, index,
			   event) if (is_phase(event, "C") && seen++ == position) return (uint64_t)
		integer_of(json_object_get(event, "args"), series);
	fail_msg("no counter event %zu", position);
	return 0;
}

static void memory_is_a_counter_by_kind(void **state)
{
	struct build b = build_begin(1000);
	struct gp_model *model;
	struct trace trace;

	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 100, 0x1000, 1000);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_ASYNC, 200, 0x2000, 500);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, 300, 0x1000, 0);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_PINNED, 400, 0x3000, 70);
	model = build_end(&b);
	trace = export_all(model);
	check_rules(&trace);
	assert_int_equal(counter_at(&trace, 0, "device"), 1000);
	assert_int_equal(counter_at(&trace, 0, "device, from a pool"), 0);
	assert_int_equal(counter_at(&trace, 1, "device, from a pool"), 500);
	assert_int_equal(counter_at(&trace, 2, "device"), 0);
	assert_int_equal(counter_at(&trace, 3, "pinned host"), 70);
	assert_int_equal(integer_of(find_event(&trace, "C", "GPU 0 memory"), "pid"), 0);
	assert_int_equal(integer_of(find_event(&trace, "C", "Host memory"), "pid"), 1000);
	free_trace(&trace);
	gp_model_free(model);
}

static void overhead_has_a_track_of_its_own(void **state)
{
	struct build b = build_one_launch();
	struct gp_model *model;
	struct trace trace;
	json_t *event;

	build_overhead(&b, 7u << 16, 3000, 9000);
	build_overhead(&b, 1u << 16, 1000, 2000);
	build_overhead(&b, 5u << 16, 1500, 4000);
	model = build_end(&b);
	trace = export_all(model);
	check_rules(&trace);
	event = find_event(&trace, "X", "Buffer Flush");
	assert_string_equal(string_of(event, "cat"), "overhead");
	expect_thread(&trace, 4242, integer_of(event, "tid"), "profiler and driver overhead");
	find_event(&trace, "X", "Lazy Function Loading");
	find_event(&trace, "X", "Activity Buffer Request");
	free_trace(&trace);
	gp_model_free(model);
}

/* 100 launches, each with its kernel, memory on the way: of 200 slices and 1 allocation the last 21
 * are kept. */
static void the_limit_keeps_the_last_window_and_says_so(void **state)
{
	struct build b = build_begin(1000);
	struct gp_model *model;
	struct trace trace;

	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 50, 0x1000, 1000);
	for (uint32_t i = 0; i < 100; i++) {
		build_call(&b, 1000, BUILD_LAUNCH, 1000 * i + 100, 50, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, 1000 * i + 200, 1000 * i + 900, i + 1);
	}
	model = build_end(&b);
	trace = export_limited(model, 21);
	assert_int_equal(trace.count, 21);
	assert_int_equal(check_rules(&trace), 10);
	for (size_t i = 0; i < trace.count; i++)
		assert_true(trace.slices[i].end - trace.slices[0].start < 11000);
	assert_int_equal(counter_at(&trace, 0, "device"), 1000);
	assert_non_null(
		strstr(trace.messages, "gpuprof: the Chrome trace has the last 21 of 201 slices"));
	assert_non_null(strstr(trace.messages, "gpuprof export --format chrome"));
	assert_int_equal(integer_of(json_object_get(trace.root, "metadata"), "slices left out"),
			 180);
	free_trace(&trace);
	trace = export_limited(model, 201);
	assert_int_equal(trace.count, 201);
	assert_string_equal(trace.messages, "");
	free_trace(&trace);
	gp_model_free(model);
}

/* Of launches of a kernel with a short name, and of one with a long name. */
static void the_length_is_estimated(void **state)
{
	char names[][2100] = {"k", ""};

	memset(names[1], 'k', sizeof(names[1]) - 1);
	for (size_t n = 0; n < 2; n++) {
		struct build b = build_begin(1000);
		uint32_t name = build_name(&b, names[n]), shape;
		struct gp_model *model;
		struct trace trace;
		double estimate;

		build_device(&b, 0, "GPU");
		shape = build_shape(&b, 100, 256);
		for (uint32_t i = 0; i < 2000; i++) {
			struct gp_op *op;

			build_call(&b, 1000, BUILD_LAUNCH, 1000 * i + 100, 50, i + 1);
			op = build_op(&b, GP_OP_KERNEL, 7, 1000 * i + 200, 1000 * i + 900, i + 1);
			op->name = name;
			op->shape = shape;
		}
		model = build_end(&b);
		trace = export_all(model);
		estimate = gp_export_chrome_bytes(model);
		if (estimate < 0.75 * (double)strlen(trace.text) ||
		    estimate > 1.5 * (double)strlen(trace.text))
			fail_msg("%.0f bytes, not %zu", estimate, strlen(trace.text));
		free_trace(&trace);
		gp_model_free(model);
	}
}

/* Freed within the window: the counter begins with what was there before. */
static void counters_of_a_window_begin_with_what_was_there(void **state)
{
	struct build b = build_begin(1000);
	struct gp_model *model;
	struct trace trace;

	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 100, 0x1000, 1000);
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, 200, 0x2000, 30);
	for (uint32_t i = 0; i < 10; i++)
		build_call(&b, 1000, BUILD_LAUNCH, 1000 * i + 1000, 50, i + 1);
	build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, 9500, 0x1000, 0);
	model = build_end(&b);
	trace = export_limited(model, 4);
	assert_int_equal(trace.count, 4);
	assert_int_equal(counter_at(&trace, 0, "device"), 1030);
	assert_int_equal(counter_at(&trace, 1, "device"), 30);
	check_rules(&trace);
	free_trace(&trace);
	gp_model_free(model);
}

static void the_rank_is_where_readers_look(void **state)
{
	struct build b = build_one_launch();
	struct gp_model *model;
	struct trace trace;

	build_info(&b, GP_INFO_RANK, "3");
	model = build_end(&b);
	trace = export_all(model);
	assert_non_null(strstr(trace.text, "\"distributedInfo\": {\"rank\": 3},"));
	assert_true(strstr(trace.text, "distributedInfo") < strstr(trace.text, "traceEvents"));
	free_trace(&trace);
	gp_model_free(model);
}

/* Readers that need a rank take the program for the only one; that is all that is claimed. */
static void what_has_no_rank_is_the_only_one(void **state)
{
	struct build b = build_one_launch();
	struct gp_model *model = build_end(&b);
	struct trace trace = export_all(model);

	assert_non_null(
		strstr(trace.text, "\"distributedInfo\": {\"rank\": 0, \"world_size\": 1},"));
	free_trace(&trace);
	gp_model_free(model);
}

static void an_empty_model_is_a_valid_trace(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model = build_end(&b);
	struct trace trace = export_all(model);

	assert_int_equal(trace.count, 0);
	check_rules(&trace);
	free_trace(&trace);
	gp_model_free(model);
}

static void a_full_disk_is_an_error(void **state)
{
	struct build b = build_one_launch();
	struct gp_model *model = build_end(&b);
	struct gp_export_options options = {0};
	FILE *full = fopen("/dev/full", "w");

	if (!full)
		skip();
	assert_int_equal(gp_export_model(&gp_exporter_chrome, model, &options, full), -EIO);
	fclose(full);
	gp_model_free(model);
}

/* ---- whatever the times are ---- */

static void build_random_step(struct build *b, uint32_t correlation_id, uint64_t *now)
{
	uint64_t launched = *now, start;
	struct gp_op *op;

	*now += (uint64_t)(rand() % 20);
	build_call(b, 100 + (uint32_t)(rand() % 2), BUILD_LAUNCH, launched, (uint64_t)(rand() % 40),
		   correlation_id);
	for (int ops = rand() % 3; ops > 0; ops--) {
		start = launched + (uint64_t)(rand() % 60);
		start -= start > 20 ? (uint64_t)(rand() % 20) : 0;
		op = build_op(b, (enum gp_op_kind)(rand() % 3), (uint32_t)(rand() % 3) * 7, start,
			      start + (uint64_t)(rand() % 50), correlation_id);
		op->device_id = (uint16_t)(rand() % 2);
		op->context_id = 1 + (uint32_t)(rand() % 2);
		op->untimed = rand() % 20 == 0;
	}
}

static size_t count_timed(const struct gp_model *model)
{
	size_t count = 0;

	for (uint32_t i = 0; i < model->op_count; i++)
		count += !model->ops[i].untimed;
	return count;
}

static void random_overlaps_lose_nothing_and_break_nothing(void **state)
{
	srand(5);
	for (int round = 0; round < 60; round++) {
		struct build b = build_begin((uint32_t)(rand() % 3) * 100);
		uint64_t now = 100, slices;
		struct gp_model *model;
		struct trace trace;

		for (uint32_t i = 1; i <= 60; i++)
			build_random_step(&b, i, &now);
		model = build_end(&b);
		slices = model->call_count + count_timed(model);
		trace = export_all(model);
		assert_int_equal(trace.count, slices);
		check_rules(&trace);
		free_trace(&trace);
		trace = export_limited(model, slices / 3);
		assert_true(trace.count <= slices / 3);
		assert_int_equal(
			integer_of(json_object_get(trace.root, "metadata"), "slices left out"),
			slices - trace.count);
		check_rules(&trace);
		free_trace(&trace);
		gp_model_free(model);
	}
}

/* CUPTI calls all of these cooperative; of one the call is not known, another's was. */
static void cooperative_is_who_asked_for_it(void **state)
{
	struct build b = build_begin(1);
	uint32_t shape = build_shape(&b, 1, 32);
	struct gp_model *model;

	b.model->shapes[shape].launch_type = 1;
	build_call(&b, 1, BUILD_LAUNCH, 100, 10, 1);
	build_call(&b, 1, BUILD_LAUNCH, 200, 10, 2)->cooperative = true;
	for (uint32_t i = 0; i < 3; i++)
		build_op(&b, GP_OP_KERNEL, 7, 1000 * (i + 1), 1000 * (i + 1) + 10, i + 1)->shape =
			shape;
	model = build_end(&b);
	assert_int_equal(gp_model_launch_type(model, &model->ops[0]), 0);
	assert_int_equal(gp_model_launch_type(model, &model->ops[1]), 1);
	assert_int_equal(gp_model_launch_type(model, &model->ops[2]), 1);
	model->recorder = "another profiler";
	assert_int_equal(gp_model_launch_type(model, &model->ops[0]), 1);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_launch_has_everything),
		cmocka_unit_test(devices_have_kineto_s_properties),
		cmocka_unit_test(copies_and_sets_have_bytes_and_bandwidth),
		cmocka_unit_test(failed_and_captured_calls_say_so),
		cmocka_unit_test(a_graph_launch_has_an_arrow_to_every_node),
		cmocka_unit_test(arrows_never_go_back_in_time),
		cmocka_unit_test(times_are_exact_on_any_day),
		cmocka_unit_test(overlapping_operations_go_to_lanes),
		cmocka_unit_test(pids_and_tids_never_collide),
		cmocka_unit_test(untimed_operations_are_counted_not_drawn),
		cmocka_unit_test(names_may_hold_any_bytes),
		cmocka_unit_test(memory_is_a_counter_by_kind),
		cmocka_unit_test(overhead_has_a_track_of_its_own),
		cmocka_unit_test(the_limit_keeps_the_last_window_and_says_so),
		cmocka_unit_test(the_length_is_estimated),
		cmocka_unit_test(counters_of_a_window_begin_with_what_was_there),
		cmocka_unit_test(the_rank_is_where_readers_look),
		cmocka_unit_test(what_has_no_rank_is_the_only_one),
		cmocka_unit_test(an_empty_model_is_a_valid_trace),
		cmocka_unit_test(a_full_disk_is_an_error),
		cmocka_unit_test(cooperative_is_who_asked_for_it),
		cmocka_unit_test(random_overlaps_lose_nothing_and_break_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
