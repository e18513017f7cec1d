/* client_buffers, client_records: a client's buffers, and the thread that fills them. */

#include "tests/unit.h"

#include <pthread.h>
#include <string.h>

#include "inject/client_buffers.h"
#include "inject/client_kinds.h"
#include "inject/client_records.h"
#include "tests/inject/seen_waiting.h"

#define RECORD_BYTES 40u
#define MOST_GIVEN   64u

static uint8_t memory[MOST_GIVEN][10 * RECORD_BYTES] __attribute__((aligned(8)));
static uint32_t given;           /* number of buffers that the client has provided */
static size_t give_bytes;        /* their size; 0 = none */
static size_t give_most_records; /* their limit */
static uint32_t completed;       /* number of buffers that it got back */
static size_t valid[MOST_GIVEN]; /* the valid bytes in each */
static uint64_t completed_ids[MOST_GIVEN * 10];
static uint32_t id_count;

static void CUPTIAPI request(uint8_t **buffer, size_t *bytes, size_t *most_records)
{
	*most_records = give_most_records;
	*bytes = give_bytes;
	*buffer = give_bytes != 0 ? memory[gp_add32(&given, 1) % MOST_GIVEN] : NULL;
}

static void CUPTIAPI complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
			      size_t valid_bytes)
{
	(void)context, (void)stream;
	assert_true(valid_bytes <= bytes);
	for (size_t at = 0; at < valid_bytes; at += RECORD_BYTES)
		memcpy(&completed_ids[id_count++ % (MOST_GIVEN * 10)], buffer + at + 8,
		       sizeof(uint64_t));
	valid[gp_add32(&completed, 1) % MOST_GIVEN] = valid_bytes;
}

static void put(uint64_t id)
{
	uint64_t record[RECORD_BYTES / 8] = {CUPTI_ACTIVITY_KIND_RUNTIME, id};

	gp_client_buffers_add((const CUpti_Activity *)record, RECORD_BYTES);
}

static int begin(void **state)
{
	given = completed = id_count = 0;
	give_bytes = sizeof(memory[0]);
	give_most_records = 0;
	gp_client_buffers_register(request, complete);
	gp_client_buffers_take_dropped();
	return 0;
}

static int end(void **state)
{
	gp_client_buffers_hand_over();
	gp_client_buffers_register(NULL, NULL);
	return 0;
}

static void full_buffers_come_back_by_themselves(void **state)
{
	for (uint64_t i = 0; i < 25; i++)
		put(i);
	assert_int_equal(given, 3);
	assert_int_equal(completed, 2);
	gp_client_buffers_hand_over();
	assert_int_equal(completed, 3);
	assert_int_equal(valid[2], 5 * RECORD_BYTES);
	for (uint64_t i = 0; i < 25; i++)
		assert_int_equal(completed_ids[i], i);
	gp_client_buffers_hand_over();
	assert_int_equal(completed, 3); /* nothing more is returned */
}

static void a_limit_of_records_is_kept(void **state)
{
	give_most_records = 2;
	for (uint64_t i = 0; i < 5; i++)
		put(i);
	assert_int_equal(given, 3);
	assert_int_equal(valid[0], 2 * RECORD_BYTES);
}

static void a_client_that_ends_gets_back_what_it_gave_and_gives_no_more(void **state)
{
	put(1);
	gp_client_buffers_expect();
	gp_client_buffers_next_call();
	assert_int_equal(given, 2);
	gp_client_buffers_close();
	assert_false(gp_client_buffers_are_registered());
	put(2);
	gp_client_buffers_request();
	gp_client_buffers_expect();
	gp_client_buffers_next_call();
	assert_int_equal(given, 2);
	gp_client_buffers_hand_over();
	assert_int_equal(completed, 2);
	assert_int_equal(id_count, 1);
	assert_int_equal(gp_client_buffers_take_dropped(), 0);
}

static void CUPTIAPI lasting_request(uint8_t **buffer, size_t *bytes, size_t *most_records)
{
	last();
	request(buffer, bytes, most_records);
}

static void *ask_once(void *unused)
{
	(void)unused;
	gp_client_buffers_request();
	return NULL;
}

static void unregistering_waits_for_running_functions(void **state)
{
	gp_client_buffers_register(lasting_request, complete);
	see_waiting(ask_once);
	gp_client_buffers_register(request, complete);
	end_waiting();
}

static void records_without_space_are_counted(void **state)
{
	give_bytes = RECORD_BYTES - 8;
	put(1);
	put(2);
	give_bytes = 0;
	put(3);
	assert_int_equal(gp_client_buffers_take_dropped(), 3);
	assert_int_equal(gp_client_buffers_take_dropped(), 0);
	assert_int_equal(id_count, 0);
	give_bytes = sizeof(memory[0]);
	put(4);
	gp_client_buffers_hand_over();
	assert_int_equal(id_count, 1);
}

/* As in CUPTI, the first call after the client has enabled a kind requests a buffer. */
static void the_next_call_asks_for_the_first_buffer(void **state)
{
	gp_client_buffers_next_call();
	assert_int_equal(given, 0);
	gp_client_buffers_expect();
	gp_client_buffers_next_call();
	gp_client_buffers_next_call();
	assert_int_equal(given, 1);
	put(1);
	assert_int_equal(given, 1); /* the buffer is still in use */
	gp_client_buffers_expect();
	gp_client_buffers_next_call();
	gp_client_buffers_hand_over();
	assert_int_equal(completed, 2); /* one of them is unused */
	assert_int_equal(valid[0], RECORD_BYTES);
	assert_int_equal(valid[1], 0);
}

static void no_request_without_functions(void **state)
{
	gp_client_buffers_register(NULL, NULL);
	gp_client_buffers_expect();
	gp_client_buffers_next_call();
	put(1);
	gp_client_buffers_hand_over();
	assert_int_equal(given + completed, 0);
}

/* ---- the fetching thread ---- */

static uint8_t cupti_buffer[3 * RECORD_BYTES] __attribute__((aligned(8)));
static uint32_t stop, wakes;

static CUptiResult CUPTIAPI next(uint8_t *buffer, size_t valid_bytes, CUpti_Activity **record)
{
	uint8_t *at = *record == NULL ? buffer : (uint8_t *)*record + RECORD_BYTES;

	if (at >= buffer + valid_bytes)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)at;
	return CUPTI_SUCCESS;
}

static void wake(void)
{
	gp_add32(&wakes, 1);
}

static void fill_cupti_buffer(uint64_t id)
{
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t record[RECORD_BYTES / 8] = {CUPTI_ACTIVITY_KIND_RUNTIME, id + i};

		memcpy(cupti_buffer + i * RECORD_BYTES, record, RECORD_BYTES);
	}
}

static void *fetch(void *unused)
{
	uint32_t ticket;

	(void)unused;
	gp_client_records_enter_thread();
	assert_false(gp_client_records_is_served()); /* the fetching thread would wait for itself */
	gp_client_records_request();
	while (gp_load32_acquire(&stop) == 0) {
		if (!gp_client_records_is_requested(&ticket))
			continue;
		fill_cupti_buffer(3 * (uint64_t)(ticket - 1));
		gp_client_records_copy(next, cupti_buffer, sizeof(cupti_buffer));
		gp_client_records_answer(ticket, ticket % 2);
	}
	gp_client_records_end();
	return NULL;
}

static void a_request_returns_all_delivered_records(void **state)
{
	pthread_t thread;

	gp_client_kinds_enable(CUPTI_ACTIVITY_KIND_RUNTIME, 1);
	gp_client_records_begin(wake);
	assert_int_equal(pthread_create(&thread, NULL, fetch, NULL), 0);
	for (uint32_t i = 1; i <= 50; i++) {
		gp_client_records_request();
		assert_int_equal(id_count, 3 * i);
		assert_int_equal(completed_ids[3 * i - 1], 3 * i - 1);
		gp_client_buffers_next_call(); /* a call of the program */
	}
	assert_int_equal(wakes, 50);
	gp_store32_release(&stop, 1);
	pthread_join(thread, NULL);
	gp_client_buffers_next_call();
	put(1000);
	gp_client_records_request(); /* without a fetching thread, nothing to wait for */
	assert_int_equal(id_count, 151);
	gp_client_kinds_disable(CUPTI_ACTIVITY_KIND_RUNTIME, 2);
}

#define ROUNDS 20000u

static pthread_barrier_t round_begins, round_ends;

static void *ask_in_each_round(void *unused)
{
	(void)unused;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&round_begins);
		gp_client_records_request();
		pthread_barrier_wait(&round_ends);
	}
	return NULL;
}

/*
 * Without a fetching thread, each requesting thread returns the client's buffers: each buffer once.
 */
static void concurrent_requests_return_each_buffer_once(void **state)
{
	pthread_t thread;

	pthread_barrier_init(&round_begins, NULL, 2);
	pthread_barrier_init(&round_ends, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, ask_in_each_round, NULL), 0);
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		gp_client_buffers_request();
		pthread_barrier_wait(&round_begins);
		gp_client_records_request();
		pthread_barrier_wait(&round_ends);
		assert_int_equal(given, i);
		assert_int_equal(completed, i);
	}
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&round_begins);
	pthread_barrier_destroy(&round_ends);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(full_buffers_come_back_by_themselves, begin, end),
		cmocka_unit_test_setup_teardown(a_limit_of_records_is_kept, begin, end),
		cmocka_unit_test_setup_teardown(
			a_client_that_ends_gets_back_what_it_gave_and_gives_no_more, begin, end),
		cmocka_unit_test_setup_teardown(unregistering_waits_for_running_functions, begin,
						end),
		cmocka_unit_test_setup_teardown(records_without_space_are_counted, begin, end),
		cmocka_unit_test_setup_teardown(the_next_call_asks_for_the_first_buffer, begin,
						end),
		cmocka_unit_test_setup_teardown(no_request_without_functions, begin, end),
		cmocka_unit_test_setup_teardown(a_request_returns_all_delivered_records, begin,
						end),
		cmocka_unit_test_setup_teardown(concurrent_requests_return_each_buffer_once, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
