#include "inject/nvtx_schema.h"

#include <stdalign.h>
#include <stddef.h>
#include <uchar.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/sys.h"
#include "collector/text.h"

#define TEXT_BYTES       8192u
#define MOST_ENTRIES     256u /* more than fit in a text */
#define MOST_NAME_BYTES  128u
#define ENUMERATION      0u /* in place of a schema's type */
#define ARRAY_FLAGS      (7u << 4)
#define ARRAY_FIXED_SIZE NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE

static struct gp_schema schemas[GP_SCHEMAS];
static uint32_t schema_count; /* may exceed the limit */
static struct gp_text_table texts = {.wanted_bytes = 1u << 20};

/* ---- offsets of entries ---- */

struct extent {
	uint64_t size; /* 0 = unknown */
	uint64_t align;
};

#define OF(type)                                                                                   \
	{                                                                                          \
		sizeof(type), alignof(type)                                                        \
	}

/* By the type of an entry. */
static const struct extent extents[] = {
	[NVTX_PAYLOAD_ENTRY_TYPE_CHAR] = OF(char),
	[NVTX_PAYLOAD_ENTRY_TYPE_UCHAR] = OF(unsigned char),
	[NVTX_PAYLOAD_ENTRY_TYPE_SHORT] = OF(short),
	[NVTX_PAYLOAD_ENTRY_TYPE_USHORT] = OF(unsigned short),
	[NVTX_PAYLOAD_ENTRY_TYPE_INT] = OF(int),
	[NVTX_PAYLOAD_ENTRY_TYPE_UINT] = OF(unsigned),
	[NVTX_PAYLOAD_ENTRY_TYPE_LONG] = OF(long),
	[NVTX_PAYLOAD_ENTRY_TYPE_ULONG] = OF(unsigned long),
	[NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG] = OF(long long),
	[NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG] = OF(unsigned long long),
	[NVTX_PAYLOAD_ENTRY_TYPE_INT8] = OF(int8_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_UINT8] = OF(uint8_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_INT16] = OF(int16_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_UINT16] = OF(uint16_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_INT32] = OF(int32_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_UINT32] = OF(uint32_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_INT64] = OF(int64_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_UINT64] = OF(uint64_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_FLOAT] = OF(float),
	[NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE] = OF(double),
	[NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE] = OF(long double),
	[NVTX_PAYLOAD_ENTRY_TYPE_SIZE] = OF(size_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS] = OF(void *),
	[NVTX_PAYLOAD_ENTRY_TYPE_WCHAR] = OF(wchar_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_CHAR8] = OF(char),
	[NVTX_PAYLOAD_ENTRY_TYPE_CHAR16] = OF(char16_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_CHAR32] = OF(char32_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_BYTE] = {1, 1},
	[NVTX_PAYLOAD_ENTRY_TYPE_INT128] = {16, 16},
	[NVTX_PAYLOAD_ENTRY_TYPE_UINT128] = {16, 16},
	[NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16] = {2, 2},
	[NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32] = {4, 4},
	[NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64] = {8, 8},
	[NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128] = {16, 16},
	[NVTX_PAYLOAD_ENTRY_TYPE_BF16] = {2, 2},
	[NVTX_PAYLOAD_ENTRY_TYPE_TF32] = {4, 4},
	[NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY] = OF(uint32_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB] = OF(uint32_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID] = OF(uint64_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32] = OF(uint32_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64] = OF(uint64_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32] = OF(uint32_t),
	[NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64] = OF(uint64_t),
	/* size of one character */
	[NVTX_PAYLOAD_ENTRY_TYPE_CSTRING] = {1, 1},
	[NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8] = {1, 1},
	[NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16] = {2, 2},
	[NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32] = {4, 4},
	[NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE] = OF(void *),
};

static bool is_string(uint64_t type)
{
	return type >= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING &&
	       type <= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32;
}

/* A string without a length is an address. */
static bool is_pointer(const nvtxPayloadSchemaEntry_t *entry)
{
	return (entry->flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) != 0 ||
	       (is_string(entry->type) && (entry->flags & ARRAY_FLAGS) == 0 &&
		entry->arrayOrUnionDetail == 0);
}

static struct extent extent_of_one(struct gp_known_text *domain, uint64_t type)
{
	const struct gp_schema *schema;

	if (type < sizeof(extents) / sizeof(extents[0]))
		return extents[type];
	schema = gp_schema_find(domain, type);
	/*
	 * the alignment of a nested schema is unspecified; a size that is a multiple of 8 suggests
	 * 8
	 */
	if (schema == NULL || schema->size_bytes == 0)
		return (struct extent){0, 1};
	return (struct extent){schema->size_bytes, schema->size_bytes % 8 == 0   ? 8
						   : schema->size_bytes % 4 == 0 ? 4
										 : 1};
}

static struct extent extent_of(struct gp_known_text *domain, const nvtxPayloadSchemaEntry_t *entry)
{
	struct extent extent;
	uint64_t kind = entry->flags & ARRAY_FLAGS;

	if (is_pointer(entry))
		return (struct extent)OF(void *);
	extent = extent_of_one(domain, entry->type);
	if (kind == ARRAY_FIXED_SIZE || (kind == 0 && is_string(entry->type)))
		extent.size = entry->arrayOrUnionDetail < UINT32_MAX
				      ? extent.size * entry->arrayOrUnionDetail
				      : 0;
	else if (kind != 0)
		extent.size = 0;
	return extent;
}

/* The position within the entries of a schema. */
struct place {
	uint64_t end;   /* end of the previous entry */
	uint64_t align; /* the largest so far */
	uint64_t pack;  /* 0 = not packed */
	bool is_known;  /* the size of every entry so far is known */
};

/* Offset of the next entry: given, or by the layout rules of structs. */
static uint64_t step(struct place *place, struct gp_known_text *domain,
		     const nvtxPayloadSchemaEntry_t *entry)
{
	struct extent extent = extent_of(domain, entry);
	uint64_t offset = entry->offset;

	if (place->pack != 0 && extent.align > place->pack)
		extent.align = place->pack;
	if (extent.align == 0)
		extent.align = 1;
	if (offset == 0 && place->is_known)
		offset = (place->end + extent.align - 1) / extent.align * extent.align;
	if (extent.align > place->align)
		place->align = extent.align;
	place->is_known = (place->is_known || entry->offset != 0) && extent.size != 0;
	place->end = offset + extent.size;
	return offset;
}

/* ---- the definition ---- */

static void add_name(struct gp_text *text, const char *name)
{
	for (uint32_t i = 0; name != NULL && i < MOST_NAME_BYTES && name[i] != '\0'; i++)
		gp_text_add_bytes(text, (unsigned char)name[i] < ' ' ? " " : &name[i], 1);
	gp_text_add(text, "\n");
}

static void add_number(struct gp_text *text, uint64_t number)
{
	gp_text_add_decimal(text, number);
	gp_text_add(text, "\t");
}

static void add_head(struct gp_text *text, uint64_t type, uint64_t size, const char *name)
{
	add_number(text, type);
	add_number(text, size);
	add_name(text, name);
}

static void add_line(struct gp_text *text, const uint64_t numbers[4], const char *name)
{
	size_t before = text->length;

	for (int i = 0; i < 4; i++)
		add_number(text, numbers[i]);
	add_name(text, name);
	if (text->cut) /* whole lines only */
		text->length = before;
}

/* An unknown schema has no id. */
static uint64_t type_in_trace(struct gp_known_text *domain, uint64_t type)
{
	const struct gp_schema *schema;

	if (type < NVTX_PAYLOAD_SCHEMA_ID_STATIC_START)
		return type;
	schema = gp_schema_find(domain, type);
	return schema != NULL ? GP_SCHEMA_TYPE_FIRST + (uint64_t)schema->text->id : 0;
}

static void note_pointer(struct gp_schema *schema, const nvtxPayloadSchemaEntry_t *entry,
			 uint64_t offset)
{
	bool is_registered = entry->type == NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE;
	bool is_narrow = entry->type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING ||
			 entry->type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;

	if ((!is_registered && !(is_narrow && is_pointer(entry))) ||
	    (entry->flags & ARRAY_FLAGS) != 0 || offset >= UINT32_MAX ||
	    schema->pointer_count == GP_SCHEMA_POINTERS)
		return;
	/* entries may overlap: each address is replaced once */
	for (uint32_t i = 0; i < schema->pointer_count; i++)
		if (schema->pointers[i].offset_bytes == offset)
			return;
	schema->pointers[schema->pointer_count++] = (struct gp_schema_pointer){
		.offset_bytes = (uint32_t)offset,
		.is_registered = is_registered,
		.is_message = (entry->flags & NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE) != 0,
	};
}

static void read_entries(struct gp_schema *schema, const nvtxPayloadSchemaAttr_t *attributes,
			 struct place *place, struct gp_text *text)
{
	for (size_t i = 0; i < attributes->numEntries && i < MOST_ENTRIES && !text->cut; i++) {
		const nvtxPayloadSchemaEntry_t *entry = &attributes->entries[i];
		bool was_known = place->is_known || entry->offset != 0;
		uint64_t offset = step(place, schema->domain, entry);

		add_line(text,
			 (const uint64_t[4]){entry->flags,
					     type_in_trace(schema->domain, entry->type), offset,
					     entry->arrayOrUnionDetail},
			 entry->name);
		if (was_known)
			note_pointer(schema, entry, offset);
	}
}

static struct gp_known_text *keep_text(const struct gp_text *text)
{
	struct gp_text_key key = {GP_STRING_SCHEMA, 0, text->start, (uint32_t)text->length};

	if (text->cut)
		gp_count(GP_COUNTER_CUT_STRINGS, 1);
	return gp_text_table_add(&texts, &key);
}

/* ---- registering ---- */

static uint32_t count_schemas(void)
{
	uint32_t count = gp_load32_acquire(&schema_count);

	return count < GP_SCHEMAS ? count : GP_SCHEMAS;
}

/* The newest counts: libraries register the same id again with the same meaning. */
const struct gp_schema *gp_schema_find(struct gp_known_text *domain, uint64_t given_id)
{
	for (uint32_t i = count_schemas(); i-- > 0;)
		if (gp_load32_acquire(&schemas[i].is_there) && schemas[i].given_id == given_id &&
		    schemas[i].domain == domain)
			return &schemas[i];
	return NULL;
}

/* Ids chosen by the program have their own range; others get one of ours. */
static uint64_t publish(struct gp_schema *schema)
{
	const struct gp_schema *other = gp_schema_find(schema->domain, schema->given_id);
	uint32_t index;

	if (schema->text == NULL)
		return 0;
	if (other != NULL && other->text == schema->text)
		return other->given_id;
	index = count_schemas() < GP_SCHEMAS ? gp_add32(&schema_count, 1) : GP_SCHEMAS;
	if (index >= GP_SCHEMAS)
		return 0;
	if (schema->given_id < NVTX_PAYLOAD_SCHEMA_ID_STATIC_START)
		schema->given_id = NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + index;
	schemas[index] = *schema;
	gp_store32_release(&schemas[index].is_there, 1);
	return schema->given_id;
}

static uint64_t stated_size(const nvtxPayloadSchemaAttr_t *attributes)
{
	return (attributes->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE) != 0
		       ? attributes->payloadStaticSize
		       : 0;
}

static uint64_t static_size(const nvtxPayloadSchemaAttr_t *attributes, uint64_t type,
			    const struct place *place)
{
	uint64_t size = stated_size(attributes);

	if (type != NVTX_PAYLOAD_SCHEMA_TYPE_STATIC)
		return 0;
	if (size == 0 && place->is_known)
		size = (place->end + place->align - 1) / place->align * place->align;
	return size < UINT32_MAX ? size : 0;
}

/* Memory to build a definition: not on the program's stack, which may be small. */
struct draft {
	char text[TEXT_BYTES];
	char body[TEXT_BYTES - MOST_NAME_BYTES - 64];
};

static bool has_fields(uint64_t mask, uint64_t fields)
{
	return (mask & fields) == fields;
}

/* All but the first line of the text is written before the size is known. */
static uint64_t register_schema(struct draft *draft, struct gp_known_text *domain,
				const nvtxPayloadSchemaAttr_t *attributes)
{
	struct gp_text text = gp_text_in(draft->text, sizeof(draft->text));
	struct gp_text body = gp_text_in(draft->body, sizeof(draft->body));
	struct gp_schema schema = {.domain = domain};
	struct place place = {.align = 1, .is_known = true};
	uint64_t mask = attributes->fieldMask;

	if (has_fields(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID))
		schema.given_id = attributes->schemaId;
	if (has_fields(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT))
		place.pack = attributes->packAlign;
	read_entries(&schema, attributes, &place, &body);
	if (attributes->type != NVTX_PAYLOAD_SCHEMA_TYPE_STATIC)
		schema.pointer_count = 0; /* the offset of an entry depends on the previous ones */
	schema.size_bytes = (uint32_t)static_size(attributes, attributes->type, &place);
	add_head(&text, attributes->type, schema.size_bytes,
		 has_fields(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) ? attributes->name : NULL);
	gp_text_add_bytes(&text, body.start, body.length);
	text.cut |= body.cut;
	schema.text = keep_text(&text);
	return publish(&schema);
}

static uint64_t register_enum(struct draft *draft, struct gp_known_text *domain,
			      const nvtxPayloadEnumAttr_t *attributes)
{
	struct gp_text text = gp_text_in(draft->text, sizeof(draft->text));
	struct gp_schema schema = {.domain = domain, .size_bytes = sizeof(int)};
	uint64_t mask = attributes->fieldMask;

	if (has_fields(mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE) && attributes->sizeOfEnum <= 8)
		schema.size_bytes = (uint32_t)attributes->sizeOfEnum;
	if (has_fields(mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID))
		schema.given_id = attributes->schemaId;
	add_head(&text, ENUMERATION, schema.size_bytes,
		 has_fields(mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME) ? attributes->name : NULL);
	for (size_t i = 0; i < attributes->numEntries && i < MOST_ENTRIES && !text.cut; i++)
		add_line(&text,
			 (const uint64_t[4]){attributes->entries[i].isFlag != 0,
					     attributes->entries[i].value},
			 attributes->entries[i].name);
	schema.text = keep_text(&text);
	return publish(&schema);
}

uint64_t gp_schema_register(struct gp_known_text *domain, const nvtxPayloadSchemaAttr_t *attributes)
{
	const uint64_t needed = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
				NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
				NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
	void *draft;
	uint64_t id;

	if (attributes == NULL || !has_fields(attributes->fieldMask, needed) ||
	    attributes->entries == NULL || gp_sys_map(-1, 0, sizeof(struct draft), &draft) != 0)
		return 0;
	id = register_schema(draft, domain, attributes);
	gp_sys_unmap(draft, sizeof(struct draft));
	return id;
}

uint64_t gp_schema_register_enum(struct gp_known_text *domain,
				 const nvtxPayloadEnumAttr_t *attributes)
{
	const uint64_t needed =
		NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES;
	void *draft;
	uint64_t id;

	if (attributes == NULL || !has_fields(attributes->fieldMask, needed) ||
	    attributes->entries == NULL || gp_sys_map(-1, 0, sizeof(struct draft), &draft) != 0)
		return 0;
	id = register_enum(draft, domain, attributes);
	gp_sys_unmap(draft, sizeof(struct draft));
	return id;
}

/* ---- emitting ---- */

uint32_t gp_schema_emit(const struct gp_schema *schema)
{
	uint32_t recording = gp_collector_recording();

	if (recording != 0 && gp_load32_acquire(&schema->text->recording) != recording)
		for (uint32_t i = 0; i < count_schemas(); i++)
			if (gp_load32_acquire(&schemas[i].is_there))
				gp_text_table_define(schemas[i].text);
	return gp_text_table_define(schema->text);
}
