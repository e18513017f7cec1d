/* cupti_buffers: the owner of each buffer over time. */

#include "tests/unit.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/sys.h"
#include "inject/cupti_buffers.h"
#include "tests/lib/sleeping.h"

#define LIMIT   1000u
#define DROPPED 200u
#define FEW     10u /* all existing buffers; the other tests made them */

static uint32_t wakes;

static void wake_decoder(void)
{
	gp_add32(&wakes, 1);
}

static int init(void **state)
{
	return gp_buffers_init((uint64_t)LIMIT * GP_CUPTI_BUFFER_BYTES, true, wake_decoder);
}

static void buffers_are_aligned_and_distinct(void **state)
{
	uint8_t *taken[10];
	size_t bytes, valid_bytes;

	for (int i = 0; i < 10; i++) {
		taken[i] = gp_buffers_take(&bytes);
		assert_non_null(taken[i]);
		assert_int_equal(bytes, GP_CUPTI_BUFFER_BYTES);
		assert_int_equal((uintptr_t)taken[i] % 8, 0);
		for (int j = 0; j < i; j++)
			assert_ptr_not_equal(taken[i], taken[j]);
	}
	for (int i = 0; i < 10; i++)
		gp_buffers_give(taken[i], 0);
	assert_null(gp_buffers_next(&valid_bytes)); /* empty buffers need no decoding */
}

static long (*real_call)(long, long, long, long, long, long, long);

static long no_memory(long number, long a, long b, long c, long d, long e, long f)
{
	return number == SYS_mmap ? -ENOMEM : real_call(number, a, b, c, d, e, f);
}

static void *ask_in_vain(void *unused)
{
	size_t bytes;

	errno = 0;
	for (uint32_t i = 0; i < 2 * LIMIT; i++) {
		uint8_t *dropped = gp_buffers_take(&bytes);

		if (gp_buffers_give(dropped, 0) || errno != 0)
			return &errno;
		gp_buffers_end_discard(dropped);
	}
	return unused;
}

static void without_memory_for_a_while(void **state)
{
	pthread_t threads[4];
	uint8_t *taken[FEW];
	size_t bytes;

	for (uint32_t i = 0; i < FEW; i++)
		taken[i] = gp_buffers_take(&bytes);
	real_call = gp_sys.call;
	gp_sys.call = no_memory;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_in_vain, NULL), 0);
	for (int i = 0; i < 4; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	gp_sys.call = real_call;
	for (uint32_t i = 0; i < FEW; i++) {
		uint8_t *buffer = gp_buffers_take(&bytes);

		assert_int_equal(bytes, GP_CUPTI_BUFFER_BYTES);
		gp_buffers_give(buffer, 0);
		gp_buffers_give(taken[i], 0);
	}
}

static void filled_buffers_come_in_their_order(void **state)
{
	size_t bytes, valid_bytes;
	uint8_t *first = gp_buffers_take(&bytes), *second = gp_buffers_take(&bytes);

	gp_buffers_give(second, 16);
	gp_buffers_give(first, 24);
	assert_ptr_equal(gp_buffers_next(&valid_bytes), second);
	assert_int_equal(valid_bytes, 16);
	/* the buffer is not reused before it is released */
	uint8_t *other = gp_buffers_take(&bytes);

	assert_ptr_not_equal(other, second);
	gp_buffers_give(other, 0);
	gp_buffers_release();
	assert_ptr_equal(gp_buffers_next(&valid_bytes), first);
	gp_buffers_release();
	assert_null(gp_buffers_next(&valid_bytes));
}

#define THREADS     4
#define ROUNDS      200 /* in total fewer than the maximum, so that thread speed does not matter */
#define STAMP_BYTES 64

/* Like CUPTI on many threads: take, fill, and return buffers. */
static void *fill_many(void *number)
{
	for (int i = 0; i < ROUNDS; i++) {
		size_t bytes;
		uint8_t *buffer = gp_buffers_take(&bytes);

		memset(buffer, (int)(intptr_t)number, STAMP_BYTES);
		gp_buffers_give(buffer, STAMP_BYTES);
	}
	return NULL;
}

/* Every buffer arrives exactly once, with the content that its thread wrote. */
static void nothing_is_lost_among_threads(void **state)
{
	pthread_t threads[THREADS];
	unsigned seen[THREADS] = {0};

	for (intptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fill_many, (void *)i), 0);
	for (unsigned total = 0; total < THREADS * ROUNDS;) {
		size_t valid_bytes;
		uint8_t *buffer = gp_buffers_next(&valid_bytes);

		if (buffer == NULL)
			continue;
		assert_int_equal(valid_bytes, STAMP_BYTES);
		for (int i = 1; i < STAMP_BYTES; i++)
			assert_int_equal(buffer[i], buffer[0]);
		seen[buffer[0]]++;
		total++;
		gp_buffers_release();
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(seen[i], ROUNDS);
	}
}

/* ---- the limit ---- */

static uint8_t *taken[LIMIT];

/* Take all buffers, even if some could not be made at first.  All are in use then. */
static void take_all(void)
{
	size_t bytes;

	for (uint32_t i = 0; i < LIMIT; i++) {
		taken[i] = gp_buffers_take(&bytes);
		assert_int_equal(bytes, GP_CUPTI_BUFFER_BYTES);
	}
}

/* CUPTI returned a discard buffer, and its records are counted. */
static void drop(uint8_t *buffer, size_t valid_bytes)
{
	assert_false(gp_buffers_give(buffer, valid_bytes));
	gp_buffers_end_discard(buffer);
}

/* A kernel that never ends holds all buffers: further launches do not wait for it. */
static void records_are_dropped_immediately_if_all_buffers_are_used(void **state)
{
	size_t bytes;
	uint8_t *first, *second;

	take_all();
	wakes = 0;
	first = gp_buffers_take(&bytes);
	assert_true(bytes >= 4096 && bytes < GP_CUPTI_BUFFER_BYTES);
	memset(first, 1, bytes);
	second = gp_buffers_take(&bytes);
	assert_ptr_not_equal(first, second);
	drop(first, 100);
	assert_null(gp_buffers_next(&bytes));
	assert_int_equal(wakes, 0);
	for (uint32_t i = 0; i < LIMIT; i++)
		assert_true(gp_buffers_give(taken[i], 0));
	/* inject/cupti_conflict.h would attribute it to another client */
	assert_true(gp_buffers_are_out());
	drop(second, 0);
	assert_false(gp_buffers_are_out());
}

/* Each of these threads may keep a discard buffer for long. */
static void a_discard_buffer_is_not_used_twice(void **state)
{
	uint8_t *dropped[DROPPED];
	size_t bytes;

	take_all();
	for (uint32_t i = 0; i < DROPPED; i++) {
		dropped[i] = gp_buffers_take(&bytes);
		for (uint32_t j = 0; j < i; j++)
			assert_ptr_not_equal(dropped[i], dropped[j]);
	}
	for (uint32_t i = 0; i < DROPPED; i++)
		drop(dropped[i], 100);
	assert_ptr_equal(gp_buffers_take(&bytes), dropped[0]);
	drop(dropped[0], 0);
	for (uint32_t i = 0; i < LIMIT; i++)
		assert_true(gp_buffers_give(taken[i], 0));
}

/* The decoder runs while the requesting thread sleeps. */
static long empty_one(long number, long a, long b, long c, long d, long e, long f)
{
	size_t valid_bytes;

	if (is_sleep(number, a, b)) {
		assert_int_equal(wakes, 1);
		gp_buffers_next(&valid_bytes);
		gp_buffers_release();
	}
	return real_call(number, a, b, c, d, e, f);
}

static void requests_wait_for_a_lagging_decoder(void **state)
{
	size_t bytes;

	take_all();
	assert_true(gp_buffers_give(taken[5], 64));
	assert_true(gp_buffers_give(taken[6], 64));
	wakes = 0;
	real_call = gp_sys.call;
	gp_sys.call = empty_one;
	assert_ptr_equal(gp_buffers_take(&bytes), taken[5]);
	gp_sys.call = real_call;
	/*
	 * the decoder does not progress: one wait times out, and then there is no further wait
	 * until it does
	 */
	gp_buffers_take(&bytes);
	assert_int_not_equal(bytes, GP_CUPTI_BUFFER_BYTES);
	wakes = 0;
	gp_buffers_take(&bytes);
	assert_int_equal(wakes, 0);
	gp_buffers_next(&bytes);
	gp_buffers_release();
	for (uint32_t i = 0; i < LIMIT; i++)
		if (i != 6)
			assert_true(gp_buffers_give(taken[i], 0));
}

static void requests_do_not_wait_if_waits_are_off(void **state)
{
	size_t bytes;

	take_all();
	assert_true(gp_buffers_give(taken[5], 64));
	/* it keeps the buffers that are there; no further one can be made, but waiting is disabled */
	assert_int_equal(
		gp_buffers_init((uint64_t)LIMIT * GP_CUPTI_BUFFER_BYTES, false, wake_decoder), 0);
	wakes = 0;
	gp_buffers_take(&bytes);
	assert_int_not_equal(bytes, GP_CUPTI_BUFFER_BYTES);
	assert_int_equal(wakes, 0);
	gp_buffers_next(&bytes);
	gp_buffers_release();
	for (uint32_t i = 0; i < LIMIT; i++)
		if (i != 5)
			assert_true(gp_buffers_give(taken[i], 0));
}

static bool is_in_memory(void *page)
{
	unsigned char is_there;

	assert_int_equal(mincore(page, 4096, &is_there), 0);
	return is_there & 1;
}

static void memory_of_a_burst_is_released(void **state)
{
	size_t bytes;
	uint32_t there = 0;

	take_all();
	for (uint32_t i = 0; i < LIMIT; i++) {
		memset(taken[i], 1, GP_CUPTI_BUFFER_BYTES);
		assert_true(gp_buffers_give(taken[i], GP_CUPTI_BUFFER_BYTES));
	}
	for (uint32_t i = 0; i < LIMIT; i++) {
		gp_buffers_next(&bytes);
		gp_buffers_release();
	}
	for (uint32_t i = 0; i < LIMIT; i++)
		there += is_in_memory(taken[i]);
	assert_int_equal(there, GP_BUFFERS_KEPT);
}

/* There is no memory for small buffers: the large ones are free. */
static void large_buffers_serve_if_small_ones_cannot_be_made(void **state)
{
	size_t bytes;

	gp_buffers_use_small();
	take_all();
	for (uint32_t i = 0; i < LIMIT; i++)
		assert_true(gp_buffers_give(taken[i], 0));
	assert_true(gp_buffers_give(gp_buffers_take(&bytes), 0));
	assert_int_equal(bytes, GP_CUPTI_BUFFER_BYTES);
}

/* The last test: from then on there is no decoder. */
static void requests_do_not_wait_without_a_decoder(void **state)
{
	size_t bytes;

	gp_buffers_init((uint64_t)LIMIT * GP_CUPTI_BUFFER_BYTES, true, wake_decoder);
	take_all();
	assert_true(gp_buffers_give(taken[5], 64));
	gp_buffers_set_no_decoder();
	wakes = 0;
	gp_buffers_take(&bytes);
	assert_int_not_equal(bytes, GP_CUPTI_BUFFER_BYTES);
	assert_int_equal(wakes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_are_aligned_and_distinct),
		cmocka_unit_test(without_memory_for_a_while),
		cmocka_unit_test(filled_buffers_come_in_their_order),
		cmocka_unit_test(nothing_is_lost_among_threads),
		cmocka_unit_test(records_are_dropped_immediately_if_all_buffers_are_used),
		cmocka_unit_test(a_discard_buffer_is_not_used_twice),
		cmocka_unit_test(requests_wait_for_a_lagging_decoder),
		cmocka_unit_test(requests_do_not_wait_if_waits_are_off),
		cmocka_unit_test(memory_of_a_burst_is_released),
		cmocka_unit_test(large_buffers_serve_if_small_ones_cannot_be_made),
		cmocka_unit_test(requests_do_not_wait_without_a_decoder),
	};

	return cmocka_run_group_tests(tests, init, NULL);
}
