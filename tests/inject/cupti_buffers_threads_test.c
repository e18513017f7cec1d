/* cupti_buffers, where each thread has a buffer of its own: what size it gets, and what is left for others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "inject/cupti_buffers.h"

/* Of this, large ones take half at most: one, beside the first four pages. */
#define MOST_BYTES (4u * GP_CUPTI_BUFFER_BYTES)

struct asked {
	size_t first_bytes, second_bytes;
	uint8_t *first, *second;
};

static void wake_decoder(void)
{
}

static int init(void **state)
{
	(void)state;
	gp_buffers_be_per_thread();
	return gp_buffers_init(MOST_BYTES, false, wake_decoder);
}

static void *ask_twice(void *result)
{
	struct asked *asked = result;

	asked->first = gp_buffers_take(&asked->first_bytes);
	asked->second = gp_buffers_take(&asked->second_bytes);
	return NULL;
}

static struct asked ask_in_a_thread(void)
{
	struct asked asked;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, ask_twice, &asked), 0);
	pthread_join(thread, NULL);
	return asked;
}

static void give_both(const struct asked *asked)
{
	assert_true(gp_buffers_give(asked->first, 0));
	assert_true(gp_buffers_give(asked->second, 0));
}

static void a_threads_first_is_small_and_large_once_it_fills_them(void **state)
{
	struct asked one = ask_in_a_thread();

	(void)state;
	assert_int_equal(one.first_bytes, GP_CUPTI_FIRST_BUFFER_BYTES);
	assert_int_equal(one.second_bytes, GP_CUPTI_BUFFER_BYTES);
	give_both(&one);
}

static void large_ones_leave_half_to_further_threads(void **state)
{
	struct asked one = ask_in_a_thread(), other = ask_in_a_thread();

	(void)state;
	assert_int_equal(one.second_bytes, GP_CUPTI_BUFFER_BYTES);
	assert_int_equal(other.first_bytes, GP_CUPTI_FIRST_BUFFER_BYTES);
	assert_int_equal(other.second_bytes, GP_CUPTI_FIRST_BUFFER_BYTES);
	assert_ptr_not_equal(other.second, one.first);
	assert_ptr_not_equal(other.second, other.first);
	give_both(&one);
	give_both(&other);
}

static void *ask_while_flushing(void *result)
{
	gp_buffers_never_wait_here();
	return ask_twice(result);
}

static void what_is_asked_for_while_flushing_is_large(void **state)
{
	struct asked asked, one = ask_in_a_thread();
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, ask_while_flushing, &asked), 0);
	pthread_join(thread, NULL);
	assert_int_equal(asked.first_bytes, GP_CUPTI_BUFFER_BYTES);
	assert_int_equal(asked.second_bytes, GP_CUPTI_BUFFER_BYTES);
	give_both(&one);
	give_both(&asked);
}

/* The pages that fit beside what the tests before have made are asked for, then the large ones are given, then none is left. */
static void where_there_is_no_room_another_size_is_given_and_then_none(void **state)
{
	static uint8_t *taken[MOST_BYTES / GP_CUPTI_FIRST_BUFFER_BYTES];
	uint32_t count = 0, large = 0;
	struct asked last = ask_in_a_thread();

	(void)state;
	while (gp_buffers_give(last.first, 0) && gp_buffers_give(last.second, 0)) {
		size_t bytes;

		taken[count] = gp_buffers_take(&bytes);
		large += bytes == GP_CUPTI_BUFFER_BYTES;
		count++;
		last = ask_in_a_thread();
	}
	assert_int_equal(large, 3);
	for (uint32_t i = 0; i < count; i++)
		assert_true(gp_buffers_give(taken[i], 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_threads_first_is_small_and_large_once_it_fills_them),
		cmocka_unit_test(large_ones_leave_half_to_further_threads),
		cmocka_unit_test(what_is_asked_for_while_flushing_is_large),
		cmocka_unit_test(where_there_is_no_room_another_size_is_given_and_then_none),
	};

	return cmocka_run_group_tests(tests, init, NULL);
}
