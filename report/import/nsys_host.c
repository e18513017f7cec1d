#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/base/array.h"
#include "report/import/nsys_reading.h"
#include "report/model/nsys_numbers.h"

#define THREAD_BITS 0xffffffu

static uint32_t thread_of(const struct gp_row *row, enum gp_nsys_column column)
{
	return (uint32_t)gp_row_whole(row, column) & THREAD_BITS;
}

/* ---- memory: events of calls, which are read afterwards ---- */

static bool takes_part(const struct gp_row *row, enum gp_memory_op *op, uint8_t *kind)
{
	/* nsys's kinds. Static memory of modules belongs to no call. */
	static const uint8_t kinds[] = {[1] = GP_MEMORY_PINNED,
					[2] = GP_MEMORY_DEVICE,
					[3] = GP_MEMORY_ARRAY,
					[4] = GP_MEMORY_MANAGED};
	uint32_t number = gp_row_number(row, GP_NSYS_memKind, 0);
	uint32_t operation = gp_row_number(row, GP_NSYS_memoryOperationType, UINT32_MAX);

	*kind = number < sizeof(kinds) ? kinds[number] : 0;
	*op = operation == 0 ? GP_MEMORY_ALLOC : GP_MEMORY_FREE;
	return *kind != 0 && operation <= 1 && gp_row_has(row, GP_NSYS_correlationId);
}

static int take_memory(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	uint32_t device = gp_row_number(row, GP_NSYS_deviceId, UINT16_MAX);
	enum gp_memory_op op;
	uint8_t kind;

	if (!gp_nsys_is_of_process(r, row) || !takes_part(row, &op, &kind))
		return 0;
	if (gp_array_grow(&r->memory, &r->memory_capacity, r->memory_count, sizeof(*r->memory)) !=
	    0)
		return -ENOMEM;
	r->memory[r->memory_count++] = (struct gp_nsys_memory){
		.correlation_id = gp_row_number(row, GP_NSYS_correlationId, 0),
		.context_id = gp_row_number(row, GP_NSYS_contextId, 0),
		.memory = {.address = (uint64_t)gp_row_whole(row, GP_NSYS_address),
			   .bytes = (uint64_t)gp_row_whole(row, GP_NSYS_bytes),
			   .pool = (uint64_t)gp_row_whole(row, GP_NSYS_localMemoryPoolAddress),
			   .device_id = device < UINT16_MAX ? (uint16_t)device : UINT16_MAX,
			   .op = (uint8_t)op,
			   .kind = kind},
	};
	return 0;
}

GP_COMPARE_BY(compare_memory, struct gp_nsys_memory, correlation_id)

static struct gp_nsys_memory *find_memory(const struct gp_nsys_reading *r, uint32_t correlation_id)
{
	uint32_t low = 0, high = r->memory_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (r->memory[middle].correlation_id < correlation_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < r->memory_count && r->memory[low].correlation_id == correlation_id
		       ? &r->memory[low]
		       : NULL;
}

/* ---- calls ---- */

static bool begins_with(const char *text, size_t bytes, const char *word)
{
	return bytes >= strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

static int take_call(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	struct gp_nsys_memory *memory;
	struct gp_import_call call = {
		.start_ns = gp_nsys_time(row, GP_NSYS_start),
		.end_ns = gp_nsys_time(row, GP_NSYS_end),
		.correlation_id = gp_row_number(row, GP_NSYS_correlationId, 0),
		.thread_id = thread_of(row, GP_NSYS_globalTid),
		/* in gpuprof exports only */
		.context_id = gp_row_number(row, GP_NSYS_contextId, 0),
		.stack = gp_nsys_stack(r, row),
		.status = (uint16_t)gp_row_number(row, GP_NSYS_returnValue, 0),
		.flags = gp_row_has(row, GP_NSYS_captured) ? GP_CALL_CAPTURED : 0,
	};

	if (!gp_nsys_is_of_process(r, row))
		return 0;
	call.name = gp_nsys_text(r, row, GP_NSYS_nameId, &call.name_bytes);
	call.is_driver = !begins_with(call.name, call.name_bytes, "cuda") &&
			 !begins_with(call.name, call.name_bytes, "__cuda");
	memory = call.correlation_id != 0 ? find_memory(r, call.correlation_id) : NULL;
	if (memory) {
		call.context_id = memory->context_id;
		call.memory = &memory->memory;
		if (memmem(call.name, call.name_bytes, "Async", 5) ||
		    memmem(call.name, call.name_bytes, "FromPool", 8))
			memory->memory.kind = GP_MEMORY_ASYNC;
	}
	return gp_import_call(r->im, &call);
}

/* ---- ranges ---- */

/* Adds a used domain. If the file does not name it, its number is the name. */
static int use_domain(struct gp_nsys_reading *r, uint32_t id)
{
	char name[32];
	bool is_new;

	if (id == 0)
		return 0;
	if (gp_interner_number(&r->im->domains, &id, sizeof(id), &is_new) == 0)
		return -ENOMEM;
	snprintf(name, sizeof(name), "domain %u", id);
	return is_new ? gp_import_string(r->im, GP_STRING_DOMAIN, id, 0, name, strlen(name)) : 0;
}

/* The message in the row, or in the string table. */
static const char *message_of(struct gp_nsys_reading *r, const struct gp_row *row, size_t *bytes)
{
	return gp_row_has(row, GP_NSYS_text) ? gp_row_text(row, GP_NSYS_text, bytes)
					     : gp_nsys_text(r, row, GP_NSYS_textId, bytes);
}

static int name_domain(struct gp_nsys_reading *r, const struct gp_row *row)
{
	uint32_t id = gp_row_number(row, GP_NSYS_domainId, 0);
	size_t bytes;
	const char *name = message_of(r, row, &bytes);
	bool is_new;

	if (id == 0)
		return 0;
	if (gp_interner_number(&r->im->domains, &id, sizeof(id), &is_new) == 0)
		return -ENOMEM;
	return gp_import_string(r->im, GP_STRING_DOMAIN, id, 0, name, bytes);
}

static int name_category(struct gp_nsys_reading *r, const struct gp_row *row)
{
	uint32_t domain = gp_row_number(row, GP_NSYS_domainId, 0);
	size_t bytes;
	const char *name = message_of(r, row, &bytes);
	int result = use_domain(r, domain);

	if (result != 0 || !gp_row_has(row, GP_NSYS_category))
		return result;
	return gp_import_string(r->im, GP_STRING_CATEGORY, gp_row_number(row, GP_NSYS_category, 0),
				domain, name, bytes);
}

static int add_range(struct gp_nsys_reading *r, const struct gp_row *row, uint8_t style)
{
	size_t bytes;
	const char *text = message_of(r, row, &bytes);
	bool has_end = style != GP_STYLE_MARK && gp_row_has(row, GP_NSYS_end) &&
		       gp_row_whole(row, GP_NSYS_end) >= gp_row_whole(row, GP_NSYS_start);
	struct gp_import_span span = {
		.start_ns = gp_nsys_time(row, GP_NSYS_start),
		.thread_id = thread_of(row, GP_NSYS_globalTid),
		.end_thread_id = gp_row_has(row, GP_NSYS_endGlobalTid)
					 ? thread_of(row, GP_NSYS_endGlobalTid)
					 : thread_of(row, GP_NSYS_globalTid),
		.category = gp_row_number(row, GP_NSYS_category, 0),
		.domain = gp_row_number(row, GP_NSYS_domainId, 0),
		.color_argb = gp_row_number(row, GP_NSYS_color, 0),
		.style = style,
	};
	int result;

	if (span.start_ns == 0)
		return 0;
	result = use_domain(r, span.domain);
	span.end_ns = has_end ? gp_nsys_time(row, GP_NSYS_end) : GP_IMPORT_OPEN;
	if (bytes > 0)
		span.text = gp_import_message(r->im, text, bytes);
	if (result != 0 || (bytes > 0 && span.text == 0))
		return -ENOMEM;
	gp_import_note_time(r->im, span.start_ns, has_end ? span.end_ns : span.start_ns);
	return gp_import_span(&r->im->ranges, &span);
}

static int take_nvtx(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;

	if (!gp_nsys_is_of_process(r, row))
		return 0;
	switch (gp_row_whole(row, GP_NSYS_eventType)) {
	case GP_NSYS_NVTX_CATEGORY:
		return name_category(r, row);
	case GP_NSYS_NVTX_DOMAIN:
		return name_domain(r, row);
	case GP_NSYS_NVTX_MARK:
		return add_range(r, row, GP_STYLE_MARK);
	case GP_NSYS_NVTX_PUSH_POP:
		return add_range(r, row, GP_STYLE_PUSH_POP);
	case GP_NSYS_NVTX_START_END:
		return add_range(r, row, GP_STYLE_START_END);
	default:
		return 0;
	}
}

static int name_thread(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	size_t bytes;
	const char *name = gp_nsys_text(r, row, GP_NSYS_nameId, &bytes);

	if (!gp_nsys_is_of_process(r, row) || bytes == 0)
		return 0;
	return gp_import_string(r->im, GP_STRING_THREAD, thread_of(row, GP_NSYS_globalTid), 0, name,
				bytes);
}

int gp_nsys_take_host(struct gp_nsys_reading *r)
{
	int result = gp_database_each(r->database, "CUDA_GPU_MEMORY_USAGE_EVENTS", take_memory, r);

	if (result == 0)
		result = gp_array_sort(r->memory, r->memory_count, sizeof(*r->memory),
				       compare_memory, NULL);
	if (result == 0)
		result = gp_database_each(r->database, "CUPTI_ACTIVITY_KIND_RUNTIME", take_call, r);
	if (result == 0)
		result = gp_database_each(r->database, "NVTX_EVENTS", take_nvtx, r);
	if (result == 0)
		result = gp_database_each(r->database, "ThreadNames", name_thread, r);
	return result;
}
