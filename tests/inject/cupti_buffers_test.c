/* cupti_buffers: who owns a buffer when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "inject/cupti_buffers.h"

static int init(void **state)
{
	(void)state;
	return gp_buffers_init();
}

static void buffers_are_aligned_and_distinct(void **state)
{
	uint8_t *taken[10];
	size_t bytes, valid_bytes;

	(void)state;
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
	assert_null(gp_buffers_next(&valid_bytes)); /* empty ones need no decoding */
}

static void filled_buffers_come_in_their_order(void **state)
{
	size_t bytes, valid_bytes;
	uint8_t *first = gp_buffers_take(&bytes), *second = gp_buffers_take(&bytes);

	(void)state;
	gp_buffers_give(second, 16);
	gp_buffers_give(first, 24);
	assert_ptr_equal(gp_buffers_next(&valid_bytes), second);
	assert_int_equal(valid_bytes, 16);
	/* it is not given out again before it is released */
	uint8_t *other = gp_buffers_take(&bytes);

	assert_ptr_not_equal(other, second);
	gp_buffers_give(other, 0);
	gp_buffers_release(second);
	assert_ptr_equal(gp_buffers_next(&valid_bytes), first);
	gp_buffers_release(first);
	assert_null(gp_buffers_next(&valid_bytes));
}

#define THREADS 4
#define ROUNDS                                                                                     \
	200 /* in all fewer than there can be buffers: a test must not depend on who is faster */
#define STAMP_BYTES 64

/* Like CUPTI on many threads: take, fill, give back. */
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

/* Every buffer comes exactly once, and with what its thread wrote in it. */
static void nothing_is_lost_among_threads(void **state)
{
	pthread_t threads[THREADS];
	unsigned seen[THREADS] = {0};

	(void)state;
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
		gp_buffers_release(buffer);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(seen[i], ROUNDS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_are_aligned_and_distinct),
		cmocka_unit_test(filled_buffers_come_in_their_order),
		cmocka_unit_test(nothing_is_lost_among_threads),
	};

	return cmocka_run_group_tests(tests, init, NULL);
}
