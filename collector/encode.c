#include "collector/encode.h"

#include <string.h>

/* kind, mask, and each field as its longest varint */
#define LONGEST_RECORD_BYTES (1 + 5 + GP_MAX_FIELDS_PER_RECORD * 10)

/* A record of any kind as words. */
typedef uint64_t __attribute__((may_alias)) word;

enum clock { CLOCK_NONE, CLOCK_TICKS, CLOCK_NS };

static const uint8_t slots_by_kind[GP_RECORD_KIND_LIMIT] = {
#define X(number, NAME, name) [number] = sizeof(struct gp_record_##name) / GP_SLOT_BYTES,
	GP_RECORD_KINDS(X)
#undef X
};

static_assert(sizeof(struct gp_record_string) / GP_SLOT_BYTES == 0,
	      "a string record has variable length");
static_assert(GP_FIELDS <= UINT16_MAX, "the index of a step");

static struct gp_step make_step(const struct gp_field *field)
{
	return (struct gp_step){
		.mask = field->bytes == 8 ? ~0ull : (1ull << (8 * field->bytes)) - 1,
		.stride = field->rule == GP_RULE_STRIDE ? ~0ull : 0,
		.length = field->rule == GP_RULE_LENGTH ? ~0ull : 0,
		.word = field->offset / 8,
		.shift = field->offset % 8 * 8,
	};
}

static void add_field(struct gp_layout *layout, const struct gp_field *field, uint32_t index)
{
	if (layout->fields == 0)
		layout->first = (uint16_t)index;
	if (field->rule == GP_RULE_AFTER)
		layout->clock = CLOCK_TICKS;
	if (field->rule == GP_RULE_LENGTH)
		layout->clock = CLOCK_NS;
	/* a record that contains a gp_record_call begins with it */
	if (layout->clock == CLOCK_TICKS &&
	    field->offset == offsetof(struct gp_record_call, duration_high_ticks))
		layout->high = layout->fields;
	layout->fields++;
}

void gp_encode_init(struct gp_encoder *encoder)
{
	memset(encoder, 0, sizeof(*encoder));
	for (uint32_t i = 0; i < GP_FIELDS; i++) {
		encoder->steps[i] = make_step(&gp_fields[i]);
		add_field(&encoder->layouts[gp_fields[i].kind], &gp_fields[i], i);
	}
	for (int kind = 0; kind < GP_RECORD_KIND_LIMIT; kind++)
		encoder->layouts[kind].slots = slots_by_kind[kind];
}

void gp_encode_begin(struct gp_encoder *encoder, uint8_t *payload, size_t size_bytes)
{
	encoder->start = encoder->at = payload;
	encoder->limit = payload + size_bytes;
	encoder->records = 0;
	memset(encoder->ends, 0, sizeof(encoder->ends));
	for (uint32_t i = 0; i < GP_FIELDS; i++)
		encoder->steps[i].last = encoder->steps[i].change = 0;
}

uint32_t gp_encode_slots(const struct gp_encoder *encoder, const struct gp_record *record)
{
	const struct gp_record_string *string = (const struct gp_record_string *)record;
	uint32_t slots;

	if (record->kind == GP_RECORD_STRING)
		return string->slots == 0 && string->length_bytes <= GP_STRING_MAX_BYTES
			       ? gp_string_slots(string->length_bytes)
			       : 0;
	if (record->kind >= GP_RECORD_KIND_LIMIT)
		return 0;
	slots = encoder->layouts[record->kind].slots;
	return record->slots == slots ? slots : 0;
}

static uint64_t zigzag(uint64_t difference)
{
	return (difference << 1) ^ (0 - (difference >> 63));
}

static uint8_t *put_varint(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

static uint8_t *put_bytes(uint8_t *at, const struct gp_record *record)
{
	const struct gp_record_string *string = (const struct gp_record_string *)record;

	memcpy(at, string + 1, string->length_bytes);
	return at + string->length_bytes;
}

static bool has_space(const struct gp_encoder *encoder, const struct gp_record *record)
{
	size_t needed = LONGEST_RECORD_BYTES;

	if (record->kind == GP_RECORD_STRING)
		needed += ((const struct gp_record_string *)record)->length_bytes;
	return (size_t)(encoder->limit - encoder->at) >= needed;
}

/*
 * Writes the nonzero differences from the predictions, zigzagged, to `differences`; returns the
 * mask of their fields.
 */
static uint32_t predict(const struct gp_layout *layout, struct gp_step *steps, const word *words,
			uint64_t *differences, uint32_t *count)
{
	uint64_t start = words[steps[0].word];
	uint32_t mask = 0, n = 0;

	for (uint32_t i = 0; i < layout->fields; i++) {
		struct gp_step *step = &steps[i];
		uint64_t value = (words[step->word] >> step->shift) & step->mask;
		uint64_t difference;

		value -= start & step->length;
		difference = value - (step->last + step->change);
		step->change = (value - step->last) & step->stride;
		step->last = value;
		differences[n] = zigzag(difference);
		n += difference != 0;
		mask |= (uint32_t)(difference != 0) << i;
	}
	*count = n;
	return mask;
}

static uint64_t duration(const struct gp_layout *layout, const struct gp_step *steps)
{
	return steps[1].last + (layout->high ? steps[layout->high].last << 32 : 0);
}

bool gp_encode(struct gp_encoder *encoder, const struct gp_record *record)
{
	const struct gp_layout *layout = &encoder->layouts[record->kind];
	struct gp_step *steps = &encoder->steps[layout->first];
	uint64_t differences[GP_MAX_FIELDS_PER_RECORD];
	uint32_t count, mask;
	uint8_t *at = encoder->at;

	if (!has_space(encoder, record))
		return false;
	if (layout->clock != CLOCK_NONE)
		steps[0].last = encoder->ends[layout->clock];
	mask = predict(layout, steps, (const word *)record, differences, &count);
	if (layout->clock != CLOCK_NONE)
		encoder->ends[layout->clock] = steps[0].last + duration(layout, steps);
	*at++ = record->kind;
	at = put_varint(at, mask);
	for (uint32_t i = 0; i < count; i++)
		at = put_varint(at, differences[i]);
	encoder->at = record->kind == GP_RECORD_STRING ? put_bytes(at, record) : at;
	encoder->records++;
	return true;
}

void gp_encode_cut(struct gp_encoder *encoder, uint8_t *at)
{
	encoder->at = at;
	encoder->records--;
}
