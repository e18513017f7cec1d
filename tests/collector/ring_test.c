/*
 * ring: every record comes out once, whole and in order, for all sizes and positions of the ring's
 * end.
 */
#include "tests/collector/harness.h"

#include <pthread.h>

#include "collector/encode.h"
#include "collector/ring.h"

#define SLOTS   1024u
#define RECORDS 2000000u

static _Alignas(4096) char memory[GP_RING_HEADER_BYTES + SLOTS * GP_SLOT_BYTES];
static struct gp_encoder encoder; /* has the number of slots of a record */

static struct gp_ring_header *new_ring(void)
{
	struct gp_ring_header *ring = (struct gp_ring_header *)memory;

	memset(memory, 0, sizeof(memory));
	gp_ring_init(ring, SLOTS);
	return ring;
}

static struct gp_record_call call_of(uint32_t number)
{
	return (struct gp_record_call){
		.kind = GP_RECORD_CALL, .slots = 1, .correlation_id = number};
}

static bool put_call(struct gp_ring_header *ring, uint32_t number)
{
	struct gp_record_call call = call_of(number);
	struct gp_item item = {(const struct gp_record *)&call, NULL, 1, 0};

	return gp_ring_put(ring, &item);
}

static uint32_t call_at(struct gp_ring_header *ring, uint64_t position)
{
	struct gp_record_call call;

	memcpy(&call, gp_ring_slot(ring, position), sizeof(call));
	assert_int_equal(call.kind, GP_RECORD_CALL);
	return call.correlation_id;
}

static void a_full_ring_accepts_nothing(void **unused)
{
	struct gp_ring_header *ring = new_ring();

	(void)unused;
	for (uint32_t i = 0; i < SLOTS; i++)
		assert_true(put_call(ring, i));
	assert_false(put_call(ring, SLOTS));
	assert_int_equal(gp_ring_head(ring), SLOTS);
	gp_ring_free(ring, 1);
	assert_true(put_call(ring, SLOTS));
	assert_false(put_call(ring, SLOTS + 1));
	for (uint32_t i = 1; i <= SLOTS; i++)
		assert_int_equal(call_at(ring, i), i);
}

static void the_quick_path_stops_at_half(void **unused)
{
	struct gp_ring_header *ring = new_ring();
	struct gp_record_call call = call_of(1);
	uint32_t put = 0;

	(void)unused;
	while (gp_ring_put_quick(ring, (const struct gp_record *)&call))
		put++;
	assert_int_equal(put, SLOTS / 2);
	assert_false(gp_ring_is_half_full(ring));
	assert_true(put_call(ring, 1));
	assert_true(gp_ring_is_half_full(ring));
	gp_ring_free(ring, put);
	assert_true(put_call(ring, 1)); /* the producer reads the tail again */
	assert_false(gp_ring_is_half_full(ring));
	assert_true(gp_ring_put_quick(ring, (const struct gp_record *)&call));
}

static void records_wrap_around_the_end(void **unused)
{
	struct gp_ring_header *ring = new_ring();
	struct gp_record_copy copy = {.kind = GP_RECORD_COPY, .slots = 3};
	struct gp_item item = {(const struct gp_record *)&copy, NULL, 3, 0};

	(void)unused;
	for (uint64_t at = SLOTS - 8; at < SLOTS + 4; at++) {
		ring->head = ring->tail = at;
		copy.bytes = at;
		copy.copy_count = ~at;
		assert_true(gp_ring_put(ring, &item));
		for (uint32_t i = 0; i < 3; i++)
			assert_memory_equal(gp_ring_slot(ring, at + i), (char *)&copy + i * 32, 32);
		assert_true(gp_ring_put_quick(ring, (const struct gp_record *)&copy));
		assert_int_equal(gp_ring_head(ring), at + 6);
	}
}

static void check_text(struct gp_ring_header *ring, uint64_t at, const char *text, uint32_t length)
{
	for (uint32_t i = 0; i < gp_string_slots(length) * GP_SLOT_BYTES - 16; i++) {
		const char *slot = gp_ring_slot(ring, at + (16 + i) / GP_SLOT_BYTES);
		char expected = i < length ? text[i] : 0;

		assert_int_equal(slot[(16 + i) % GP_SLOT_BYTES], expected);
	}
}

static void texts_are_padded_with_zeros(void **unused)
{
	static char text[300];

	(void)unused;
	for (uint32_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(1 + i % 100);
	for (uint32_t length = 0; length < sizeof(text); length++) {
		struct gp_ring_header *ring = new_ring();
		struct gp_record_string string = {
			.kind = GP_RECORD_STRING, .id = length, .length_bytes = length};
		struct gp_item item = {(const struct gp_record *)&string, text,
				       gp_string_slots(length), 0};

		memset(memory + GP_RING_HEADER_BYTES, 0x5a, SLOTS * GP_SLOT_BYTES);
		ring->head = ring->tail = SLOTS - 5 + length;
		assert_true(gp_ring_put(ring, &item));
		assert_int_equal(gp_ring_head(ring) - ring->tail, gp_string_slots(length));
		assert_memory_equal(gp_ring_slot(ring, ring->tail), &string, 16);
		check_text(ring, ring->tail, text, length);
	}
}

static void a_shared_record_has_its_thread(void **unused)
{
	struct gp_ring_header *ring = new_ring();
	struct gp_record_call call = call_of(9);
	struct gp_item item = {(const struct gp_record *)&call, NULL, 1, 4711};
	struct gp_record_thread mark;

	(void)unused;
	assert_true(gp_ring_put(ring, &item));
	assert_int_equal(gp_ring_head(ring), 2);
	memcpy(&mark, gp_ring_slot(ring, 0), sizeof(mark));
	assert_int_equal(mark.kind, GP_RECORD_THREAD);
	assert_int_equal(mark.id, 4711);
	assert_int_equal(call_at(ring, 1), 9);
	ring->head = SLOTS - 1;
	ring->tail = 0;
	assert_false(gp_ring_put(ring, &item)); /* both records or neither */
	assert_int_equal(gp_ring_head(ring), SLOTS - 1);
}

/*
 * One thread puts numbered records of three sizes, by the quick and the normal path, while another
 * thread takes them.
 */
static void *put_many(void *ring)
{
	struct gp_record_copy copy = {.kind = GP_RECORD_COPY, .slots = 3};
	struct gp_record_kernel kernel = {.kind = GP_RECORD_KERNEL, .slots = 2};
	struct gp_record_call call = call_of(0);

	for (uint32_t i = 0; i < RECORDS; i++) {
		const struct gp_record *record = (const struct gp_record *)&call;
		struct gp_item item;

		call.correlation_id = kernel.correlation_id = copy.correlation_id = i;
		copy.copy_count = kernel.graph_node_id = call.start_ticks = ~(uint64_t)i;
		if (i % 7 == 0)
			record = (const struct gp_record *)&copy;
		else if (i % 3 == 0)
			record = (const struct gp_record *)&kernel;
		item = (struct gp_item){record, NULL, record->slots, 0};
		if (i % 2 == 0 && gp_ring_put_quick(ring, record))
			continue;
		while (!gp_ring_put(ring, &item))
			sched_yield();
	}
	return NULL;
}

static uint64_t last_word(struct gp_ring_header *ring, uint64_t at, uint32_t slots)
{
	uint64_t words[4];

	memcpy(words, gp_ring_slot(ring, at + slots - 1), sizeof(words));
	return words[slots == 3 ? 2 : 1];
}

static void take_one(struct gp_ring_header *ring, uint64_t *tail, uint32_t number)
{
	struct gp_record_call call;
	uint32_t slots;

	memcpy(&call, gp_ring_slot(ring, *tail), sizeof(call));
	slots = gp_encode_slots(&encoder, (const struct gp_record *)&call);
	assert_int_equal(slots, number % 7 == 0 ? 3 : number % 3 == 0 ? 2 : 1);
	assert_int_equal(call.correlation_id, number);
	assert_int_equal(last_word(ring, *tail, slots), ~(uint64_t)number);
	*tail += slots;
}

static void two_threads(void **unused)
{
	struct gp_ring_header *ring = new_ring();
	pthread_t producer;
	uint64_t tail = 0;
	uint32_t number = 0;

	(void)unused;
	gp_encode_init(&encoder);
	assert_int_equal(pthread_create(&producer, NULL, put_many, ring), 0);
	while (number < RECORDS) {
		uint64_t head = gp_ring_head(ring);

		if (head == tail)
			sched_yield();
		while (tail < head)
			take_one(ring, &tail, number++);
		gp_ring_free(ring, tail);
	}
	pthread_join(producer, NULL);
	assert_int_equal(gp_ring_head(ring), tail);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_ring_accepts_nothing),
		cmocka_unit_test(the_quick_path_stops_at_half),
		cmocka_unit_test(records_wrap_around_the_end),
		cmocka_unit_test(texts_are_padded_with_zeros),
		cmocka_unit_test(a_shared_record_has_its_thread),
		cmocka_unit_test(two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
