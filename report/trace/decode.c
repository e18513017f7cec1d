#include "report/trace/decode.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "gpuprof/field.h"

/*
 * The functions that read a record must be inlined into one, as all the time is spent there. Without
 * optimization, or with gcc's address sanitizer, that would take a minute to compile.
 */
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

/* The fields of one kind: a run of gp_fields. */
struct kind_fields {
	uint16_t first, count;
	bool has_end;
	uint64_t derived; /* fields whose value changes even if the mask omits them */
};

struct decoder {
	struct kind_fields kinds[GP_RECORD_KIND_LIMIT];
	union gp_any_record last[GP_RECORD_KIND_LIMIT];
	uint64_t length[GP_RECORD_KIND_LIMIT]; /* last duration of each kind */
	uint64_t change[GP_FIELDS];            /* last change of each STRIDE field */
	uint64_t end_ticks, end_ns;            /* of the last record in each time domain */
};

struct cursor {
	const uint8_t *at, *end;
};

static const uint8_t record_bytes[GP_RECORD_KIND_LIMIT] = {
#define X(number, NAME, name) [number] = sizeof(struct gp_record_##name),
	GP_RECORD_KINDS(X)
#undef X
};

/* Returns the end of the value, or NULL if it is invalid. */
static const uint8_t *take_longer_varint(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
	uint64_t result = 0;

	for (unsigned shift = 0; shift < 70 && at < end; shift += 7) {
		uint8_t byte = *at++;

		if (shift == 63 && byte > 1)
			return NULL;
		result |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*value = result;
			return at;
		}
	}
	return NULL;
}

/* Fast path: nearly all values have at most three bytes. */
INLINE bool take_varint(struct cursor *c, uint64_t *value)
{
	const uint8_t *at = c->at;
	bool has_three = c->end - at >= 3;
	uint64_t longer;

	if (has_three && at[0] < 0x80) {
		*value = at[0];
		c->at = at + 1;
		return true;
	}
	if (has_three && at[1] < 0x80) {
		*value = (at[0] & 0x7fu) | (uint64_t)at[1] << 7;
		c->at = at + 2;
		return true;
	}
	if (has_three && at[2] < 0x80) {
		*value = (at[0] & 0x7fu) | (at[1] & 0x7fu) << 7 | (uint64_t)at[2] << 14;
		c->at = at + 3;
		return true;
	}
	at = take_longer_varint(at, c->end, &longer);
	if (!at)
		return false;
	*value = longer;
	c->at = at;
	return true;
}

INLINE uint64_t unzigzag(uint64_t value)
{
	return (value >> 1) ^ (0 - (value & 1));
}

/*
 * Reads exactly the bytes of the field: a read while a wider write is pending would stall the
 * processor.
 */
INLINE uint64_t load(const uint8_t *at, uint8_t bytes)
{
	uint64_t eight;
	uint32_t four;
	uint16_t two;

	switch (bytes) {
	case 8:
		memcpy(&eight, at, sizeof(eight));
		return eight;
	case 4:
		memcpy(&four, at, sizeof(four));
		return four;
	case 2:
		memcpy(&two, at, sizeof(two));
		return two;
	default:
		return *at;
	}
}

INLINE void store(uint8_t *at, uint8_t bytes, uint64_t value)
{
	uint32_t four = (uint32_t)value;
	uint16_t two = (uint16_t)value;

	switch (bytes) {
	case 8:
		memcpy(at, &value, sizeof(value));
		break;
	case 4:
		memcpy(at, &four, sizeof(four));
		break;
	case 2:
		memcpy(at, &two, sizeof(two));
		break;
	default:
		*at = (uint8_t)value;
	}
}

/* The initial state for each chunk, made once. */
static struct decoder fresh;
static pthread_once_t fresh_is_made = PTHREAD_ONCE_INIT;

static void make_fresh(void)
{
	struct decoder *d = &fresh;

	for (uint16_t i = 0; i < GP_FIELDS; i++) {
		struct kind_fields *kind = &d->kinds[gp_fields[i].kind];

		if (kind->count == 0) {
			kind->first = i;
			kind->has_end = gp_fields[i].rule == GP_RULE_AFTER;
		}
		if (gp_fields[i].rule != GP_RULE_LAST)
			kind->derived |= 1ull << kind->count;
		kind->count++;
	}
	for (uint8_t i = 0; i < GP_RECORD_KIND_LIMIT; i++) {
		d->last[i].head.kind = i;
		d->last[i].head.slots =
			i == GP_RECORD_STRING ? 0 : (uint8_t)(record_bytes[i] / GP_SLOT_BYTES);
	}
}

static void init_decoder(struct decoder *d)
{
	pthread_once(&fresh_is_made, make_fresh);
	*d = fresh;
}

INLINE bool is_in_ticks(uint8_t kind)
{
	return kind == GP_RECORD_CALL || kind == GP_RECORD_MEMORY;
}

INLINE uint64_t predict(const struct decoder *d, size_t index, const struct gp_field *field,
			const uint8_t *record)
{
	switch (field->rule) {
	case GP_RULE_STRIDE:
		return load(record + field->offset, field->bytes) + d->change[index];
	case GP_RULE_AFTER:
		return is_in_ticks(field->kind) ? d->end_ticks : d->end_ns;
	/* all kinds with an end have start_ns at this offset, and decode it first */
	case GP_RULE_LENGTH:
		return load(record + offsetof(struct gp_record_kernel, start_ns), 8) +
		       d->length[field->kind];
	default:
		return load(record + field->offset, field->bytes);
	}
}

#define CHECK_LAST(name)
#define CHECK_STRIDE(name)
#define CHECK_AFTER(name)
#define CHECK_LENGTH(name)                                                                         \
	static_assert(offsetof(struct gp_record_##name, start_ns) ==                               \
				      offsetof(struct gp_record_kernel, start_ns) &&               \
			      offsetof(struct gp_record_##name, end_ns) ==                         \
				      offsetof(struct gp_record_kernel, end_ns),                   \
		      "predict() and note_end() find them there");
#define GP_FIELD(name, member, width, how) CHECK_##how(name)
#include "gpuprof/field.def"
#undef GP_FIELD

INLINE void set_field(struct decoder *d, size_t index, const struct gp_field *field,
		      uint8_t *record, uint64_t value)
{
	if (field->rule == GP_RULE_STRIDE)
		d->change[index] = value - load(record + field->offset, field->bytes);
	store(record + field->offset, field->bytes, value);
}

/* Keeps the values of a complete record that the next predictions use. */
INLINE void note_end(struct decoder *d, uint8_t kind)
{
	const union gp_any_record *r = &d->last[kind];

	if (is_in_ticks(kind)) {
		d->end_ticks = r->call.start_ticks + r->call.duration_low_ticks +
			       ((uint64_t)r->call.duration_high_ticks << 32);
	} else if (d->kinds[kind].has_end) {
		d->end_ns = r->kernel.end_ns;
		d->length[kind] = r->kernel.end_ns - r->kernel.start_ns;
	}
}

/* Decodes one field: the prediction of its rule plus the difference in the chunk. */
INLINE bool take_field(struct decoder *d, struct cursor *c, size_t index,
		       const struct gp_field *field, bool is_there)
{
	uint8_t *record = (uint8_t *)&d->last[field->kind];
	uint64_t delta = 0;

	if (is_there && !take_varint(c, &delta))
		return false;
	set_field(d, index, field, record, predict(d, index, field, record) + unzigzag(delta));
	return true;
}

/* Decodes the fields of any kind. */
static bool take_fields(struct decoder *d, uint8_t kind, uint64_t mask, struct cursor *c)
{
	const struct kind_fields *fields = &d->kinds[kind];
	uint64_t delta;

	for (uint64_t rest = mask | fields->derived; rest != 0; rest &= rest - 1) {
		unsigned bit = (unsigned)__builtin_ctzll(rest);
		size_t index = fields->first + bit;

		if (bit < fields->count) {
			if (!take_field(d, c, index, &gp_fields[index], mask >> bit & 1))
				return false;
		} else if (!take_varint(c, &delta)) { /* a later version appended it */
			return false;
		}
	}
	note_end(d, kind);
	return true;
}

/* As take_fields() with a cursor of its own, so that the caller's can stay in registers. */
INLINE bool take_all_fields(struct decoder *d, uint8_t kind, uint64_t mask, struct cursor *c)
{
	struct cursor own = *c;
	bool is_whole = take_fields(d, kind, mask, &own);

	c->at = own.at;
	return is_whole;
}

/* Whether report/model/sums reads the field, for the three kinds below. */
INLINE bool is_in_sums(const struct gp_field *field)
{
	size_t at = field->offset;

	switch (field->kind) {
	case GP_RECORD_CALL:
		return at != offsetof(struct gp_record_call, correlation_id) &&
		       at != offsetof(struct gp_record_call, stack_id) &&
		       at != offsetof(struct gp_record_call, context_id);
	case GP_RECORD_KERNEL:
		return at == offsetof(struct gp_record_kernel, start_ns) ||
		       at == offsetof(struct gp_record_kernel, end_ns) ||
		       at == offsetof(struct gp_record_kernel, name_id) ||
		       at == offsetof(struct gp_record_kernel, graph_node_id) ||
		       at == offsetof(struct gp_record_kernel, device_id) ||
		       at == offsetof(struct gp_record_kernel, flags);
	default:
		return at == offsetof(struct gp_record_range, op);
	}
}

/*
 * As take_fields() for a kind that is known at compile time. The compiler keeps only the fields of
 * the kind, each with its offset and rule; an omitted field costs one test.
 */
INLINE bool take_fields_of(struct decoder *d, uint8_t kind, uint64_t mask, struct cursor *c,
			   bool for_sums)
{
	size_t index = 0;
	unsigned bit = 0;
	uint64_t skipped;

	if (mask >> d->kinds[kind].count != 0) /* fields of a later version */
		return take_all_fields(d, kind, mask, c);
#define GP_FIELD(record, member, width, how)                                                       \
	if (kind == GP_FIELD_KIND_##record) {                                                      \
		static const struct gp_field field = {                                             \
			GP_FIELD_KIND_##record, width, GP_RULE_##how,                              \
			offsetof(struct gp_record_##record, member)};                              \
		bool is_there = mask >> bit++ & 1;                                                 \
                                                                                                   \
		if (for_sums && !is_in_sums(&field)) {                                             \
			if (is_there && !take_varint(c, &skipped))                                 \
				return false;                                                      \
		} else if ((is_there || field.rule != GP_RULE_LAST) &&                             \
			   !take_field(d, c, index, &field, is_there)) {                           \
			return false;                                                              \
		}                                                                                  \
	}                                                                                          \
	index++;
#include "gpuprof/field.def"
#undef GP_FIELD
	note_end(d, kind);
	return true;
}

/* Decodes the fields of one record into d->last[kind]. Nearly all records are of three kinds. */
INLINE bool decode_fields(struct decoder *d, uint8_t kind, struct cursor *c, bool for_sums)
{
	uint64_t mask;

	if (!take_varint(c, &mask))
		return false;
	switch (kind) {
	case GP_RECORD_CALL:
		return take_fields_of(d, GP_RECORD_CALL, mask, c, for_sums);
	case GP_RECORD_KERNEL:
		return take_fields_of(d, GP_RECORD_KERNEL, mask, c, for_sums);
	case GP_RECORD_RANGE:
		return take_fields_of(d, GP_RECORD_RANGE, mask, c, for_sums);
	default:
		return take_all_fields(d, kind, mask, c);
	}
}

/* Decodes one record and its text. Returns false if it is invalid. */
INLINE bool decode_record(struct decoder *d, struct cursor *c, struct gp_record_view *seen,
			  bool for_sums)
{
	uint8_t kind = c->at < c->end ? *c->at++ : 0;

	if (kind == 0 || kind >= GP_RECORD_KIND_LIMIT || !decode_fields(d, kind, c, for_sums))
		return false;
	seen->record = &d->last[kind];
	seen->text = NULL;
	if (kind == GP_RECORD_STRING) {
		uint32_t length = d->last[kind].string.length_bytes;

		if (length > GP_STRING_MAX_BYTES || length > (size_t)(c->end - c->at))
			return false;
		seen->text = (const char *)c->at;
		c->at += length;
	}
	return true;
}

/* Passes a record to the sink, then sets thread_id for the next one. */
INLINE int give(const struct gp_record_sink *sink, struct gp_record_view *seen,
		uint32_t ring_thread)
{
	int result = sink->visit(sink->owner, seen);

	seen->thread_id = ring_thread == 0 && seen->record->head.kind == GP_RECORD_THREAD
				  ? seen->record->thread.id
				  : ring_thread;
	return result;
}

INLINE int decode_payload(const struct gp_chunk *chunk, const struct gp_record_sink *sink,
			  struct gp_decoded *decoded, bool for_sums)
{
	const struct gp_chunk_header *h = &chunk->header;
	struct cursor c = {chunk->payload, chunk->payload + h->payload_bytes};
	struct gp_record_view seen = {.thread_id = h->thread};
	struct decoder d;

	init_decoder(&d);
	for (uint32_t i = 0; i < h->records; i++) {
		int result;

		if (!decode_record(&d, &c, &seen, for_sums)) {
			decoded->unknown += h->records - i;
			return 0;
		}
		result = give(sink, &seen, h->thread);
		if (result < 0)
			return result;
		decoded->records++;
	}
	return 0;
}

int gp_decode_chunk_for_sums(const struct gp_chunk *chunk, const struct gp_record_sink *sink,
			     struct gp_decoded *decoded)
{
	return decode_payload(chunk, sink, decoded, true);
}

int gp_decode_chunk(const struct gp_chunk *chunk, const struct gp_record_sink *sink,
		    struct gp_decoded *decoded)
{
	const struct gp_chunk_header *h = &chunk->header;

	if (h->form == GP_CHUNK_PACKED || h->form == GP_CHUNK_KEPT)
		return decode_payload(chunk, sink, decoded, false);
	if (h->form == GP_CHUNK_SLOTS)
		return gp_decode_slots(chunk->payload, h->payload_bytes / GP_SLOT_BYTES, h->thread,
				       sink, decoded);
	decoded->unknown += h->records;
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

int gp_decode_slots(const uint8_t *slots, size_t slot_count, uint32_t ring_thread,
		    const struct gp_record_sink *sink, struct gp_decoded *decoded)
{
	union gp_any_record record;
	struct gp_record_view seen = {.record = &record, .thread_id = ring_thread};

	for (size_t at = 0; at < slot_count;) {
		const uint8_t *from = slots + at * GP_SLOT_BYTES;
		size_t used = gp_decode_record_slots(from), needed;
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
		seen.text = *from == GP_RECORD_STRING ? (const char *)from + needed : NULL;
		result = give(sink, &seen, ring_thread);
		if (result < 0)
			return result;
		decoded->records++;
	}
	return 0;
}
