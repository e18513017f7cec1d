#include "report/import/kineto_records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gpuprof/count.h"
#include "report/import/api_class.h"
#include "report/trace/cuda_names.h"

static void count_unknown(struct gp_importing *im)
{
	im->builder->model->losses.unknown_records++;
}

static uint64_t start_of(const struct gp_kineto_event *e)
{
	return gp_import_time(e->start_ns);
}

static uint64_t end_of(const struct gp_kineto_event *e)
{
	return start_of(e) + (uint64_t)e->duration_ns;
}

static uint64_t end_if_any(const struct gp_kineto_event *e)
{
	return e->duration_ns < 0 ? GP_IMPORT_OPEN : end_of(e);
}

/* A number that is only a name; `otherwise` if there is none, or -1. */
static uint32_t name_of(struct gp_importing *im, const struct gp_kineto_event *e,
			enum gp_kineto_number number, uint32_t otherwise)
{
	int64_t value = e->numbers[number];

	return gp_kineto_has(e, number) && value != -1 ? gp_import_number(im, value) : otherwise;
}

static uint32_t correlation_of(struct gp_importing *im, const struct gp_kineto_event *e)
{
	return name_of(im, e, GP_KINETO_CORRELATION, 0);
}

/* ---- operations ---- */

/* Neither a record without times, whose start and duration are 0, nor one without an end. */
static bool is_timed(const struct gp_kineto_event *e)
{
	return e->duration_ns > 0 || (e->duration_ns == 0 && e->start_ns != 0);
}

static uint64_t start_if_timed(const struct gp_kineto_event *e)
{
	return is_timed(e) ? start_of(e) : 0;
}

static uint64_t end_if_timed(const struct gp_kineto_event *e)
{
	return is_timed(e) ? end_of(e) : 0;
}

/* Finds where an operation ran. Returns false, and counts it, if the event does not say. */
static bool find_place(struct gp_importing *im, const struct gp_kineto_event *e, uint16_t *device,
		       uint32_t *stream)
{
	uint32_t number = gp_kineto_number(e, GP_KINETO_DEVICE, GP_NONE);

	if (number == GP_NONE)
		number = gp_kineto_number(e, GP_KINETO_IN_DEVICE, GP_NONE);
	if (number == GP_NONE)
		number = gp_kineto_number(e, GP_KINETO_PID, GP_NONE);
	*stream = name_of(im, e, GP_KINETO_STREAM, GP_NONE);
	if (!gp_kineto_has(e, GP_KINETO_STREAM))
		*stream = name_of(im, e, GP_KINETO_TID, GP_NONE);
	*device = (uint16_t)number;
	if (number < GP_DEVICE_LIMIT && *stream != GP_NONE)
		return true;
	count_unknown(im);
	return false;
}

static uint32_t context_of(struct gp_importing *im, const struct gp_kineto_event *e)
{
	return name_of(im, e, GP_KINETO_CONTEXT, name_of(im, e, GP_KINETO_IN_CONTEXT, 0));
}

/* *id = 0 if the event has no grid or block. */
static int find_shape(struct gp_importing *im, const struct gp_kineto_event *e, uint32_t *id)
{
	uint32_t registers = gp_kineto_number(e, GP_KINETO_REGISTERS, 0);
	struct gp_record_shape shape = {
		.registers = registers <= UINT16_MAX ? (uint16_t)registers : 0,
		.grid = {e->grid[0], e->grid[1], e->grid[2]},
		.block = {e->block[0], e->block[1], e->block[2]},
		.dynamic_shared_bytes = gp_kineto_number(e, GP_KINETO_SHARED, 0),
	};

	*id = 0;
	if (!e->has_grid || !e->has_block)
		return 0;
	*id = gp_import_shape(im, &shape);
	return *id != 0 ? 0 : -ENOMEM;
}

/* What the records of all operations have in common; of the event `e` that ran at its place. */
#define OPERATION                                                                                  \
	.device_id = device, .stream_id = stream, .context_id = context_of(im, e),                 \
	.correlation_id = correlation_of(im, e), .start_ns = start_if_timed(e),                    \
	.end_ns = end_if_timed(e), .graph_id = gp_kineto_number(e, GP_KINETO_GRAPH, 0)

static int take_kernel(struct gp_importing *im, const struct gp_kineto_event *e)
{
	union gp_any_record record = {0};
	uint32_t shape, stream;
	uint16_t device;
	int result = find_shape(im, e, &shape);

	if (result != 0)
		return result;
	if (!find_place(im, e, &device, &stream))
		return 0;
	record.kernel = (struct gp_record_kernel){
		OPERATION,
		.name_id = gp_import_kernel_name(im, e->name, e->name_bytes),
		.shape_id = shape,
		.graph_node_id = (uint64_t)e->numbers[GP_KINETO_GRAPH_NODE],
		.channel_id = gp_kineto_number(e, GP_KINETO_CHANNEL, 0),
		.channel_type = gp_kineto_number(e, GP_KINETO_CHANNEL_TYPE, 0),
	};
	if (record.kernel.name_id == 0)
		return -ENOMEM;
	gp_import_note_time(im, start_if_timed(e), end_if_timed(e));
	return gp_import_record(im, GP_RECORD_KERNEL, &record);
}

/* Whether the text begins with the word; moves *text after it then. */
static bool skip_word(const char **text, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(*text, word, length) != 0)
		return false;
	*text += length;
	return true;
}

/*
 * CUPTI's number of the memory kind at the beginning of the text; 0 = none. Searched from the end,
 * as "Device Static" begins with "Device".
 */
static uint8_t memory_kind_of(const char *text)
{
	for (uint8_t kind = GP_COPY_MEMORIES - 1; kind > 0; kind--) {
		const char *at = text;

		if (skip_word(&at, gp_memory_name(kind)) && (*at == ')' || *at == ' '))
			return kind;
	}
	return 0;
}

/* Parses "Memcpy HtoD (Pinned -> Device)". */
static void name_copy(const char *name, struct gp_record_copy *copy)
{
	const char *from = strchr(name, '('), *to = strstr(name, "-> ");

	if (!skip_word(&name, "Memcpy "))
		return;
	for (uint8_t kind = 1; kind < GP_COPY_KINDS; kind++) {
		const char *at = name;

		if (skip_word(&at, gp_copy_kind_name(kind)))
			copy->copy_kind = kind;
	}
	copy->source_kind = from ? memory_kind_of(from + 1) : 0;
	copy->destination_kind = to ? memory_kind_of(to + 3) : 0;
}

static int take_copy(struct gp_importing *im, const struct gp_kineto_event *e)
{
	union gp_any_record record = {0};
	uint32_t stream, context = context_of(im, e);
	uint16_t device;

	if (!find_place(im, e, &device, &stream))
		return 0;
	record.copy = (struct gp_record_copy){
		OPERATION,
		.bytes = (uint64_t)e->numbers[GP_KINETO_BYTES],
		.graph_node_id = (uint64_t)e->numbers[GP_KINETO_GRAPH_NODE],
		.channel_id = gp_kineto_number(e, GP_KINETO_CHANNEL, 0),
		.channel_type = gp_kineto_number(e, GP_KINETO_CHANNEL_TYPE, 0),
		.source_device_id = gp_kineto_number(e, GP_KINETO_FROM_DEVICE, device),
		.destination_device_id = gp_kineto_number(e, GP_KINETO_TO_DEVICE, device),
		.source_context_id = name_of(im, e, GP_KINETO_FROM_CONTEXT, context),
		.destination_context_id = name_of(im, e, GP_KINETO_TO_CONTEXT, context),
	};
	name_copy(e->name, &record.copy);
	gp_import_note_time(im, start_if_timed(e), end_if_timed(e));
	return gp_import_record(im, GP_RECORD_COPY, &record);
}

/* Takes "Memset (Device)". */
static int take_memset(struct gp_importing *im, const struct gp_kineto_event *e)
{
	const char *memory = strchr(e->name, '(');
	union gp_any_record record = {0};
	uint32_t stream;
	uint16_t device;

	if (!find_place(im, e, &device, &stream))
		return 0;
	record.memset = (struct gp_record_memset){
		OPERATION,
		.bytes = (uint64_t)e->numbers[GP_KINETO_BYTES],
		.graph_node_id = (uint64_t)e->numbers[GP_KINETO_GRAPH_NODE],
		.memory_kind = memory ? memory_kind_of(memory + 1) : 0,
		.channel_id = gp_kineto_number(e, GP_KINETO_CHANNEL, 0),
	};
	gp_import_note_time(im, start_if_timed(e), end_if_timed(e));
	return gp_import_record(im, GP_RECORD_MEMSET, &record);
}

/*
 * A launch of a whole graph, in gpuprof exports only. The end device is unknown, and taken to be
 * the start device.
 */
static int take_graph(struct gp_importing *im, const struct gp_kineto_event *e)
{
	union gp_any_record record = {0};
	uint32_t stream;
	uint16_t device;

	if (!find_place(im, e, &device, &stream))
		return 0;
	record.graph = (struct gp_record_graph){
		OPERATION,
		.end_device_id = device,
		.end_context_id = context_of(im, e),
	};
	gp_import_note_time(im, start_if_timed(e), end_if_timed(e));
	return gp_import_record(im, GP_RECORD_GRAPH, &record);
}

/* ---- host events ---- */

static uint32_t thread_of(const struct gp_kineto_event *e)
{
	return (uint32_t)e->numbers[GP_KINETO_TID];
}

static int note_pid(struct gp_importing *im, const struct gp_kineto_event *e)
{
	char text[24];

	if (!gp_kineto_has(e, GP_KINETO_PID))
		return 0;
	snprintf(text, sizeof(text), "%u", gp_kineto_number(e, GP_KINETO_PID, 0));
	return gp_import_info(im, GP_INFO_PID, text);
}

/*
 * The process is that of the calls; without calls, that of the first range. Devices appear as
 * processes, too, and launchers may add ranges of theirs. Returns -ENOTUNIQ for the call of a second
 * process: correlation ids, contexts and streams are numbers of one process.
 */
static int note_caller(struct gp_importing *im, const struct gp_kineto_event *e)
{
	if (*e->process == '\0' || strcmp(im->process, e->process) == 0)
		return 0;
	if (*im->process != '\0')
		return -ENOTUNIQ;
	snprintf(im->process, sizeof(im->process), "%s", e->process);
	return note_pid(im, e);
}

#define NULL_STREAM 3u /* CUPTI's kind of a context's default stream */

/*
 * 0 = unknown. If a call created several streams, only the context's default stream has a known
 * kind.
 */
static uint16_t stream_kind_of(const struct gp_kineto_event *e, uint32_t stream)
{
	uint16_t kind = NULL_STREAM;

	if (gp_kineto_number(e, GP_KINETO_DEFAULT_STREAM, GP_NONE) == stream)
		return kind;
	while (kind > 0 && strcmp(gp_stream_kind_name(kind), e->stream_kind) != 0)
		kind--;
	return kind;
}

/* A context and streams that a call created; in gpuprof exports only. */
static int take_made(struct gp_importing *im, const struct gp_kineto_event *e)
{
	uint32_t device = gp_kineto_number(e, GP_KINETO_CONTEXT_DEVICE, GP_NONE);
	union gp_any_record record = {0};
	int result = 0;

	if (gp_kineto_has(e, GP_KINETO_MADE_CONTEXT) && device < GP_DEVICE_LIMIT) {
		record.context = (struct gp_record_context){
			.device_id = (uint16_t)device,
			.id = gp_kineto_number(e, GP_KINETO_MADE_CONTEXT, 0),
			.null_stream_id = gp_kineto_number(e, GP_KINETO_DEFAULT_STREAM, 0),
		};
		result = gp_import_record(im, GP_RECORD_CONTEXT, &record);
	}
	for (uint32_t i = 0; i < e->stream_count && result == 0; i++) {
		record = (union gp_any_record){0};
		record.stream = (struct gp_record_stream){
			.flags = stream_kind_of(e, e->streams[i]),
			.id = e->streams[i],
			.context_id = gp_kineto_number(e, GP_KINETO_CONTEXT, 0),
			.priority = (int32_t)e->numbers[GP_KINETO_PRIORITY],
			.correlation_id = correlation_of(im, e),
		};
		result = gp_import_record(im, GP_RECORD_STREAM, &record);
	}
	return result;
}

static uint16_t flags_of(const struct gp_kineto_event *e)
{
	return (uint16_t)((gp_kineto_has(e, GP_KINETO_CAPTURED) ? GP_CALL_CAPTURED : 0) |
			  (gp_kineto_has(e, GP_KINETO_COOPERATIVE) ? GP_CALL_COOPERATIVE : 0) |
			  (gp_kineto_has(e, GP_KINETO_OVERLAPPING) ? GP_CALL_OVERLAPPING : 0));
}

/*
 * What a call allocated or freed, or failed to allocate; in gpuprof exports only. The device is that
 * of the call's context, which may be read later. Not of memory with handles: mappings are not in
 * the file.
 */
static bool find_memory(const struct gp_kineto_event *e, struct gp_import_memory *memory)
{
	uint8_t class = gp_import_api_class(e->name, e->name_bytes), kind = GP_MEMORY_PHYSICAL - 1;
	bool has_failed = gp_kineto_number(e, GP_KINETO_STATUS, 0) != 0;

	while (kind > 0 && strcmp(gp_allocation_name(kind), e->memory) != 0)
		kind--;
	*memory = (struct gp_import_memory){
		.address = (uint64_t)e->numbers[GP_KINETO_ADDRESS],
		.bytes = (uint64_t)e->numbers[GP_KINETO_BYTES],
		.op = class == GP_API_FREE ? GP_MEMORY_FREE : GP_MEMORY_ALLOC,
		.kind = kind,
	};
	if (!gp_kineto_has(e, GP_KINETO_BYTES) || (class != GP_API_FREE && class != GP_API_ALLOC))
		return false;
	return kind > 0 || (has_failed && class == GP_API_ALLOC);
}

static int take_call(struct gp_importing *im, const struct gp_kineto_event *e, bool is_driver)
{
	struct gp_import_memory memory;
	const struct gp_import_call call = {
		.start_ns = start_of(e),
		.end_ns = end_of(e),
		.name = e->name,
		.name_bytes = e->name_bytes,
		.cbid = gp_kineto_number(e, GP_KINETO_CBID, 0),
		.correlation_id = correlation_of(im, e),
		.thread_id = thread_of(e),
		.context_id = gp_kineto_number(e, GP_KINETO_CALL_CONTEXT, 0),
		.status = (uint16_t)gp_kineto_number(e, GP_KINETO_STATUS, 0),
		.flags = flags_of(e),
		.is_driver = is_driver,
		.memory = find_memory(e, &memory) ? &memory : NULL,
	};
	int result = note_caller(im, e);

	if (result == 0)
		result = take_made(im, e);
	return result == 0 ? gp_import_call(im, &call) : result;
}

static int take_runtime(struct gp_importing *im, const struct gp_kineto_event *e)
{
	return take_call(im, e, false);
}

static int take_driver(struct gp_importing *im, const struct gp_kineto_event *e)
{
	return take_call(im, e, true);
}

/* *domain = 0: the default domain. Returns 0 or -ENOMEM. */
static int find_domain(struct gp_importing *im, const struct gp_kineto_event *e, uint32_t *domain)
{
	size_t bytes = strlen(e->domain);
	bool is_new = false;

	*domain = 0;
	if (bytes == 0)
		return 0;
	*domain = gp_interner_number(&im->domains, e->domain, bytes, &is_new);
	if (*domain == 0)
		return -ENOMEM;
	return is_new ? gp_import_string(im, GP_STRING_DOMAIN, *domain, 0, e->domain, bytes) : 0;
}

static int take_range(struct gp_importing *im, const struct gp_kineto_event *e, uint32_t category)
{
	struct gp_import_span span = {
		.start_ns = start_of(e),
		.end_ns = end_if_any(e),
		.thread_id = thread_of(e),
		.text = gp_import_message(im, e->name, e->name_bytes),
		.category = category,
	};

	if (span.text == 0 || find_domain(im, e, &span.domain) != 0)
		return -ENOMEM;
	if (!im->builder->model->info[GP_INFO_PID] && note_pid(im, e) != 0)
		return -ENOMEM;
	gp_import_note_time(im, span.start_ns,
			    span.end_ns == GP_IMPORT_OPEN ? span.start_ns : span.end_ns);
	return gp_import_span(&im->ranges, &span);
}

static int add_function(struct gp_importing *im, const struct gp_kineto_event *e, const char *name,
			size_t name_bytes, bool is_python, uint32_t caller)
{
	const struct gp_import_span span = {
		.start_ns = start_of(e),
		.end_ns = end_if_any(e),
		.thread_id = thread_of(e),
		.text = gp_import_code(im, name, name_bytes, GP_IMPORT_LINE_OF_CODE),
		.is_python = is_python,
		.caller = caller,
	};

	return span.text != 0 ? gp_import_span(&im->functions, &span) : -ENOMEM;
}

/* "<built-in method neg>" of "<built-in method neg of Tensor object at 0x7ed6e00c62a0>"; or "". */
static void name_without_object(const char *name, char method[GP_KINETO_LABEL_BYTES])
{
	static const char begin[] = "<built-in method ";
	const char *of = strstr(name, " of ");

	*method = '\0';
	if (of && strncmp(name, begin, sizeof(begin) - 1) == 0 && strstr(of, " object at 0x"))
		snprintf(method, GP_KINETO_LABEL_BYTES, "%.*s>", (int)(of - name), name);
}

/* Each object would be a function of its own. */
static int take_function(struct gp_importing *im, const struct gp_kineto_event *e)
{
	char method[GP_KINETO_LABEL_BYTES];

	name_without_object(e->name, method);
	return *method ? add_function(im, e, method, strlen(method), true, 0)
		       : add_function(im, e, e->name, e->name_bytes, true, 0);
}

static int change_line(struct gp_importing *im, const struct gp_kineto_event *e,
		       const struct gp_kineto_line_change *line_change)
{
	const struct gp_import_line_change told = {start_of(e) + line_change->after_ns,
						   line_change->line};

	return gp_import_change_line(im, &told);
}

/*
 * Begins a Python sample of a gpuprof export: "forward (net.py)", with its file and line in "args".
 * The next end event of its track ends it.
 */
static int begin_sample(struct gp_importing *im, const struct gp_kineto_event *e)
{
	char *text = NULL;
	const char *end = strrchr(e->name, '(');
	int result, bytes = end && end > e->name && *e->label ? (int)(end - e->name - 1)
							      : (int)e->name_bytes;
	struct gp_import_span span = {
		.start_ns = start_of(e),
		.end_ns = GP_IMPORT_OPEN,
		.thread_id = gp_kineto_number(e, GP_KINETO_THREAD, thread_of(e)),
		.end_thread_id = thread_of(e),
		.samples = gp_kineto_number(e, GP_KINETO_SAMPLES, 1),
		.line = gp_kineto_number(e, GP_KINETO_LINE, 0),
		.is_imported = gp_kineto_has(e, GP_KINETO_IMPORTED),
	};

	if (*e->label)
		bytes = asprintf(&text, "%s(0): %.*s", e->label, bytes, e->name);
	if (bytes < 0 || e->has_no_memory)
		return -ENOMEM;
	gp_import_note_time(im, span.start_ns, span.start_ns);
	span.text = gp_import_code(im, *e->label ? text : e->name, (size_t)bytes,
				   GP_IMPORT_LINE_OF_FRAME);
	free(*e->label ? text : NULL);
	result = span.text != 0 ? gp_import_begin_sample(im, &span) : -ENOMEM;
	for (uint32_t i = 0; result == 0 && i < e->line_change_count; i++)
		result = change_line(im, e, &e->line_changes[i]);
	return result;
}

#define MOST_CALLERS (GP_FRAME_DEPTH / 2) /* others are operators */

/*
 * "net.py(31): forward;train.py(12): <module>", the innermost function first; with TorchScript, and
 * from PyTorch up to 1.12. *frame = 0: there is none. Returns 0 or -ENOMEM.
 */
static int take_call_stack(struct gp_importing *im, const char *text, uint32_t *frame)
{
	size_t length = strlen(text);
	const char *end = text + length;

	*frame = 0;
	if (length >= GP_JSON_TEXT_BYTES) /* the outermost functions are cut off */
		end = memrchr(text, ';', length);
	for (uint32_t depth = 0; end && end > text && depth < MOST_CALLERS; depth++) {
		const char *start = memrchr(text, ';', (size_t)(end - text));
		struct gp_record_frame record = {.frame_kind = GP_FRAME_PYTHON,
						 .parent_id = *frame};

		start = start ? start + 1 : text;
		if (start < end) {
			record.origin_id = gp_import_code(im, start, (size_t)(end - start),
							  GP_IMPORT_LINE_OF_CODE);
			*frame = record.origin_id != 0 ? gp_import_frame(im, &record) : 0;
			if (*frame == 0)
				return -ENOMEM;
		}
		end = start > text ? start - 1 : text;
	}
	return 0;
}

static int take_annotation(struct gp_importing *im, const struct gp_kineto_event *e)
{
	return take_range(im, e, GP_KINETO_ANNOTATION);
}

/*
 * An operator is a range, and a function in the stacks of its launches. PyTorch up to 1.12 writes
 * its steps as operators; as functions they would make the stacks of each step different.
 */
static int take_op(struct gp_importing *im, const struct gp_kineto_event *e)
{
	uint32_t caller;
	int result;

	if (strncmp(e->name, GP_PYTORCH_STEP, sizeof(GP_PYTORCH_STEP) - 1) == 0)
		return take_annotation(im, e);
	result = take_range(im, e, GP_KINETO_OPERATOR);
	if (result == 0)
		result = take_call_stack(im, e->call_stack, &caller);
	return result == 0 ? add_function(im, e, e->name, e->name_bytes, false, caller) : result;
}

#define OVERHEADS 16u /* CUPTI's kinds of overhead: 1, then these in the upper half */

static int take_overhead(struct gp_importing *im, const struct gp_kineto_event *e)
{
	union gp_any_record record = {0};

	record.overhead = (struct gp_record_overhead){
		.start_ns = start_of(e),
		.end_ns = end_of(e),
		.thread_id = gp_kineto_number(e, GP_KINETO_THREAD, 0), /* in gpuprof exports only */
	};
	for (uint32_t i = 0; i <= OVERHEADS; i++) {
		uint32_t kind = i == 0 ? 1 : i << 16;

		if (strcmp(e->name, gp_overhead_name(kind)) == 0)
			record.overhead.overhead_kind = kind;
	}
	gp_import_note_time(im, start_of(e), end_of(e));
	return gp_import_record(im, GP_RECORD_OVERHEAD, &record);
}

#define JIT_KINDS 3u /* CUPTI's highest number of a compiler operation and its input */

/* Parses "compile PTX to CUBIN"; in gpuprof exports only. */
static void name_compiling(const char *name, struct gp_record_jit *jit)
{
	for (uint8_t kind = 1; kind <= JIT_KINDS; kind++) {
		const char *at = name;

		if (skip_word(&at, gp_jit_op_name(kind)) && skip_word(&at, " ")) {
			jit->op_kind = kind;
			name = at;
			break;
		}
	}
	for (uint8_t kind = 1; kind <= JIT_KINDS; kind++)
		if (strcmp(name, gp_jit_entry_name(kind)) == 0)
			jit->entry_kind = kind;
}

static int take_compiling(struct gp_importing *im, const struct gp_kineto_event *e)
{
	union gp_any_record record = {0};
	uint32_t device = gp_kineto_number(e, GP_KINETO_DEVICE, UINT16_MAX);

	record.jit = (struct gp_record_jit){
		.device_id = device <= UINT16_MAX ? (uint16_t)device : UINT16_MAX,
		.correlation_id = correlation_of(im, e),
		.start_ns = start_of(e),
		.end_ns = end_of(e),
		.thread_id = gp_kineto_number(e, GP_KINETO_THREAD, 0),
		.cache_bytes = (uint64_t)e->numbers[GP_KINETO_CACHE_BYTES],
		.operation_id = (uint64_t)e->numbers[GP_KINETO_OPERATION],
	};
	name_compiling(e->name, &record.jit);
	gp_import_note_time(im, start_of(e), end_of(e));
	return gp_import_record(im, GP_RECORD_JIT, &record);
}

/* CUPTI's kinds of synchronization by name, from 1 on. */
static uint16_t sync_kind_of(const char *name)
{
	static const char *const kinds[] = {"Event Sync", "Stream Wait Event", "Stream Sync",
					    "Context Sync"};

	for (uint16_t i = 0; i < COUNT(kinds); i++)
		if (strcmp(name, kinds[i]) == 0)
			return (uint16_t)(i + 1);
	return 0;
}

static int take_sync(struct gp_importing *im, const struct gp_kineto_event *e)
{
	union gp_any_record record = {0};

	record.sync = (struct gp_record_sync){
		.sync_kind = sync_kind_of(e->name),
		.correlation_id = correlation_of(im, e),
		.start_ns = start_of(e),
		.end_ns = end_of(e),
		.context_id = context_of(im, e),
		.stream_id = name_of(im, e, GP_KINETO_STREAM, GP_NO_STREAM),
		.event_id = gp_kineto_number(e, GP_KINETO_EVENT, 0),
	};
	gp_import_note_time(im, start_of(e), end_of(e));
	return gp_import_record(im, GP_RECORD_SYNC, &record);
}

static int take_event(struct gp_importing *im, const struct gp_kineto_event *e)
{
	union gp_any_record record = {0};
	uint32_t stream;
	uint16_t device;

	if (!find_place(im, e, &device, &stream))
		return 0;
	record.event = (struct gp_record_event){
		.device_id = device,
		.correlation_id = correlation_of(im, e),
		.context_id = context_of(im, e),
		.stream_id = stream,
		.event_id = gp_kineto_number(e, GP_KINETO_EVENT, 0),
		.device_ns = start_of(e),
	};
	gp_import_note_time(im, start_of(e), start_of(e));
	return gp_import_record(im, GP_RECORD_EVENT, &record);
}

/* GP_NONE: the host. */
static uint32_t end_device(const struct gp_kineto_event *e, enum gp_kineto_number end)
{
	return gp_kineto_number(e, end, gp_kineto_number(e, GP_KINETO_DEVICE, GP_NONE));
}

static uint16_t unified_kind_of(const char *name)
{
	uint16_t kind = GP_UNIFIED_KINDS - 1;

	while (kind > 0 && strcmp(name, gp_unified_name(kind)) != 0)
		kind--;
	return kind;
}

/* A migration, a fault, thrashing; in gpuprof exports only. An instant has no end. */
static int take_unified(struct gp_importing *im, const struct gp_kineto_event *e)
{
	uint16_t kind = unified_kind_of(e->name);
	union gp_any_record record = {0};

	if (kind == 0) {
		count_unknown(im);
		return 0;
	}
	record.unified = (struct gp_record_unified){
		.counter_kind = kind,
		.flags = gp_kineto_number(e, GP_KINETO_FLAGS, 0),
		.start_ns = start_of(e),
		.end_ns = e->duration_ns > 0 ? end_of(e) : 0,
		.value = (uint64_t)e->numbers[gp_unified_counts_bytes(kind) ? GP_KINETO_BYTES
									    : GP_KINETO_VALUE],
		.address = (uint64_t)e->numbers[GP_KINETO_ADDRESS],
		.source_device_id =
			kind == GP_UNIFIED_THRASHING ? e->devices : end_device(e, GP_KINETO_SOURCE),
		.destination_device_id = end_device(e, GP_KINETO_DESTINATION),
	};
	gp_import_note_time(im, start_of(e), end_of(e));
	return gp_import_record(im, GP_RECORD_UNIFIED, &record);
}

/* A host function that CUDA called; in gpuprof exports only. */
static int take_host_function(struct gp_importing *im, const struct gp_kineto_event *e)
{
	uint32_t device = gp_kineto_number(e, GP_KINETO_DEVICE, GP_NONE);
	uint32_t stream = gp_kineto_number(e, GP_KINETO_STREAM, GP_NONE);
	union gp_any_record record = {0};

	if (device >= GP_DEVICE_LIMIT || stream == GP_NONE) {
		count_unknown(im);
		return 0;
	}
	record.host_function = (struct gp_record_host_function){
		.device_id = (uint16_t)device,
		.correlation_id = correlation_of(im, e),
		.start_ns = start_of(e),
		.end_ns = end_of(e),
		.context_id = context_of(im, e),
		.stream_id = stream,
		.graph_node_id = (uint64_t)e->numbers[GP_KINETO_GRAPH_NODE],
		.graph_id = gp_kineto_number(e, GP_KINETO_GRAPH, 0),
		.thread_id = gp_kineto_number(e, GP_KINETO_THREAD, 0),
	};
	gp_import_note_time(im, start_of(e), end_of(e));
	return gp_import_record(im, GP_RECORD_HOST_FUNCTION, &record);
}

/* In gpuprof exports only. */
static int take_gate(struct gp_importing *im, const struct gp_kineto_event *e)
{
	return gp_import_gate(im, start_of(e), strcmp(e->name, "recording on") == 0, e->label);
}

/* GP_KINETO_DEVICE_TYPE */
#define ON_CUDA 1
#define ON_HIP  6

/* The state of PyTorch's caching allocator at each change, as the state of a pool. */
static int take_instant(struct gp_importing *im, const struct gp_kineto_event *e, bool *is_known)
{
	uint32_t device = gp_kineto_number(e, GP_KINETO_DEVICE_ID, GP_NONE);
	union gp_any_record record = {0};

	if (strcmp(e->category, "unified_memory") == 0)
		return take_unified(im, e);
	if (strcmp(e->name, "recording on") == 0 || strcmp(e->name, "recording off") == 0)
		return take_gate(im, e);
	if (strcmp(e->name, "[memory]") != 0)
		return 0;
	*is_known = true;
	if ((e->numbers[GP_KINETO_DEVICE_TYPE] != ON_CUDA &&
	     e->numbers[GP_KINETO_DEVICE_TYPE] != ON_HIP) ||
	    device >= GP_DEVICE_LIMIT || !gp_kineto_has(e, GP_KINETO_RESERVED) ||
	    !gp_kineto_has(e, GP_KINETO_ALLOCATED))
		return 0;
	record.pool = (struct gp_record_pool){
		.device_id = (uint16_t)device,
		.time_ns = start_of(e),
		.reserved_bytes = (uint64_t)e->numbers[GP_KINETO_RESERVED],
		.used_bytes = (uint64_t)e->numbers[GP_KINETO_ALLOCATED],
		.pool_kind = 1,
	};
	gp_import_note_time(im, start_of(e), start_of(e));
	return gp_import_record(im, GP_RECORD_POOL, &record);
}

/* A kernel of CUPTI's range profiler, which has counters in place of times. */
static int take_counted(struct gp_importing *im, const struct gp_kineto_event *e)
{
	int result = 0;

	im->counters_left_out += e->counters_left_out;
	for (uint32_t i = 0; result == 0 && i < e->counter_count; i++)
		result = gp_import_counter(im, start_of(e), e->name, e->counters[i].name,
					   e->counters[i].value);
	return result;
}

/* For events that the model has in another form, or derives itself. */
static int take_nothing(struct gp_importing *im, const struct gp_kineto_event *e)
{
	(void)im;
	(void)e;
	return 0;
}

/* Compared without regard to case. The last rows, and capitals, are from PyTorch up to 1.12. */
static const struct row {
	const char *category;
	int (*take)(struct gp_importing *im, const struct gp_kineto_event *e);
	enum { NEEDS_NO_TIME, NEEDS_START, NEEDS_END } needs;
} categories[] = {
	{"kernel", take_kernel, NEEDS_NO_TIME},
	{"cuda_runtime", take_runtime, NEEDS_START},
	{"cpu_op", take_op, NEEDS_START},
	{"python_function", take_function, NEEDS_START},
	{"cuda_driver", take_driver, NEEDS_START},
	{"gpu_memcpy", take_copy, NEEDS_NO_TIME},
	{"gpu_memset", take_memset, NEEDS_NO_TIME},
	{"user_annotation", take_annotation, NEEDS_START},
	{"cuda_sync", take_sync, NEEDS_END},
	{"cuda_event", take_event, NEEDS_END},
	{"overhead", take_overhead, NEEDS_END},
	{"jit", take_compiling, NEEDS_END},
	{"unified_memory", take_unified, NEEDS_END},
	{"host_function", take_host_function, NEEDS_END},
	{"gpu_graph", take_graph, NEEDS_NO_TIME},
	{"cuda_profiler_range", take_counted, NEEDS_END},
	{"gpu_user_annotation", take_nothing, NEEDS_NO_TIME},
	{"external_correlation", take_nothing, NEEDS_NO_TIME},
	{"Trace", take_nothing, NEEDS_NO_TIME},
	/* in gpuprof exports */
	{"phase", take_nothing, NEEDS_NO_TIME},
	{"critical_path", take_nothing, NEEDS_NO_TIME},
	{"Runtime", take_runtime, NEEDS_START},
	{"Operator", take_op, NEEDS_START},
	{"Memcpy", take_copy, NEEDS_NO_TIME},
	{"Memset", take_memset, NEEDS_NO_TIME},
};

/* The runtimes and drivers of other devices, whose kernels are events as those of CUDA. */
static const struct row others[] = {
	{"_runtime", take_runtime, NEEDS_START},
	{"_driver", take_driver, NEEDS_START},
};

/*
 * Not of Meta's MTIA, whose kernels are of another form, and not what extensions write under such a
 * name: counters, or events of devices.
 */
static bool may_launch(const struct gp_importing *im, const struct gp_kineto_event *e)
{
	return strncmp(e->category, "mtia", 4) != 0 && gp_kineto_has(e, GP_KINETO_CORRELATION) &&
	       (*im->process == '\0' || strcmp(im->process, e->process) == 0);
}

/* "xpu_runtime" */
static const struct row *find_other(const struct gp_importing *im, const struct gp_kineto_event *e)
{
	size_t length = strlen(e->category);

	for (size_t i = 0; i < COUNT(others); i++) {
		size_t end = strlen(others[i].category);

		if (length > end && strcmp(e->category + length - end, others[i].category) == 0)
			return may_launch(im, e) ? &others[i] : NULL;
	}
	return NULL;
}

static const struct row *find_row(const struct gp_importing *im, const struct gp_kineto_event *e)
{
	for (size_t i = 0; i < COUNT(categories); i++)
		if (strcasecmp(e->category, categories[i].category) == 0)
			return &categories[i];
	return find_other(im, e);
}

/* Events that a profiler left at time 0 would begin the trace decades before. */
static bool lacks_time(struct gp_importing *im, const struct gp_kineto_event *e)
{
	bool lacks = e->start_ns == 0 && e->duration_ns == 0;

	im->untimed += lacks;
	return lacks;
}

static int take_slice(struct gp_importing *im, const struct gp_kineto_event *e, bool *is_known)
{
	const struct row *row = find_row(im, e);

	if (!row) {
		gp_import_leave_out(im, *e->category ? e->category : "(no category)");
		return 0;
	}
	*is_known = true;
	if (row->needs != NEEDS_NO_TIME && lacks_time(im, e))
		return 0;
	if (row->needs == NEEDS_END && gp_import_is_unfinished(im, start_of(e), end_of(e)))
		return 0;
	return row->take(im, e);
}

/* ---- names ---- */

/* "thread 824 (python)"; other names are of streams. */
static int name_thread(struct gp_importing *im, const struct gp_kineto_event *e)
{
	const char *name = strstr(e->label, " (");
	size_t length = name ? strlen(name + 2) : 0;

	if (strncmp(e->label, "thread ", 7) != 0 || length < 2 || !gp_kineto_has(e, GP_KINETO_TID))
		return 0;
	return gp_import_string(im, GP_STRING_THREAD, thread_of(e), 0, name + 2, length - 1);
}

/* Devices are processes, too, mostly with the same name. */
static int name_process(struct gp_importing *im, const struct gp_kineto_event *e)
{
	uint32_t pid = gp_kineto_number(e, GP_KINETO_PID, 0);

	for (uint32_t i = 0; i < im->process_count; i++)
		if (im->processes[i].pid == pid)
			return 0;
	if (im->process_count == GP_IMPORT_PROCESSES)
		return 0;
	im->processes[im->process_count].pid = pid;
	snprintf(im->processes[im->process_count].name, sizeof(im->processes[0].name), "%s",
		 e->label);
	im->process_count++;
	return 0;
}

static int take_metadata(struct gp_importing *im, const struct gp_kineto_event *e)
{
	if (strcmp(e->name, "thread_name") == 0)
		return name_thread(im, e);
	if (strcmp(e->name, "process_name") == 0)
		return name_process(im, e);
	return 0;
}

int gp_kineto_take_event(struct gp_importing *im, const struct gp_kineto_event *e, bool *is_known)
{
	if (strcmp(e->phase, "X") == 0 && e->has_start)
		return take_slice(im, e, is_known);
	if (strcmp(e->phase, "B") == 0 && e->has_start && strcmp(e->category, "python_sample") == 0)
		return begin_sample(im, e);
	if (strcmp(e->phase, "E") == 0 && e->has_start)
		gp_import_end_sample(im, thread_of(e), start_of(e));
	if (strcmp(e->phase, "i") == 0 && e->has_start)
		return take_instant(im, e, is_known);
	if (strcmp(e->phase, "M") == 0)
		return take_metadata(im, e);
	return 0;
}
