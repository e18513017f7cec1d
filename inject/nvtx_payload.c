#include "inject/nvtx_payload.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "collector/collector.h"
#include "collector/sys.h"
#include "inject/nvtx_schema.h"
#include "inject/ranges.h"

/* NVTX's headers look up this name. */
__attribute__((visibility("default"))) int
InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *module);

#define STRING_BYTES                                                                               \
	1024u /* for a string that a payload points to; longer ones are truncated and counted */
#define PAGE_BYTES        4096u
#define OLDEST_COMPATIBLE 0x0103 /* earlier versions have other structs */

static struct gp_text_table payloads = {.wanted_bytes = 1u << 20};

/* ---- a payload's bytes ---- */

struct copy {
	char bytes[GP_PAYLOAD_BYTES];
	uint32_t length;
};

/* If no size is given, the schema's size counts. */
static bool copy_bytes(struct copy *copy, const nvtxPayloadData_t *data,
		       const struct gp_schema *schema)
{
	uint64_t static_size = schema != NULL ? schema->size_bytes : 0;
	uint64_t size = data->size != SIZE_MAX ? data->size : static_size;

	if (static_size != 0 && size > static_size)
		size = static_size;
	if (data->payload == NULL || size == 0)
		return false;
	if (size > GP_PAYLOAD_BYTES) {
		size = GP_PAYLOAD_BYTES;
		gp_count(GP_COUNTER_CUT_PAYLOADS, 1);
	}
	memcpy(copy->bytes, data->payload, size);
	copy->length = (uint32_t)size;
	return true;
}

static bool can_read(uint64_t address)
{
	return address >= PAGE_BYTES && gp_sys_can_read(address & ~7ull);
}

/*
 * A string of the program whose address is in a payload.  Payloads may not match their schema: an
 * invalid address must not crash the program.
 */
static struct gp_message read_string(uint64_t address, char buffer[STRING_BYTES])
{
	uint32_t length = 0;

	while (length < STRING_BYTES && can_read(address + length)) {
		const char *at = (const char *)(uintptr_t)(address + length);
		size_t step = PAGE_BYTES - (address + length) % PAGE_BYTES;
		size_t part;

		if (step > STRING_BYTES - length)
			step = STRING_BYTES - length;
		part = strnlen(at, step);
		memcpy(buffer + length, at, part);
		length += (uint32_t)part;
		if (part < step) {
			buffer[length] = '\0';
			return gp_message_narrow(buffer);
		}
	}
	if (length == 0)
		return (struct gp_message){.bytes = NULL};
	gp_count(GP_COUNTER_CUT_STRINGS, 1);
	buffer[length < STRING_BYTES ? length : STRING_BYTES - 1] = '\0';
	return gp_message_narrow(buffer);
}

/* The string of an entry; none if the entry lies beyond the payload. */
static struct gp_message string_at(const struct gp_schema_pointer *pointer, const char *bytes,
				   uint64_t length, char buffer[STRING_BYTES])
{
	struct gp_message message;
	uint64_t value;

	if (pointer->offset_bytes + sizeof(value) > length)
		return (struct gp_message){.bytes = NULL};
	memcpy(&value, bytes + pointer->offset_bytes, sizeof(value));
	if (pointer->is_registered)
		return gp_message_registered(value);
	message = read_string(value, buffer);
	if (message.bytes == NULL && value != 0)
		gp_count(GP_COUNTER_TEXTS_UNKNOWN, 1);
	return message;
}

/* Addresses mean nothing in a trace: the ids of the strings replace them. */
static void replace_strings(struct copy *copy, const struct gp_schema *schema)
{
	char buffer[STRING_BYTES];

	for (uint32_t i = 0; i < schema->pointer_count; i++) {
		const struct gp_schema_pointer *pointer = &schema->pointers[i];
		struct gp_message string = string_at(pointer, copy->bytes, copy->length, buffer);
		uint64_t id = gp_ranges_text_id(&string);

		if (pointer->offset_bytes + sizeof(id) <= copy->length)
			memcpy(copy->bytes + pointer->offset_bytes, &id, sizeof(id));
	}
}

static uint32_t payload_id(const nvtxPayloadData_t *data, const struct gp_schema *schema)
{
	struct gp_text_key key = {.space = GP_STRING_PAYLOAD};
	struct copy copy;

	if (!copy_bytes(&copy, data, schema))
		return 0;
	if (schema != NULL) {
		replace_strings(&copy, schema);
		key.value = gp_schema_emit(schema);
	}
	key.bytes = copy.bytes;
	key.length_bytes = copy.length;
	return gp_text_table_id(&payloads, &key);
}

/* The first displayable one of several; the others are counted. */
static uint32_t first_payload_id(struct gp_known_text *domain, const nvtxPayloadData_t *data,
				 size_t count)
{
	uint32_t id = 0;

	if (data == NULL)
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (data[i].schemaId == NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED)
			continue;
		if (id == 0)
			id = payload_id(&data[i], gp_schema_find(domain, data[i].schemaId));
		else
			gp_count(GP_COUNTER_CUT_PAYLOADS, 1);
	}
	return id;
}

uint32_t gp_payload_of_event(struct gp_known_text *domain, const nvtxEventAttributes_t *event)
{
	const nvtxPayloadData_t *data =
		(const nvtxPayloadData_t *)(uintptr_t)event->payload.ullValue;

	if (event->reserved0 <= 0 || !gp_ranges_wanted())
		return 0;
	return first_payload_id(domain, data, (size_t)event->reserved0);
}

/* ---- events that consist of payloads ---- */

/* The message is an entry of one of the payloads. */
static struct gp_message message_in(struct gp_known_text *domain, const nvtxPayloadData_t *data,
				    size_t count, char buffer[STRING_BYTES])
{
	for (size_t i = 0; data != NULL && i < count; i++) {
		const struct gp_schema *schema = gp_schema_find(domain, data[i].schemaId);
		uint64_t length = data[i].size;

		if (schema == NULL || data[i].payload == NULL)
			continue;
		if (length > schema->size_bytes) /* also if no length is given */
			length = schema->size_bytes;
		for (uint32_t p = 0; p < schema->pointer_count; p++)
			if (schema->pointers[p].is_message)
				return string_at(&schema->pointers[p], data[i].payload, length,
						 buffer);
	}
	return (struct gp_message){.bytes = NULL};
}

static struct gp_range_details details_of(struct gp_known_text *domain,
					  const nvtxPayloadData_t *data, size_t count)
{
	return (struct gp_range_details){
		.payload_id = gp_ranges_wanted() ? first_payload_id(domain, data, count) : 0};
}

static void mark_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t count)
{
	struct gp_known_text *of = gp_message_domain(domain);
	char buffer[STRING_BYTES];
	struct gp_message message = message_in(of, data, count, buffer);
	struct gp_range_details details = details_of(of, data, count);

	gp_ranges_mark(of, &message, &details);
}

static int push_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t count)
{
	struct gp_known_text *of = gp_message_domain(domain);
	char buffer[STRING_BYTES];
	struct gp_message message = message_in(of, data, count, buffer);
	struct gp_range_details details = details_of(of, data, count);

	return gp_ranges_push(of, &message, &details);
}

static nvtxRangeId_t start_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data,
				   size_t count)
{
	struct gp_known_text *of = gp_message_domain(domain);
	char buffer[STRING_BYTES];
	struct gp_message message = message_in(of, data, count, buffer);
	struct gp_range_details details = details_of(of, data, count);

	return gp_ranges_start(of, &message, &details);
}

static int pop_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t count)
{
	struct gp_known_text *of = gp_message_domain(domain);

	return gp_ranges_pop(of, gp_ranges_records_pop(of) ? first_payload_id(of, data, count) : 0);
}

static void end_payload(nvtxDomainHandle_t domain, nvtxRangeId_t id, const nvtxPayloadData_t *data,
			size_t count)
{
	struct gp_known_text *of = gp_message_domain(domain);

	gp_ranges_end(of, id, gp_ranges_records_end(id) ? first_payload_id(of, data, count) : 0);
}

/* ---- the functions of the extension ---- */

static uint64_t register_schema(nvtxDomainHandle_t domain,
				const nvtxPayloadSchemaAttr_t *attributes)
{
	return gp_schema_register(gp_message_domain(domain), attributes);
}

static uint64_t register_enum(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t *attributes)
{
	return gp_schema_register_enum(gp_message_domain(domain), attributes);
}

/* Without it, some versions of the headers treat every domain as disabled. */
static uint8_t domain_is_enabled(nvtxDomainHandle_t domain)
{
	(void)domain;
	return 1;
}

static int64_t timestamp(void)
{
	return (int64_t)gp_clock_ticks();
}

static const struct {
	size_t slot;
	void (*function)(void);
} functions[] = {
	{NVTX3EXT_CBID_nvtxPayloadSchemaRegister, (void (*)(void))register_schema},
	{NVTX3EXT_CBID_nvtxPayloadEnumRegister, (void (*)(void))register_enum},
	{NVTX3EXT_CBID_nvtxMarkPayload, (void (*)(void))mark_payload},
	{NVTX3EXT_CBID_nvtxRangePushPayload, (void (*)(void))push_payload},
	{NVTX3EXT_CBID_nvtxRangePopPayload, (void (*)(void))pop_payload},
	{NVTX3EXT_CBID_nvtxRangeStartPayload, (void (*)(void))start_payload},
	{NVTX3EXT_CBID_nvtxRangeEndPayload, (void (*)(void))end_payload},
	{NVTX3EXT_CBID_nvtxDomainIsEnabled, (void (*)(void))domain_is_enabled},
	{NVTX3EXT_CBID_nvtxTimestampGet, (void (*)(void))timestamp},
};

/*
 * Some versions of the headers have fewer functions.  All functions of other extensions become
 * no-ops.
 */
int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *module)
{
	const nvtxExtModuleSegment_t *segment;

	if (!gp_ranges_are_enabled())
		return 0;
	if (module == NULL || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID ||
	    module->compatId < OLDEST_COMPATIBLE || module->segmentsCount == 0)
		return 1;
	segment = &module->segments[0];
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (functions[i].slot < segment->slotCount)
			segment->functionSlots[functions[i].slot] = (intptr_t)functions[i].function;
	return 1;
}
