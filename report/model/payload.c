#include "report/model/payload.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"

/* NVTX's flags of an entry. */
#define FLAGS_ELSEWHERE     0x00eu /* a pointer or an offset: the value is not here */
#define FLAGS_HIDE          0x200u
#define ARRAY_OF(flags)     ((flags) >> 4 & 7u)
#define ARRAY_FIXED         1u
#define ARRAY_TO_ZERO       2u
#define ARRAY_LENGTH_IN     3u /* detail: number of the entry that has the length */
#define MOST_DEPTH          4
#define MOST_TEXT_BYTES     255u
#define MOST_LENGTH_ENTRIES 64u
#define MOST_ENTRIES        1024u /* of all schemas on the way through one payload */
#define MOST_LETTERS        120   /* of the name of a value of an enumeration */
#define SCHEMA_ENUM         0u
#define SCHEMA_STATIC       1u
#define SCHEMA_DYNAMIC      2u

enum form {
	FORM_UNKNOWN,
	FORM_UNSIGNED,
	FORM_SIGNED,
	FORM_FLOATING,
	FORM_CHARACTER,
	FORM_STRING, /* an address, replaced by the id of its text */
};

/* NVTX's numbers of types, on a machine with 64 bits. */
static const struct {
	uint8_t bytes, form;
} types[] = {
	[1] = {1, FORM_CHARACTER},  [2] = {1, FORM_UNSIGNED},  [3] = {2, FORM_SIGNED},
	[4] = {2, FORM_UNSIGNED},   [5] = {4, FORM_SIGNED},    [6] = {4, FORM_UNSIGNED},
	[7] = {8, FORM_SIGNED},     [8] = {8, FORM_UNSIGNED},  [9] = {8, FORM_SIGNED},
	[10] = {8, FORM_UNSIGNED},  [11] = {1, FORM_SIGNED},   [12] = {1, FORM_UNSIGNED},
	[13] = {2, FORM_SIGNED},    [14] = {2, FORM_UNSIGNED}, [15] = {4, FORM_SIGNED},
	[16] = {4, FORM_UNSIGNED},  [17] = {8, FORM_SIGNED},   [18] = {8, FORM_UNSIGNED},
	[19] = {4, FORM_FLOATING},  [20] = {8, FORM_FLOATING}, [21] = {16, FORM_UNKNOWN},
	[22] = {8, FORM_UNSIGNED},  [23] = {8, FORM_UNSIGNED}, [24] = {4, FORM_UNSIGNED},
	[25] = {1, FORM_CHARACTER}, [26] = {2, FORM_UNSIGNED}, [27] = {4, FORM_UNSIGNED},
	[32] = {1, FORM_UNSIGNED},  [33] = {16, FORM_UNKNOWN}, [34] = {16, FORM_UNKNOWN},
	[42] = {2, FORM_UNKNOWN},   [43] = {4, FORM_FLOATING}, [44] = {8, FORM_FLOATING},
	[45] = {16, FORM_UNKNOWN},  [50] = {2, FORM_UNKNOWN},  [52] = {4, FORM_UNKNOWN},
	[68] = {4, FORM_UNSIGNED},  [69] = {4, FORM_UNSIGNED}, [70] = {8, FORM_UNSIGNED},
	[71] = {4, FORM_UNSIGNED},  [72] = {8, FORM_UNSIGNED}, [73] = {4, FORM_UNSIGNED},
	[74] = {8, FORM_UNSIGNED},  [75] = {8, FORM_STRING},   [76] = {8, FORM_STRING},
	[77] = {8, FORM_STRING},    [78] = {8, FORM_STRING},   [80] = {8, FORM_STRING},
};

enum { TYPE_UINT8 = 12, TYPE_UINT16 = 14, TYPE_UINT32 = 16, TYPE_UINT64 = 18 };

/* A line of a schema. */
struct entry {
	uint64_t flags, type, offset, detail;
	const char *name;
	int name_length;
};

struct decoding {
	const struct gp_model *model;
	void (*sink)(void *context, const struct gp_payload_field *field);
	void *context;
	uint32_t fields, entries;
};

/* The bytes that a schema is about. */
struct place {
	const uint8_t *bytes;
	uint64_t length;
	const char *prefix; /* of its fields' names */
	int depth;
};

static uint64_t bytes_of(uint64_t type)
{
	return type < COUNT(types) ? types[type].bytes : 0;
}

static uint8_t form_of(uint64_t type)
{
	return type < COUNT(types) ? types[type].form : FORM_UNKNOWN;
}

double gp_payload_floating(uint64_t value)
{
	double number;

	memcpy(&number, &value, sizeof(number));
	return number;
}

/* ---- the text of a schema ---- */

/* A number and the tab after it; false: there is none. */
static bool take_number(const char **at, uint64_t *number)
{
	char *end;

	*number = strtoull(*at, &end, 10);
	if (end == *at || *end != '\t')
		return false;
	*at = end + 1;
	return true;
}

static const char *next_line(const char *at)
{
	const char *end = strchr(at, '\n');

	return end ? end + 1 : at + strlen(at);
}

/* The next entry; false at the end, or where the text is none. */
static bool take_entry(const char **at, struct entry *entry)
{
	const char *text = *at;

	if (!take_number(&text, &entry->flags) || !take_number(&text, &entry->type) ||
	    !take_number(&text, &entry->offset) || !take_number(&text, &entry->detail))
		return false;
	entry->name = text;
	entry->name_length = (int)strcspn(text, "\n");
	*at = next_line(text);
	return true;
}

/* ---- values ---- */

static uint64_t number_at(const uint8_t *bytes, uint64_t type)
{
	uint64_t value = 0, count = bytes_of(type);
	double floating;
	float narrow;

	memcpy(&value, bytes, count);
	if (form_of(type) == FORM_FLOATING && count == sizeof(narrow)) {
		memcpy(&narrow, bytes, sizeof(narrow));
		floating = (double)narrow;
		memcpy(&value, &floating, sizeof(value));
	} else if (form_of(type) == FORM_SIGNED && count < sizeof(value)) {
		unsigned unused = 64u - 8u * (unsigned)count;

		value = (uint64_t)((int64_t)(value << unused) >> unused);
	}
	return value;
}

static void put(struct decoding *d, const struct gp_payload_field *field)
{
	if (d->fields >= GP_PAYLOAD_MOST_FIELDS)
		return;
	d->fields++;
	d->sink(d->context, field);
}

static void put_number(struct decoding *d, const char *name, const uint8_t *bytes, uint64_t type)
{
	static const uint8_t kinds[] = {
		[FORM_UNSIGNED] = GP_PAYLOAD_UNSIGNED,
		[FORM_SIGNED] = GP_PAYLOAD_SIGNED,
		[FORM_FLOATING] = GP_PAYLOAD_FLOATING,
		[FORM_CHARACTER] = GP_PAYLOAD_UNSIGNED,
	};

	put(d, &(struct gp_payload_field){.name = name,
					  .kind = kinds[form_of(type)],
					  .value = number_at(bytes, type)});
}

/* Where no text was recorded the field is left out. */
static void put_string(struct decoding *d, const char *name, const uint8_t *bytes)
{
	uint64_t id = number_at(bytes, TYPE_UINT64);
	const struct gp_text *text =
		id != 0 && id <= UINT32_MAX
			? gp_model_text(d->model, GP_STRING_RANGE, 0, (uint32_t)id)
			: NULL;

	if (text)
		put(d, &(struct gp_payload_field){.name = name, .text = text->bytes});
}

static void put_text(struct decoding *d, const char *name, const uint8_t *bytes, uint64_t length)
{
	char text[MOST_TEXT_BYTES + 1];

	length = length < MOST_TEXT_BYTES ? length : MOST_TEXT_BYTES;
	memcpy(text, bytes, length);
	text[length] = '\0';
	put(d, &(struct gp_payload_field){.name = name, .text = text});
}

/*
 * The names of a value of an enumeration whose entries begin at `at`: the one that has the value,
 * else those of its bits. An entry's flags say that it is bits, its type is the value. False: no
 * name.
 */
static bool name_value(struct decoding *d, const char *at, uint64_t value, uint64_t mask,
		       char names[MOST_LETTERS])
{
	struct entry entry;
	int used = 0;

	names[0] = '\0';
	for (; d->entries < MOST_ENTRIES && take_entry(&at, &entry); d->entries++) {
		int length = entry.name_length < 60 ? entry.name_length : 60;
		uint64_t wanted = entry.type & mask;

		if (wanted == value) {
			snprintf(names, MOST_LETTERS, "%.*s", length, entry.name);
			return true;
		}
		if (entry.flags == 1 && wanted != 0 && (value & wanted) == wanted &&
		    used < MOST_LETTERS - 64)
			used += snprintf(names + used, MOST_LETTERS - (size_t)used, "%s%.*s",
					 used > 0 ? "|" : "", length, entry.name);
	}
	return used > 0;
}

/* at: the entries of its schema. */
static void put_enum(struct decoding *d, const struct place *place, uint64_t size, const char *at)
{
	static const uint8_t types_by_size[] = {
		[1] = TYPE_UINT8, [2] = TYPE_UINT16, [4] = TYPE_UINT32, [8] = TYPE_UINT64};
	uint64_t type = size < COUNT(types_by_size) ? types_by_size[size] : 0;
	char names[MOST_LETTERS];
	uint64_t value;

	if (type == 0 || size > place->length)
		return;
	value = number_at(place->bytes, type);
	if (name_value(d, at, value, size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX, names))
		put(d, &(struct gp_payload_field){.name = place->prefix, .text = names});
	else
		put_number(d, place->prefix, place->bytes, type);
}

static void decode(struct decoding *d, const struct place *place, uint32_t schema_id);

static void put_one(struct decoding *d, const struct place *place, const struct entry *entry,
		    const char *name, uint64_t offset)
{
	const uint8_t *at = place->bytes + offset;
	uint64_t left = place->length - offset;

	if (entry->type >= GP_SCHEMA_TYPE_FIRST && place->depth < MOST_DEPTH)
		decode(d, &(struct place){at, left, name, place->depth + 1},
		       (uint32_t)(entry->type - GP_SCHEMA_TYPE_FIRST));
	else if (form_of(entry->type) == FORM_CHARACTER)
		put_text(d, name, at, left < 1 ? left : 1);
	else if (form_of(entry->type) == FORM_STRING && bytes_of(entry->type) <= left)
		put_string(d, name, at);
	else if (form_of(entry->type) != FORM_UNKNOWN && bytes_of(entry->type) <= left)
		put_number(d, name, at, entry->type);
}

static void put_array(struct decoding *d, const struct place *place, const struct entry *entry,
		      const char *name, uint64_t offset, uint64_t length)
{
	uint64_t step = bytes_of(entry->type), left = place->length - offset;
	char item[96];

	if (form_of(entry->type) == FORM_CHARACTER) {
		put_text(d, name, place->bytes + offset, length < left ? length : left);
		return;
	}
	if (step == 0 || form_of(entry->type) == FORM_UNKNOWN ||
	    form_of(entry->type) == FORM_STRING)
		return;
	for (uint64_t i = 0; i < length && (i + 1) * step <= left; i++) {
		if (d->fields >= GP_PAYLOAD_MOST_FIELDS)
			break;
		snprintf(item, sizeof(item), "%.64s[%u]", name, (unsigned)i);
		put_number(d, item, place->bytes + offset + i * step, entry->type);
	}
}

static uint64_t length_to_zero(const struct place *place, const struct entry *entry,
			       uint64_t offset)
{
	static const uint8_t zero[8];
	uint64_t step = bytes_of(entry->type), length = 0;

	if (step == 0 || step > sizeof(zero))
		return 0;
	while (offset + (length + 1) * step <= place->length &&
	       memcmp(place->bytes + offset + length * step, zero, step) != 0)
		length++;
	return length;
}

/* ---- a schema ---- */

struct walk {
	uint64_t lengths[MOST_LENGTH_ENTRIES]; /* numbers so far, by entry: others' lengths */
	uint32_t index;
};

static uint64_t length_of(const struct walk *walk, const struct place *place,
			  const struct entry *entry, uint64_t offset)
{
	switch (ARRAY_OF(entry->flags)) {
	case ARRAY_FIXED:
		return entry->detail;
	case ARRAY_TO_ZERO:
		return length_to_zero(place, entry, offset);
	case ARRAY_LENGTH_IN:
		return entry->detail < walk->index && entry->detail < MOST_LENGTH_ENTRIES
			       ? walk->lengths[entry->detail]
			       : 0;
	default:
		return 0;
	}
}

static void decode_entry(struct decoding *d, const struct place *place, const struct entry *entry,
			 struct walk *walk)
{
	uint64_t offset = entry->offset;
	uint64_t step = bytes_of(entry->type);
	char name[160];

	if (offset > place->length)
		return;
	snprintf(name, sizeof(name), "%s%s%.*s", place->prefix, *place->prefix ? "." : "",
		 entry->name_length < 64 ? entry->name_length : 64, entry->name);
	if (walk->index < MOST_LENGTH_ENTRIES && form_of(entry->type) != FORM_UNKNOWN &&
	    step <= place->length - offset)
		walk->lengths[walk->index] = number_at(place->bytes + offset, entry->type);
	if (entry->flags & (FLAGS_ELSEWHERE | FLAGS_HIDE))
		return;
	if (ARRAY_OF(entry->flags) != 0)
		put_array(d, place, entry, name, offset, length_of(walk, place, entry, offset));
	else
		put_one(d, place, entry, name, offset);
}

static void decode(struct decoding *d, const struct place *place, uint32_t schema_id)
{
	const struct gp_text *schema = gp_model_text(d->model, GP_STRING_SCHEMA, 0, schema_id);
	const char *at = schema ? schema->bytes : "";
	struct walk walk = {.index = 0};
	uint64_t type, size;
	struct entry entry;

	if (!take_number(&at, &type) || !take_number(&at, &size))
		return;
	at = next_line(at);
	if (type == SCHEMA_ENUM)
		put_enum(d, place, size, at);
	if (type != SCHEMA_STATIC && type != SCHEMA_DYNAMIC)
		return;
	for (; d->fields < GP_PAYLOAD_MOST_FIELDS && d->entries < MOST_ENTRIES &&
	       take_entry(&at, &entry);
	     walk.index++, d->entries++)
		decode_entry(d, place, &entry, &walk);
}

uint32_t gp_payload_decode(const struct gp_model *model, uint32_t payload,
			   void (*sink)(void *context, const struct gp_payload_field *field),
			   void *context)
{
	struct decoding d = {.model = model, .sink = sink, .context = context};
	const struct gp_text *text;

	if (payload >= model->text_count)
		return 0;
	text = &model->texts[payload];
	decode(&d, &(struct place){(const uint8_t *)text->bytes, text->length, "", 0}, text->value);
	return d.fields;
}
