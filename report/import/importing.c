#include "report/import/importing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/shell_word.h"
#include "report/base/array.h"
#include "report/base/memstream.h"
#include "report/import/api_class.h"
#include "report/symbols/python_code.h"
#include "report/base/spill_memory.h"
#include "report/base/text/format.h"
#include "report/trace/cuda_names.h"

void gp_importing_begin(struct gp_importing *im, struct gp_model_builder *b)
{
	*im = (struct gp_importing){.builder = b, .first_ns = UINT64_MAX};
}

void gp_importing_free(struct gp_importing *im)
{
	struct gp_interner *texts[] = {&im->kernels,  &im->shapes,   &im->apis,
				       &im->messages, &im->codes,    &im->domains,
				       &im->frames,   &im->counters, &im->wide};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		gp_interner_free(texts[i]);
	gp_spill_free(im->ranges.spans);
	gp_spill_free(im->functions.spans);
	gp_spill_free(im->samples.spans);
	gp_spill_free(im->line_changes);
}

/* Ignores an end before the start. */
void gp_import_note_time(struct gp_importing *im, uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns == 0)
		return;
	if (start_ns < im->first_ns)
		im->first_ns = start_ns;
	if (end_ns > im->last_ns)
		im->last_ns = end_ns;
	if (start_ns > im->last_ns)
		im->last_ns = start_ns;
}

bool gp_import_is_unfinished(struct gp_importing *im, uint64_t start_ns, uint64_t end_ns)
{
	bool is_unfinished = start_ns == 0 || end_ns < start_ns;

	im->unfinished += is_unfinished;
	return is_unfinished;
}

int gp_import_record_of(struct gp_importing *im, uint32_t thread_id, enum gp_record_kind kind,
			union gp_any_record *record)
{
	record->head.kind = (uint8_t)kind;
	return gp_take_record(im->builder, &(struct gp_record_view){record, NULL, thread_id});
}

int gp_import_record(struct gp_importing *im, enum gp_record_kind kind, union gp_any_record *record)
{
	return gp_import_record_of(im, 0, kind, record);
}

int gp_import_string(struct gp_importing *im, enum gp_string_space space, uint32_t id,
		     uint32_t value, const char *text, size_t bytes)
{
	const struct gp_record_string string = {
		.kind = GP_RECORD_STRING,
		.space = (uint16_t)space,
		.id = id,
		.value = value,
		.length_bytes = (uint32_t)bytes,
	};

	return gp_take_string(im->builder, &string, text);
}

int gp_import_info(struct gp_importing *im, enum gp_info info, const char *text)
{
	return gp_import_string(im, GP_STRING_INFO, info, 0, text, strlen(text));
}

int gp_import_restore_info(struct gp_importing *im, enum gp_info info, const char *text)
{
	char **to = &im->builder->model->info[info];

	if (info == GP_INFO_COMMAND)
		return gp_model_set_command(im->builder->model, strdup(text));
	free(*to);
	*to = strdup(text);
	return *to ? 0 : -ENOMEM;
}

int gp_import_recorder(struct gp_importing *im, const char *recorder, uint32_t unknown,
		       const char *note)
{
	struct gp_model *m = im->builder->model;
	bool has_note = note == NULL;

	m->recorder = recorder;
	m->unknown |= unknown;
	for (uint32_t i = 0; i < m->note_count && !has_note; i++)
		has_note = strcmp(m->notes[i], note) == 0; /* in an export of an export */
	return has_note ? 0 : gp_import_info(im, GP_INFO_NOTE, note);
}

const char *gp_import_recorder_named(const char *name)
{
	static const char *const recorders[] = {GP_IMPORT_TORCH, GP_IMPORT_NSYS};

	for (size_t i = 0; i < sizeof(recorders) / sizeof(recorders[0]); i++)
		if (strcmp(name, recorders[i]) == 0)
			return recorders[i];
	return NULL;
}

int gp_import_note_count(struct gp_importing *im, uint64_t count, const char *text)
{
	char *note = NULL;

	if (count == 0)
		return 0;
	if (asprintf(&note, "%s: %s", text, gp_format_count(count).text) < 0)
		return -ENOMEM;
	return gp_model_builder_note(im->builder, note);
}

void gp_import_leave_out(struct gp_importing *im, const char *kind)
{
	struct gp_import_left_out *row = im->left_out;
	const struct gp_import_left_out *last = row + GP_IMPORT_LEFT_OUT - 1;

	while (row < last && row->count > 0 && strncmp(row->kind, kind, sizeof(row->kind) - 1) != 0)
		row++;
	if (row->count == 0)
		snprintf(row->kind, sizeof(row->kind), "%s", row < last ? kind : "others");
	row->count++;
}

int gp_import_gate(struct gp_importing *im, uint64_t time_ns, bool on, const char *reason)
{
	union gp_any_record record = {0};

	record.gate = (struct gp_record_gate){.on = on, .reason = GP_GATE_KEPT, .ticks = time_ns};
	while (record.gate.reason > 0 &&
	       strcmp(gp_gate_reason_name(record.gate.reason), reason) != 0)
		record.gate.reason--;
	gp_import_note_time(im, time_ns, time_ns);
	return gp_import_record(im, GP_RECORD_GATE, &record);
}

/* ---- numbered texts ---- */

static uint32_t number_text(struct gp_importing *im, struct gp_interner *texts,
			    enum gp_string_space space, const char *text, size_t bytes)
{
	bool is_new;
	uint32_t number = gp_interner_number(texts, text, bytes, &is_new);

	if (is_new && gp_import_string(im, space, number, 0, text, bytes) != 0)
		return 0;
	return number;
}

uint32_t gp_import_kernel_name(struct gp_importing *im, const char *name, size_t bytes)
{
	return number_text(im, &im->kernels, GP_STRING_KERNEL, name, bytes);
}

uint32_t gp_import_message(struct gp_importing *im, const char *text, size_t bytes)
{
	return number_text(im, &im->messages, GP_STRING_RANGE, text, bytes);
}

uint32_t gp_import_number(struct gp_importing *im, int64_t number)
{
	uint32_t found;
	bool is_new;

	if (number >= 0 && number <= UINT32_MAX)
		return (uint32_t)number;
	found = gp_interner_number(&im->wide, &number, sizeof(number), &is_new);
	im->wide_count += is_new;
	return found == 0 ? GP_NONE : GP_IMPORT_WIDE + found;
}

uint32_t gp_import_shape(struct gp_importing *im, struct gp_record_shape *shape)
{
	union gp_any_record record = {0};
	bool is_new;

	shape->id = 0;
	shape->id = gp_interner_number(&im->shapes, shape, sizeof(*shape), &is_new);
	if (!is_new)
		return shape->id;
	record.shape = *shape;
	return gp_import_record(im, GP_RECORD_SHAPE, &record) == 0 ? shape->id : 0;
}

/* The parts of "file.py(12): function"; any other text is a function without a file. */
struct place {
	const char *file, *function;
	size_t file_bytes, function_bytes;
	uint32_t line;
};

static struct place find_place(const char *text, size_t bytes)
{
	const struct place whole = {"", text, 0, bytes, 0};
	const char *end = memmem(text, bytes, "): ", 3);
	const char *bracket = end ? memrchr(text, '(', (size_t)(end - text)) : NULL;
	uint64_t line = 0;

	if (!bracket || bracket == text || bracket + 1 == end)
		return whole;
	for (const char *digit = bracket + 1; digit < end; digit++) {
		if (*digit < '0' || *digit > '9' || line > UINT32_MAX / 16)
			return whole;
		line = line * 10 + (uint64_t)(*digit - '0');
	}
	return (struct place){.file = text,
			      .function = end + 3,
			      .file_bytes = (size_t)(bracket - text),
			      .function_bytes = (size_t)(text + bytes - (end + 3)),
			      .line = (uint32_t)line};
}

/* Defines a GP_STRING_CODE without a line table. */
static int define_code(struct gp_importing *im, uint32_t id, const char *text, size_t text_bytes,
		       enum gp_import_line line)
{
	static const uint8_t forms[] = {
		/* an empty table: all code is on the first line */
		[GP_IMPORT_LINE_OF_CODE] = GP_LINES_LNOTAB,
		[GP_IMPORT_LINE_OF_FRAME] = GP_PYTHON_OFFSET_IS_LINE,
	};

	struct place place = find_place(text, text_bytes);
	size_t bytes = 8 + place.file_bytes + 1 + place.function_bytes + 1;
	char *code = calloc(1, bytes);
	int result;

	if (!code)
		return -ENOMEM;
	memcpy(code, &place.line, sizeof(place.line));
	code[4] = (char)forms[line];
	memcpy(code + 8, place.file, place.file_bytes);
	memcpy(code + 8 + place.file_bytes + 1, place.function, place.function_bytes);
	result = gp_import_string(im, GP_STRING_CODE, id, 0, code, bytes);
	free(code);
	return result;
}

uint32_t gp_import_code(struct gp_importing *im, const char *text, size_t bytes,
			enum gp_import_line line)
{
	bool is_new;
	uint32_t number = gp_interner_number(&im->codes, text, bytes, &is_new);

	return is_new && define_code(im, number, text, bytes, line) != 0 ? 0 : number;
}

uint32_t gp_import_frame(struct gp_importing *im, const struct gp_record_frame *frame)
{
	union gp_any_record record = {0};
	bool is_new;

	record.frame = *frame;
	record.frame.id = 0;
	record.frame.id =
		gp_interner_number(&im->frames, &record.frame, sizeof(record.frame), &is_new);
	if (!is_new)
		return record.frame.id;
	return gp_import_record(im, GP_RECORD_FRAME, &record) == 0 ? record.frame.id : 0;
}

/* ---- calls ---- */

#define CBIDS 0x8000u /* in each domain */

/*
 * Numbers that CUPTI does not use, from the top down, one for each name. If there are too many,
 * names share the last one.
 */
static uint16_t spare_cbid(uint32_t name)
{
	return (uint16_t)(name < CBIDS / 2 ? CBIDS - name : CBIDS / 2);
}

static int find_api(struct gp_importing *im, const struct gp_import_call *call, uint16_t *api)
{
	struct {
		uint32_t cbid;
		char name[120];
	} key = {.cbid = call->cbid << 1 | call->is_driver};
	size_t bytes = call->name_bytes < sizeof(key.name) ? call->name_bytes : sizeof(key.name);
	uint32_t number, cbid = call->cbid;
	bool is_new;

	memcpy(key.name, call->name, bytes);
	number = gp_interner_number(&im->apis, &key, sizeof(key.cbid) + bytes, &is_new);
	if (number == 0)
		return -ENOMEM;
	if (cbid == 0 || cbid >= CBIDS)
		cbid = spare_cbid(number);
	*api = (uint16_t)(cbid | (call->is_driver ? GP_API_DRIVER : 0));
	if (!is_new)
		return 0;
	return gp_import_string(im, GP_STRING_API, *api, gp_import_api_class(key.name, bytes),
				key.name, bytes);
}

#define LONGEST_CALL_NS ((UINT64_C(1) << 48) - 1) /* the record has 48 bits */

int gp_import_call(struct gp_importing *im, const struct gp_import_call *call)
{
	uint64_t duration_ns = call->end_ns - call->start_ns;
	union gp_any_record record = {0};
	uint16_t api;
	int result;

	if (gp_import_is_unfinished(im, call->start_ns, call->end_ns))
		return 0;
	result = find_api(im, call, &api);
	if (result != 0)
		return result;
	if (duration_ns > LONGEST_CALL_NS)
		duration_ns = LONGEST_CALL_NS;
	record.call = (struct gp_record_call){
		.api = api,
		.correlation_id = call->correlation_id,
		.start_ticks = call->start_ns,
		.duration_low_ticks = (uint32_t)duration_ns,
		.duration_high_ticks = (uint16_t)(duration_ns >> 32),
		.status = (uint16_t)(GP_CALL_CODE(call->status) | call->flags),
		.stack_id = call->stack,
		.context_id = call->context_id,
	};
	gp_import_note_time(im, call->start_ns, call->start_ns + duration_ns);
	if (!call->memory)
		return gp_import_record_of(im, call->thread_id, GP_RECORD_CALL, &record);
	record.memory.address = call->memory->address;
	record.memory.bytes = call->memory->bytes;
	record.memory.pool = call->memory->pool;
	record.memory.op = call->memory->op;
	record.memory.memory_kind = call->memory->kind;
	record.memory.device_id = call->memory->device_id;
	return gp_import_record_of(im, call->thread_id, GP_RECORD_MEMORY, &record);
}

/* The index in the model's texts; GP_NONE if there is no memory. */
static uint32_t counter_text(struct gp_importing *im, const char *text)
{
	struct gp_model *m = im->builder->model;
	bool is_new;
	uint32_t number = gp_interner_number(&im->counters, text, strlen(text), &is_new);

	if (number == 0)
		return GP_NONE;
	if (!is_new)
		return number - 1;
	if (GP_MODEL_GROW(im->builder, m->counter_texts, m->counter_text_count, counter_texts) < 0)
		return GP_NONE;
	m->counter_texts[m->counter_text_count] = strdup(text);
	return m->counter_texts[m->counter_text_count] ? m->counter_text_count++ : GP_NONE;
}

int gp_import_counter(struct gp_importing *im, uint64_t start_ns, const char *kernel,
		      const char *counter, double value)
{
	struct gp_model *m = im->builder->model;
	struct gp_counted counted = {.start_ns = start_ns,
				     .kernel = counter_text(im, kernel),
				     .counter = counter_text(im, counter),
				     .value = value,
				     .op = GP_NONE,
				     .window = GP_NONE};
	int result = counted.kernel == GP_NONE || counted.counter == GP_NONE ? -ENOMEM : 0;

	if (result == 0)
		result = GP_MODEL_GROW(im->builder, m->counted, m->counted_count, counted);
	if (result == 0)
		m->counted[m->counted_count++] = counted;
	return result;
}

int gp_import_span(struct gp_import_spans *spans, const struct gp_import_span *span)
{
	int result =
		gp_array_grow_spill(&spans->spans, &spans->capacity, spans->count, sizeof(*span));

	if (result == 0)
		spans->spans[spans->count++] = *span;
	return result;
}

void gp_import_explain(int error, const char *path, char *message, size_t message_bytes)
{
	char word[GP_SHELL_WORD_BYTES];

	if (error == -ENOMEM || error == -EOVERFLOW)
		snprintf(
			message, message_bytes,
			"%s is too large for the free memory: read it on a machine with more memory",
			path);
	else if (error == -EFBIG)
		snprintf(
			message, message_bytes,
			"%s unpacks to more than 128 times its size, as no trace does; if you trust it, unpack it first: gunzip -k %s",
			path, gp_shell_word(path, word, sizeof(word)));
	else
		snprintf(message, message_bytes, "cannot read %s: %s", path, strerror(-error));
}

/* ---- finish ---- */

/* The device whose events have such kinds, " (Meta's MTIA)"; or "". */
static const char *device_of(const char *kind)
{
	static const struct {
		const char *begin, *device;
	} devices[] = {{"mtia", " (Meta's MTIA)"}, {"hpu", " (Intel Gaudi)"}};

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		if (strncmp(kind, devices[i].begin, strlen(devices[i].begin)) == 0)
			return devices[i].device;
	return "";
}

static int note_left_out(struct gp_importing *im)
{
	char *note = NULL;
	size_t bytes;
	FILE *out;
	int result;

	if (im->left_out[0].count == 0)
		return 0;
	out = open_memstream(&note, &bytes);
	if (!out)
		return -ENOMEM;
	fputs("events that gpuprof does not read, as they are not of CUDA, HIP or PyTorch:", out);
	for (size_t i = 0; i < GP_IMPORT_LEFT_OUT && im->left_out[i].count > 0; i++)
		fprintf(out, "%s %s %s%s", i > 0 ? "," : "",
			gp_format_count(im->left_out[i].count).text, im->left_out[i].kind,
			device_of(im->left_out[i].kind));
	result = gp_memstream_close(out, &note);
	if (result == 0)
		return gp_model_builder_note(im->builder, note);
	free(note);
	return result;
}

/* The name of the process that made the calls, else of the first one. */
static int name_program(struct gp_importing *im)
{
	char *const *info = im->builder->model->info;
	const struct gp_import_process *process = im->processes;
	uint32_t pid = info[GP_INFO_PID] ? (uint32_t)strtoul(info[GP_INFO_PID], NULL, 10) : 0;

	if (info[GP_INFO_PROGRAM] || im->process_count == 0)
		return 0;
	for (uint32_t i = im->process_count; i > 0; i--)
		if (im->processes[i - 1].pid == pid)
			process = &im->processes[i - 1];
	return gp_import_info(im, GP_INFO_PROGRAM, process->name);
}

static int note_counts(struct gp_importing *im)
{
	int result = gp_import_note_count(
		im, im->unfinished,
		"calls and other records that were left out, because they have no end (their duration is negative)");

	if (result == 0)
		result = gp_import_note_count(
			im, im->untimed,
			"calls and other records that were left out, because their time is 0");
	if (result == 0)
		result = gp_import_note_count(
			im, im->wide_count,
			"numbers of streams, contexts or correlations with more than 32 bits, which gpuprof numbers from 1000001 on");
	return result;
}

/* All clocks of the model are the clock of the imported times. */
static int set_clock(struct gp_importing *im, uint64_t time_ns, uint64_t unix_ns)
{
	uint64_t since_1970 = time_ns + unix_ns;
	union gp_any_record record = {0};

	record.anchor = (struct gp_record_anchor){
		.ticks = time_ns,
		.monotonic_ns = time_ns - im->first_ns,
		.realtime_ns = since_1970 > GP_IMPORT_ZERO_NS ? since_1970 - GP_IMPORT_ZERO_NS : 0,
		.cupti_ns = time_ns,
		.cupti_ticks = time_ns,
	};
	return gp_import_record(im, GP_RECORD_ANCHOR, &record);
}

static int close_trace(struct gp_importing *im)
{
	union gp_any_record record = {0};

	record.end = (struct gp_record_end){.reason = GP_END_EXIT, .ticks = im->last_ns};
	im->builder->model->losses.cut = im->is_cut;
	return im->is_cut || im->builder->model->why_no_end
		       ? 0
		       : gp_import_record(im, GP_RECORD_END, &record);
}

int gp_importing_finish(struct gp_importing *im, uint64_t unix_ns)
{
	int result = note_counts(im);

	if (result == 0)
		result = note_left_out(im);
	if (result == 0)
		result = name_program(im);
	if (result == 0)
		result = gp_import_stacks(im);
	if (result == 0)
		result = gp_import_function_samples(im);
	if (result == 0)
		result = gp_import_samples(im);
	if (result == 0)
		result = gp_import_ranges(im);
	if (im->first_ns > im->last_ns)
		im->first_ns = im->last_ns;
	if (result == 0)
		result = set_clock(im, im->first_ns, unix_ns);
	if (result == 0 && im->last_ns > im->first_ns)
		result = set_clock(im, im->last_ns, unix_ns);
	return result == 0 ? close_trace(im) : result;
}

static bool is_asynchronous(const char *name)
{
	size_t length = strlen(name);

	return length > 5 && strstr(name, "Async") != NULL;
}

void gp_import_mark_asynchronous(struct gp_model *m)
{
	for (uint32_t i = 0; i < m->op_count; i++) {
		struct gp_op *op = &m->ops[i];
		bool is_known =
			op->call != GP_NONE && (op->kind == GP_OP_COPY || op->kind == GP_OP_SET);

		if (is_known && is_asynchronous(gp_model_api(m, m->calls[op->call].api).name))
			op->flags |= 1;
	}
}
