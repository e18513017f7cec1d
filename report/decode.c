#include "report/decode.h"

#include <stdbool.h>
#include <string.h>

#include "gpuprof/field.h"

/* The fields of one kind: a run of gp_fields. */
struct kind_fields {
	uint16_t first, count;
	uint64_t derived; /* those whose value moves even where the mask leaves them out */
};

/* A field is read and written as 8 bytes, whatever it has: there are so many behind the last one, too. */
struct last_record {
	union gp_any_record record;
	uint64_t behind;
};

struct decoder {
	struct kind_fields kinds[GP_RECORD_KIND_LIMIT];
	struct last_record last[GP_RECORD_KIND_LIMIT];
	uint64_t length[GP_RECORD_KIND_LIMIT]; /* the last duration of each kind */
	uint64_t change[GP_FIELDS];            /* the last change of each STRIDE field */
	uint64_t end_ticks, end_ns;            /* of the last record of each time domain */
};

struct cursor {
	const uint8_t *at, *end;
};

static const uint8_t record_bytes[GP_RECORD_KIND_LIMIT] = {
#define X(number, NAME, name) [number] = sizeof(struct gp_record_##name),
	GP_RECORD_KINDS(X)
#undef X
};

static bool take_long_varint(struct cursor *c, uint64_t *value)
{
	uint64_t result = 0;

	for (unsigned shift = 0; shift < 70 && c->at < c->end; shift += 7) {
		uint8_t byte = *c->at++;

		if (shift == 63 && byte > 1)
			return false;
		result |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*value = result;
			return true;
		}
	}
	return false;
}

static inline bool take_varint(struct cursor *c, uint64_t *value)
{
	if (c->at == c->end || *c->at >= 0x80)
		return take_long_varint(c, value);
	*value = *c->at++;
	return true;
}

static uint64_t unzigzag(uint64_t value)
{
	return (value >> 1) ^ (0 - (value & 1));
}

static uint64_t mask_of(uint8_t bytes)
{
	return UINT64_MAX >> (64 - 8 * bytes);
}

static uint64_t load(const uint8_t *at, uint8_t bytes)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value & mask_of(bytes);
}

static void store(uint8_t *at, uint8_t bytes, uint64_t value)
{
	uint64_t mask = mask_of(bytes), behind;

	memcpy(&behind, at, sizeof(behind));
	value = (value & mask) | (behind & ~mask);
	memcpy(at, &value, sizeof(value));
}

static void init_decoder(struct decoder *d)
{
	memset(d, 0, sizeof(*d));
	for (uint16_t i = 0; i < GP_FIELDS; i++) {
		struct kind_fields *kind = &d->kinds[gp_fields[i].kind];

		if (kind->count == 0)
			kind->first = i;
		if (gp_fields[i].rule != GP_RULE_LAST)
			kind->derived |= 1ull << kind->count;
		kind->count++;
	}
}

static bool is_in_ticks(uint8_t kind)
{
	return kind == GP_RECORD_CALL || kind == GP_RECORD_MEMORY;
}

static uint64_t predict(const struct decoder *d, size_t index, const uint8_t *record)
{
	const struct gp_field *field = &gp_fields[index];

	switch (field->rule) {
	case GP_RULE_STRIDE:
		return load(record + field->offset, field->bytes) + d->change[index];
	case GP_RULE_AFTER:
		return is_in_ticks(field->kind) ? d->end_ticks : d->end_ns;
	case GP_RULE_LENGTH: /* start_ns is one for all kinds that have an end, and decoded before
				it */
		return load(record + offsetof(struct gp_record_kernel, start_ns), 8) +
		       d->length[field->kind];
	default:
		return load(record + field->offset, field->bytes);
	}
}

#define STARTS_AT(name)                                                                            \
	static_assert(offsetof(struct gp_record_##name, start_ns) ==                               \
			      offsetof(struct gp_record_kernel, start_ns),                         \
		      "LENGTH finds the start there")
STARTS_AT(copy);
STARTS_AT(set);
STARTS_AT(overhead);
STARTS_AT(sync);
STARTS_AT(graph);
STARTS_AT(jit);
STARTS_AT(unified);

static void set_field(struct decoder *d, size_t index, uint8_t *record, uint64_t value)
{
	const struct gp_field *field = &gp_fields[index];

	if (field->rule == GP_RULE_STRIDE)
		d->change[index] = value - load(record + field->offset, field->bytes);
	store(record + field->offset, field->bytes, value);
}

/* What the next predictions need to know of a record that is complete. */
static void note_end(struct decoder *d, uint8_t kind)
{
	const union gp_any_record *r = &d->last[kind].record;

	if (is_in_ticks(kind)) {
		d->end_ticks = r->call.start_ticks + r->call.duration_low_ticks +
			       ((uint64_t)r->call.duration_high_ticks << 32);
	} else if (gp_fields[d->kinds[kind].first].rule == GP_RULE_AFTER) {
		d->end_ns = r->kernel.end_ns;
		d->length[kind] = r->kernel.end_ns - r->kernel.start_ns;
	}
}

/* Decode the fields of one record into d->last[kind]. */
static bool decode_fields(struct decoder *d, uint8_t kind, struct cursor *c)
{
	const struct kind_fields *fields = &d->kinds[kind];
	uint8_t *record = (uint8_t *)&d->last[kind];
	uint64_t mask, delta;

	if (!take_varint(c, &mask))
		return false;
	for (uint64_t rest = mask | fields->derived; rest != 0; rest &= rest - 1) {
		unsigned bit = (unsigned)__builtin_ctzll(rest);
		size_t index = fields->first + bit;

		delta = 0;
		if ((mask >> bit & 1) && !take_varint(c, &delta))
			return false;
		if (bit < fields->count) /* else a field that a later version appended */
			set_field(d, index, record, predict(d, index, record) + unzigzag(delta));
	}
	d->last[kind].record.head.kind = kind;
	d->last[kind].record.head.slots =
		kind == GP_RECORD_STRING ? 0 : (uint8_t)(record_bytes[kind] / GP_SLOT_BYTES);
	note_end(d, kind);
	return true;
}

/* Decode one record and its text; false if it is not understood. */
static bool decode_record(struct decoder *d, struct cursor *c, const union gp_any_record **record,
			  const char **text)
{
	uint8_t kind = c->at < c->end ? *c->at++ : 0;

	if (kind == 0 || kind >= GP_RECORD_KIND_LIMIT || !decode_fields(d, kind, c))
		return false;
	*record = &d->last[kind].record;
	*text = NULL;
	if (kind == GP_RECORD_STRING) {
		uint32_t length = d->last[kind].record.string.length_bytes;

		if (length > GP_STRING_MAX_BYTES || length > (size_t)(c->end - c->at))
			return false;
		*text = (const char *)c->at;
		c->at += length;
	}
	return true;
}

int gp_decode_payload(const uint8_t *payload, size_t bytes, uint32_t records,
		      const struct gp_record_sink *sink, struct gp_decoded *decoded)
{
	struct cursor c = {payload, payload + bytes};
	struct decoder d;

	init_decoder(&d);
	for (uint32_t i = 0; i < records; i++) {
		const union gp_any_record *record;
		const char *text;
		int result;

		if (!decode_record(&d, &c, &record, &text)) {
			decoded->unknown += records - i;
			return 0;
		}
		result = sink->take(sink->context, record, text);
		if (result < 0)
			return result;
		decoded->records++;
	}
	return 0;
}

size_t gp_decode_record_slots(const uint8_t *slot)
{
	struct gp_record head;
	struct gp_record_string string;

	memcpy(&head, slot, sizeof(head));
	if (head.kind != GP_RECORD_STRING)
		return head.slots;
	memcpy(&string, slot, sizeof(string));
	return string.length_bytes <= GP_STRING_MAX_BYTES ? gp_string_slots(string.length_bytes)
							  : 0;
}

int gp_decode_slots(const uint8_t *slots, size_t slot_count, const struct gp_record_sink *sink,
		    struct gp_decoded *decoded)
{
	for (size_t at = 0; at < slot_count;) {
		const uint8_t *from = slots + at * GP_SLOT_BYTES;
		size_t used = gp_decode_record_slots(from), needed;
		union gp_any_record record;
		int result;

		if (used == 0 || used > slot_count - at) {
			decoded->unknown++;
			return 0;
		}
		at += used;
		needed = *from < GP_RECORD_KIND_LIMIT ? record_bytes[*from] : 0;
		if (needed == 0 || needed > used * GP_SLOT_BYTES) {
			decoded->unknown++;
			continue;
		}
		memcpy(&record, from, needed);
		result = sink->take(sink->context, &record,
				    *from == GP_RECORD_STRING ? (const char *)from + needed : NULL);
		if (result < 0)
			return result;
		decoded->records++;
	}
	return 0;
}
