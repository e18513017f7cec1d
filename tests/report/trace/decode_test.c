#include <stdlib.h>
#include <string.h>

#include "report/trace/decode.h"
#include "tests/lib/dice.h"
#include "tests/report/trace_builder.h"
#include "tests/unit.h"

#define MOST_RECORDS 4096

/* What a decoder gave. */
struct taken {
	union gp_any_record records[MOST_RECORDS];
	char *texts[MOST_RECORDS];
	uint32_t threads[MOST_RECORDS];
	size_t count;
	size_t stop_at; /* 0 = never */
};

static int take(void *context, const struct gp_record_view *seen)
{
	struct taken *t = context;

	assert_true(t->count < MOST_RECORDS);
	memcpy(&t->records[t->count], seen->record, sizeof(*seen->record));
	t->texts[t->count] =
		seen->text ? strndup(seen->text, seen->record->string.length_bytes) : NULL;
	t->threads[t->count] = seen->thread_id;
	t->count++;
	return t->stop_at == t->count ? -7 : 0;
}

static struct taken *new_taken(void)
{
	struct taken *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	return t;
}

static void free_taken(struct taken *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->texts[i]);
	free(t);
}

/* Decode the chunk that the builder has just made. */
static struct gp_decoded decode(struct gp_builder *b, struct taken *t, int expected)
{
	struct gp_record_sink sink = {take, t};
	struct gp_decoded decoded = {0};

	gp_builder_seal(b);
	assert_int_equal(gp_decode_chunk(&(struct gp_chunk){.header = b->header,
							    .payload = b->bytes + b->chunk_at +
								       sizeof(b->header)},
					 &sink, &decoded),
			 expected);
	return decoded;
}

/* The same for a payload of that many records. */
static struct gp_decoded decode_payload(const void *payload, size_t bytes, uint32_t records,
					struct taken *t)
{
	const struct gp_chunk chunk = {.header = {.form = GP_CHUNK_PACKED,
						  .payload_bytes = (uint32_t)bytes,
						  .records = records},
				       .payload = payload};
	struct gp_decoded decoded = {0};

	assert_int_equal(gp_decode_chunk(&chunk, &(struct gp_record_sink){take, t}, &decoded), 0);
	return decoded;
}

static const uint8_t bytes_of[GP_RECORD_KIND_LIMIT] = {
#define X(number, NAME, name) [number] = sizeof(struct gp_record_##name),
	GP_RECORD_KINDS(X)
#undef X
};

static uint64_t random_state = 1;

static uint64_t random_value(void)
{
	uint64_t value = roll_dice(&random_state);

	return value >> (value % 64); /* of any size */
}

/* A record with any value in each of its fields. */
static union gp_any_record random_record(uint8_t kind)
{
	union gp_any_record r;

	memset(&r, 0, sizeof(r));
	for (size_t i = 0; i < GP_FIELDS; i++) {
		uint64_t value = random_value();

		if (gp_fields[i].kind == kind && random_value() % 4 != 0)
			memcpy((uint8_t *)&r + gp_fields[i].offset, &value, gp_fields[i].bytes);
	}
	r.head.kind = kind;
	r.head.slots = bytes_of[kind] / GP_SLOT_BYTES;
	return r;
}

static void assert_same(const union gp_any_record *a, const union gp_any_record *b)
{
	assert_memory_equal(a, b, bytes_of[b->head.kind]);
}

static void test_every_kind_comes_back(void **state)
{
	struct taken *t = new_taken();
	union gp_any_record given[400];
	struct gp_decoded decoded;
	struct gp_builder b;
	size_t count = 0;

	gp_builder_init(&b);
	gp_builder_chunk(&b, 1, 1);
	while (count < 400) {
		uint8_t kind = (uint8_t)(1 + random_value() % (GP_RECORD_KIND_LIMIT - 1));

		if (kind == GP_RECORD_STRING)
			continue;
		given[count] = random_record(kind);
		gp_builder_add(&b, &given[count++]);
	}
	decoded = decode(&b, t, 0);
	assert_int_equal(decoded.records, 400);
	assert_int_equal(decoded.unknown, 0);
	for (size_t i = 0; i < count; i++)
		assert_same(&t->records[i], &given[i]);
	free_taken(t);
	gp_builder_free(&b);
}

static void test_strings_come_back(void **state)
{
	struct taken *t = new_taken();
	struct gp_builder b;

	gp_builder_init(&b);
	gp_builder_chunk(&b, 1, 1);
	gp_builder_string(&b, GP_STRING_KERNEL, 9, 0, "first");
	gp_builder_string(&b, GP_STRING_KERNEL, 10, 0, "");
	gp_builder_string(&b, GP_STRING_API, GP_API_DRIVER, GP_API_SYNC, "third one");
	assert_int_equal(decode(&b, t, 0).records, 3);
	assert_string_equal(t->texts[0], "first");
	assert_string_equal(t->texts[1], "");
	assert_string_equal(t->texts[2], "third one");
	assert_int_equal(t->records[2].string.id, GP_API_DRIVER);
	assert_int_equal(t->records[2].string.value, GP_API_SYNC);
	assert_int_equal(t->records[2].string.slots, 0);
	free_taken(t);
	gp_builder_free(&b);
}

/* The example of gpuprof/trace.h: before the first value there is 0, so 7 is followed by 14. */
static void test_stride_is_as_specified(void **state)
{
	/* kind, mask with bit 2 (correlation_id) set, zigzag(7); then two records as predicted */
	const uint8_t payload[] = {GP_RECORD_CALL, 1u << 2, 14, GP_RECORD_CALL, 0,
				   GP_RECORD_CALL, 0};
	struct taken *t = new_taken();

	decode_payload(payload, sizeof(payload), 3, t);
	assert_int_equal(t->records[0].call.correlation_id, 7);
	assert_int_equal(t->records[1].call.correlation_id, 14);
	assert_int_equal(t->records[2].call.correlation_id, 21);
	free_taken(t);
}

static void test_start_follows_the_end_of_its_domain(void **state)
{
	/* a call from 100 (zigzag 200) for 5; a kernel from 1000 for 50; then one of each as
	 * predicted */
	const uint8_t payload[] = {GP_RECORD_CALL,   3, 200 | 0x80,           1,         10,
				   GP_RECORD_KERNEL, 3, (2000 & 0x7f) | 0x80, 2000 >> 7, 100,
				   GP_RECORD_CALL,   0, GP_RECORD_KERNEL,     0};
	struct taken *t = new_taken();
	struct gp_decoded decoded;

	decoded = decode_payload(payload, sizeof(payload), 4, t);
	assert_int_equal(decoded.records, 4);
	assert_int_equal(t->records[2].call.start_ticks, 105);
	assert_int_equal(t->records[2].call.duration_low_ticks, 5);
	assert_int_equal(t->records[3].kernel.start_ns, 1050);
	assert_int_equal(t->records[3].kernel.end_ns, 1100);
	free_taken(t);
}

static void test_unknown_kind_ends_the_chunk(void **state)
{
	struct taken *t = new_taken();
	struct gp_decoded decoded;
	struct gp_builder b;

	gp_builder_init(&b);
	gp_builder_chunk(&b, 1, 1);
	gp_builder_call(&b, 1, 1, 1, 1);
	gp_builder_raw(&b, "\xf0\x01\x02", 3);
	b.header.records += 5; /* of a kind that only a later version knows, and others after it */
	decoded = decode(&b, t, 0);
	assert_int_equal(decoded.records, 1);
	assert_int_equal(decoded.unknown, 5);
	free_taken(t);
	gp_builder_free(&b);
}

static void test_later_fields_are_skipped(void **state)
{
	/* an END with its first field, and two that a later version appended; then another END */
	const uint8_t payload[] = {
		GP_RECORD_END, 1 | 1u << 5 | 1u << 6, 2, 0x85, 1, 9, GP_RECORD_END, 1, 4};
	struct taken *t = new_taken();
	struct gp_decoded decoded;

	decoded = decode_payload(payload, sizeof(payload), 2, t);
	assert_int_equal(decoded.records, 2);
	assert_int_equal(t->records[0].end.reason, 1);
	assert_int_equal(t->records[1].end.reason, 3);
	free_taken(t);
}

static void test_damaged_payloads_are_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
	} payloads[] = {
		{"", 0},
		{"\x01", 1},                                                  /* no mask */
		{"\x01\x80", 2},                                              /* mask cut */
		{"\x01\x01", 2},                                              /* field missing */
		{"\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 12},     /* beyond 64 bits */
		{"\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13}, /* 11 bytes */
		{"\x07\x01\x0a"
		 "abc",
		 6},                                 /* text of 5 in 3 bytes */
		{"\x07\x01\xff\xff\xff\xff\x0f", 7}, /* text of -2^31 bytes */
		{"\x00\x00", 2},                     /* kind 0 */
	};
	struct taken *t = new_taken();

	for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) {
		struct gp_decoded decoded =
			decode_payload(payloads[i].bytes, payloads[i].length, 2, t);

		assert_int_equal(decoded.records, 0);
		assert_int_equal(decoded.unknown, 2);
	}
	free_taken(t);
}

static void test_sink_can_stop(void **state)
{
	struct taken *t = new_taken();
	struct gp_builder b;

	gp_builder_init(&b);
	gp_builder_chunk(&b, 1, 1);
	for (uint32_t i = 0; i < 5; i++)
		gp_builder_call(&b, 1, i, i, 1);
	t->stop_at = 3;
	decode(&b, t, -7);
	assert_int_equal(t->count, 3);
	free_taken(t);
	gp_builder_free(&b);
}

/* ---- slots ---- */

struct slots {
	uint8_t bytes[64 * GP_SLOT_BYTES];
	size_t count;
};

static void push(struct slots *s, const void *record, size_t bytes, size_t slot_count)
{
	assert_true((s->count + slot_count) * GP_SLOT_BYTES <= sizeof(s->bytes));
	memcpy(s->bytes + s->count * GP_SLOT_BYTES, record, bytes);
	s->count += slot_count;
}

static struct gp_decoded decode_slots(const struct slots *s, struct taken *t)
{
	struct gp_record_sink sink = {take, t};
	struct gp_decoded decoded = {0};

	assert_int_equal(gp_decode_slots(s->bytes, s->count, 0, &sink, &decoded), 0);
	return decoded;
}

static void push_string(struct slots *s, const char *text)
{
	uint8_t bytes[8 * GP_SLOT_BYTES] = {0};
	struct gp_record_string r = {.kind = GP_RECORD_STRING,
				     .space = GP_STRING_KERNEL,
				     .id = 5,
				     .length_bytes = (uint32_t)strlen(text)};

	memcpy(bytes, &r, sizeof(r));
	memcpy(bytes + sizeof(r), text, strlen(text));
	push(s, bytes, sizeof(bytes), gp_string_slots(r.length_bytes));
}

/* In a shared ring a record says whose the next one is; a ring of one thread has only that one's. */
static void test_threads_of_records(void **state)
{
	static const uint32_t rings[] = {0, 7};
	const union gp_any_record thread = {
		.thread = {.kind = GP_RECORD_THREAD, .slots = 1, .id = 42}};
	union gp_any_record call = random_record(GP_RECORD_CALL);

	for (size_t i = 0; i < sizeof(rings) / sizeof(rings[0]); i++) {
		struct taken *t = new_taken();
		struct gp_record_sink sink = {take, t};
		struct gp_decoded decoded = {0};
		struct slots s = {.count = 0};

		push(&s, &thread, sizeof(thread.thread), 1);
		push(&s, &call, sizeof(call.call), 1);
		push(&s, &call, sizeof(call.call), 1);
		assert_int_equal(gp_decode_slots(s.bytes, s.count, rings[i], &sink, &decoded), 0);
		assert_int_equal(t->threads[1], rings[i] == 0 ? 42 : 7);
		assert_int_equal(t->threads[2], rings[i]);
		free_taken(t);
	}
}

static void test_slots_come_back(void **state)
{
	struct taken *t = new_taken();
	struct slots s = {.count = 0};
	union gp_any_record call = random_record(GP_RECORD_CALL);
	union gp_any_record copy = random_record(GP_RECORD_COPY);
	struct gp_decoded decoded;

	push(&s, &call, sizeof(call.call), 1);
	push_string(&s, "a name of more than one slot, which has 32 bytes");
	push(&s, &copy, sizeof(copy.copy), 3);
	decoded = decode_slots(&s, t);
	assert_int_equal(decoded.records, 3);
	assert_int_equal(decoded.unknown, 0);
	assert_same(&t->records[0], &call);
	assert_string_equal(t->texts[1], "a name of more than one slot, which has 32 bytes");
	assert_same(&t->records[2], &copy);
	free_taken(t);
}

static void test_unknown_slots_are_skipped(void **state)
{
	const uint8_t later[2] = {200, 2}, short_copy[2] = {GP_RECORD_COPY, 1};
	struct taken *t = new_taken();
	struct slots s = {.count = 0};
	union gp_any_record call = random_record(GP_RECORD_CALL);
	struct gp_decoded decoded;

	push(&s, later, sizeof(later), 2);
	push(&s, short_copy, sizeof(short_copy), 1);
	push(&s, &call, sizeof(call.call), 1);
	decoded = decode_slots(&s, t);
	assert_int_equal(decoded.records, 1);
	assert_int_equal(decoded.unknown, 2);
	assert_same(&t->records[0], &call);
	free_taken(t);
}

static void test_impossible_slots_end_the_ring(void **state)
{
	const uint8_t none[2] = {GP_RECORD_CALL, 0}, beyond[2] = {GP_RECORD_CALL, 9};
	const struct gp_record_string endless = {.kind = GP_RECORD_STRING,
						 .length_bytes = UINT32_MAX};
	const void *firsts[] = {none, beyond, &endless};
	const size_t bytes[] = {sizeof(none), sizeof(beyond), sizeof(endless)};

	for (size_t i = 0; i < 3; i++) {
		struct taken *t = new_taken();
		struct slots s = {.count = 0};
		struct gp_decoded decoded;

		push(&s, firsts[i], bytes[i], 2);
		decoded = decode_slots(&s, t);
		assert_int_equal(decoded.records, 0);
		assert_int_equal(decoded.unknown, 1);
		free_taken(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind_comes_back),
		cmocka_unit_test(test_strings_come_back),
		cmocka_unit_test(test_stride_is_as_specified),
		cmocka_unit_test(test_start_follows_the_end_of_its_domain),
		cmocka_unit_test(test_unknown_kind_ends_the_chunk),
		cmocka_unit_test(test_later_fields_are_skipped),
		cmocka_unit_test(test_damaged_payloads_are_refused),
		cmocka_unit_test(test_sink_can_stop),
		cmocka_unit_test(test_threads_of_records),
		cmocka_unit_test(test_slots_come_back),
		cmocka_unit_test(test_unknown_slots_are_skipped),
		cmocka_unit_test(test_impossible_slots_end_the_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
