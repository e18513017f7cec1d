/*
 * encode: random records of every kind are equal after encoding and decoding.  The decoder was
 * written from gpuprof/trace.h.
 */
#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"
#include "tests/lib/dice.h"

#include "collector/encode.h"

#define ROUNDS  400
#define PAYLOAD 65536

static uint64_t random_state = DICE;

static uint64_t next_random(void)
{
	return roll_dice(&random_state);
}

static uint64_t random_value(uint64_t last)
{
	switch (next_random() % 5) {
	case 0:
		return last;
	case 1:
		return last + next_random() % 300;
	case 2:
		return last - next_random() % 300;
	case 3:
		return next_random() >> next_random() % 64;
	default:
		return next_random() & 1 ? ~0ull : 0;
	}
}

#define SPACE_BYTES (GP_SLOT_BYTES * 64)

/* A record; a string is followed by its text. */
union space {
	struct gp_record record;
	struct gp_record_string string;
	char bytes[SPACE_BYTES];
	uint64_t aligned;
};

/* Unlisted members are zero.  Listed members have random values, often near the previous one. */
static void make_record(union space *space, uint8_t kind)
{
	static uint64_t last[GP_FIELDS];

	memset(space, 0, sizeof(*space));
	space->record.kind = kind;
	space->record.slots =
		kind == GP_RECORD_STRING ? 0 : (uint8_t)(record_bytes[kind] / GP_SLOT_BYTES);
	for (size_t f = 0; f < GP_FIELDS; f++) {
		if (gp_fields[f].kind != kind)
			continue;
		last[f] = random_value(last[f]);
		memcpy(space->bytes + gp_fields[f].offset, &last[f], gp_fields[f].bytes);
	}
}

static void make_string(union space *space)
{
	uint32_t length = (uint32_t)(next_random() % (next_random() % 8 ? 40 : 2000));

	make_record(space, GP_RECORD_STRING);
	space->string.length_bytes = length;
	for (uint32_t i = 0; i < length; i++)
		space->bytes[sizeof(space->string) + i] = (char)next_random();
}

static void check_record(struct decoder *decoder, const union space *space)
{
	struct any_record record;

	take_record(decoder, &record);
	assert_false(decoder->failed);
	assert_memory_equal(record.bytes, space->bytes, record_bytes[space->record.kind]);
	if (space->record.kind == GP_RECORD_STRING)
		assert_memory_equal(record.text, space->bytes + sizeof(space->string),
				    space->string.length_bytes);
}

static void one_payload(struct gp_encoder *encoder)
{
	static union space records[4000];
	static uint8_t payload[PAYLOAD];
	static struct decoder decoder;
	uint32_t count = 0;

	gp_encode_begin(encoder, payload, 500 + next_random() % (PAYLOAD - 500));
	for (; count < 4000; count++) {
		uint8_t kind = (uint8_t)(1 + next_random() % (GP_RECORD_KIND_LIMIT - 1));

		if (kind == GP_RECORD_STRING)
			make_string(&records[count]);
		else
			make_record(&records[count], kind);
		if (!gp_encode(encoder, &records[count].record))
			break;
	}
	assert_int_equal(encoder->records, count);
	memset(&decoder, 0, sizeof(decoder));
	decoder.at = payload;
	decoder.end = payload + gp_encode_bytes(encoder);
	for (uint32_t i = 0; i < count; i++)
		check_record(&decoder, &records[i]);
	assert_ptr_equal(decoder.at, decoder.end);
}

static void records_come_back(void **unused)
{
	static struct gp_encoder encoder;

	(void)unused;
	gp_encode_init(&encoder);
	for (int round = 0; round < ROUNDS; round++)
		one_payload(&encoder);
}

static void a_steady_loop_needs_few_bytes(void **unused)
{
	static struct gp_encoder encoder;
	static uint8_t payload[PAYLOAD];
	struct gp_record_call call = {.kind = GP_RECORD_CALL, .slots = 1, .api = 211};
	struct gp_record_kernel kernel = {.kind = GP_RECORD_KERNEL, .slots = 2, .stream_id = 7};

	(void)unused;
	gp_encode_init(&encoder);
	gp_encode_begin(&encoder, payload, sizeof(payload));
	for (uint32_t i = 0; i < 1000; i++) {
		call.correlation_id = kernel.correlation_id = 3 * i;
		call.start_ticks = 1000000 + 15000ull * i;
		call.duration_low_ticks = 9000 + i % 7 * 100;
		kernel.start_ns = 5000000 + 8000ull * i;
		kernel.end_ns = kernel.start_ns + 2000 + i % 5 * 50;
		kernel.name_id = 1 + i % 100;
		kernel.shape_id = 1 + i % 60;
		assert_true(gp_encode(&encoder, (const struct gp_record *)&call));
		assert_true(gp_encode(&encoder, (const struct gp_record *)&kernel));
	}
	assert_true(gp_encode_bytes(&encoder) < 1000 * 20);
}

static void a_full_payload_takes_no_record(void **unused)
{
	static struct gp_encoder encoder;
	static uint8_t payload[1000];
	struct gp_record_usage usage = {.kind = GP_RECORD_USAGE, .slots = 1, .ticks = ~0ull};
	uint32_t bytes;

	(void)unused;
	gp_encode_init(&encoder);
	gp_encode_begin(&encoder, payload, 700);
	memset(payload, 0xa5, sizeof(payload));
	while (gp_encode(&encoder, (const struct gp_record *)&usage))
		usage.free_bytes = ~usage.free_bytes;
	bytes = gp_encode_bytes(&encoder);
	assert_true(bytes <= 700);
	for (size_t i = bytes; i < sizeof(payload); i++)
		assert_int_equal(payload[i], 0xa5);
}

static void only_records_have_slots(void **unused)
{
	static struct gp_encoder encoder;
	struct gp_record_string string = {.kind = GP_RECORD_STRING, .length_bytes = 17};
	struct gp_record_kernel kernel = {.kind = GP_RECORD_KERNEL, .slots = 2};

	(void)unused;
	gp_encode_init(&encoder);
	assert_int_equal(gp_encode_slots(&encoder, (const struct gp_record *)&kernel), 2);
	assert_int_equal(gp_encode_slots(&encoder, (const struct gp_record *)&string), 2);
	string.length_bytes = 16;
	assert_int_equal(gp_encode_slots(&encoder, (const struct gp_record *)&string), 1);
	string.length_bytes = GP_STRING_MAX_BYTES + 1;
	assert_int_equal(gp_encode_slots(&encoder, (const struct gp_record *)&string), 0);
	kernel.slots = 1;
	assert_int_equal(gp_encode_slots(&encoder, (const struct gp_record *)&kernel), 0);
	kernel.kind = GP_RECORD_KIND_LIMIT;
	assert_int_equal(gp_encode_slots(&encoder, (const struct gp_record *)&kernel), 0);
	kernel.kind = 0;
	kernel.slots = 0;
	assert_int_equal(gp_encode_slots(&encoder, (const struct gp_record *)&kernel), 0);
}

/* The table of fields meets the assumptions of the encoder and the readers. */
static void the_table_is_regular(void **unused)
{
	uint32_t fields[GP_RECORD_KIND_LIMIT] = {0};

	(void)unused;
	for (size_t f = 0; f < GP_FIELDS; f++) {
		const struct gp_field *field = &gp_fields[f];

		assert_int_equal(field->offset % field->bytes, 0);
		assert_true(field->offset + field->bytes <= record_bytes[field->kind]);
		assert_true(f == 0 || fields[field->kind] == 0 ||
			    gp_fields[f - 1].kind == field->kind);
		if (field->rule == GP_RULE_AFTER)
			assert_int_equal(fields[field->kind], 0);
		if (field->rule == GP_RULE_LENGTH)
			assert_int_equal(fields[field->kind], 1);
		fields[field->kind]++;
		assert_true(fields[field->kind] <= GP_MAX_FIELDS_PER_RECORD);
	}
	for (int kind = 1; kind < GP_RECORD_KIND_LIMIT; kind++)
		assert_true(fields[kind] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_back),
		cmocka_unit_test(a_steady_loop_needs_few_bytes),
		cmocka_unit_test(a_full_payload_takes_no_record),
		cmocka_unit_test(only_records_have_slots),
		cmocka_unit_test(the_table_is_regular),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
