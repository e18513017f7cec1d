/*
 * Prints the call stacks of a trace, one line each, for tests:
 *
 *   dump TRACE
 *
 *   frame ID PARENT KIND ORIGIN ADDRESS        code ID FIRST-LINE FORM CUT TABLE-HEX FILE<tab>NAME
 *   module ID START END BIAS BUILD-ID          path ID PATH           call API STACK ERROR
 *   note TEXT
 *   counter NUMBER VALUE    sample THREAD STACK COUNT START DURATION
 */
#include <stdio.h>
#include <string.h>

#include "report/trace/decode.h"
#include "report/trace/trace_read.h"

static void print_hex(const uint8_t *bytes, size_t count)
{
	if (count == 0)
		putchar('-');
	for (size_t i = 0; i < count; i++)
		printf("%02x", bytes[i]);
}

static void print_code(uint32_t id, const char *text, uint32_t bytes)
{
	uint32_t first_line;
	const char *file = text + 8, *name = file + strlen(file) + 1,
		   *table = name + strlen(name) + 1;

	memcpy(&first_line, text, 4);
	printf("code %u %u %d %d ", id, first_line, text[4], text[5]);
	print_hex((const uint8_t *)table, bytes - (size_t)(table - text));
	printf(" %s\t%s\n", file, name);
}

static void print_string(const struct gp_record_string *string, const char *text)
{
	if (string->space == GP_STRING_CODE)
		print_code(string->id, text, string->length_bytes);
	else if (string->space == GP_STRING_MODULE)
		printf("path %u %.*s\n", string->id, (int)string->length_bytes, text);
	else if (string->space == GP_STRING_INFO && string->id == GP_INFO_NOTE)
		printf("note %.*s\n", (int)string->length_bytes, text);
}

static void print_module(const struct gp_record_module *module)
{
	printf("module %u %llx %llx %llx ", module->id, (unsigned long long)module->start_address,
	       (unsigned long long)module->end_address, (unsigned long long)module->bias);
	print_hex(module->build_id, module->build_id_bytes);
	putchar('\n');
}

static int print_record(void *context, const struct gp_record_view *seen)
{
	const union gp_any_record *record = seen->record;
	const struct gp_record_frame *frame = &record->frame;

	(void)context;
	switch (record->head.kind) {
	case GP_RECORD_FRAME:
		printf("frame %u %u %u %u %llx\n", frame->id, frame->parent_id, frame->frame_kind,
		       frame->origin_id, (unsigned long long)frame->address);
		break;
	case GP_RECORD_MODULE:
		print_module(&record->module);
		break;
	case GP_RECORD_COUNTER:
		printf("counter %u %llu\n", record->counter.counter,
		       (unsigned long long)record->counter.value);
		break;
	case GP_RECORD_STRING:
		print_string(&record->string, seen->text);
		break;
	case GP_RECORD_SAMPLE:
		printf("sample %u %u %u %llu %llu\n", record->sample.thread_id,
		       record->sample.stack_id, record->sample.count,
		       (unsigned long long)record->sample.start_ticks,
		       (unsigned long long)record->sample.duration_ticks);
		break;
	case GP_RECORD_CALL:
	case GP_RECORD_MEMORY:
		printf("call %u %u %u\n", record->call.api, record->call.stack_id,
		       (unsigned)GP_CALL_CODE(record->call.status));
		break;
	}
	return 0;
}

int main(int count, char **arguments)
{
	const struct gp_record_sink sink = {print_record, NULL};
	struct gp_decoded decoded;
	struct gp_trace *trace;
	struct gp_chunk chunk;
	char message[256];

	if (count != 2 || gp_trace_open(arguments[1], &trace, message, sizeof(message)) != 0)
		return 1;
	while (gp_trace_next(trace, &chunk) > 0)
		gp_decode_chunk(&chunk, &sink, &decoded);
	gp_trace_close(trace);
	return 0;
}
