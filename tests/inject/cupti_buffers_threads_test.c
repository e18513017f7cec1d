/* cupti_buffers with one buffer per thread: its size, and the memory left for other threads. */

#include "tests/unit.h"

#include <pthread.h>

#include "inject/cupti_buffers.h"

/* Large buffers may take half of this: one, beside pages. */
#define MOST_BYTES (2 * (GP_CUPTI_BUFFER_BYTES + 2 * GP_CUPTI_SMALL_BUFFER_BYTES))

struct asked {
	size_t first_bytes, second_bytes, third_bytes;
	uint8_t *first, *second, *third;
};

static void wake_decoder(void)
{
}

static int init(void **state)
{
	gp_buffers_use_per_thread();
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

static void the_first_buffer_of_a_thread_is_small(void **state)
{
	struct asked one = ask_in_a_thread();

	assert_int_equal(one.first_bytes, GP_CUPTI_FIRST_BUFFER_BYTES);
	assert_int_equal(one.second_bytes, GP_CUPTI_BUFFER_BYTES);
	give_both(&one);
}

static void large_buffers_leave_half_to_new_threads(void **state)
{
	struct asked one = ask_in_a_thread(), other = ask_in_a_thread();

	assert_int_equal(one.second_bytes, GP_CUPTI_BUFFER_BYTES);
	assert_int_equal(other.first_bytes, GP_CUPTI_FIRST_BUFFER_BYTES);
	assert_int_equal(other.second_bytes, GP_CUPTI_FIRST_BUFFER_BYTES);
	assert_ptr_not_equal(other.second, one.first);
	assert_ptr_not_equal(other.second, other.first);
	give_both(&one);
	give_both(&other);
}

static void *ask_after_a_flush(void *result)
{
	struct asked *asked = result;

	asked->first = gp_buffers_take(&asked->first_bytes);
	gp_buffers_give(asked->first, GP_CUPTI_FIRST_BUFFER_BYTES / 2);
	asked->second = gp_buffers_take(&asked->second_bytes);
	gp_buffers_give(asked->second, GP_CUPTI_FIRST_BUFFER_BYTES - 100);
	asked->third = gp_buffers_take(&asked->third_bytes);
	return NULL;
}

static void a_buffer_requested_by_a_flush_does_not_count_as_full(void **state)
{
	struct asked asked;
	pthread_t thread;
	size_t valid_bytes;

	assert_int_equal(pthread_create(&thread, NULL, ask_after_a_flush, &asked), 0);
	pthread_join(thread, NULL);
	assert_int_equal(asked.second_bytes, GP_CUPTI_FIRST_BUFFER_BYTES);
	assert_int_equal(asked.third_bytes, GP_CUPTI_BUFFER_BYTES);
	assert_true(gp_buffers_give(asked.third, 0));
	gp_buffers_next(&valid_bytes);
	gp_buffers_release();
	gp_buffers_next(&valid_bytes);
	gp_buffers_release();
	assert_null(gp_buffers_next(&valid_bytes));
}

static void *ask_while_flushing(void *result)
{
	gp_buffers_never_wait_here();
	return ask_twice(result);
}

/*
 * A buffer requested during a flush serves any thread, and each thread may have only one kernel in
 * flight.
 */
static void buffers_requested_by_a_flush_are_small(void **state)
{
	struct asked asked;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, ask_while_flushing, &asked), 0);
	pthread_join(thread, NULL);
	assert_int_equal(asked.first_bytes, GP_CUPTI_FIRST_BUFFER_BYTES);
	assert_int_equal(asked.second_bytes, GP_CUPTI_FIRST_BUFFER_BYTES);
	give_both(&asked);
}

/* Those of later tests, too. */
static void later_buffers_are_small_if_nothing_is_flushed(void **state)
{
	struct asked asked;

	gp_buffers_use_small();
	asked = ask_in_a_thread();
	assert_int_equal(asked.first_bytes, GP_CUPTI_FIRST_BUFFER_BYTES);
	assert_int_equal(asked.second_bytes, GP_CUPTI_SMALL_BUFFER_BYTES);
	give_both(&asked);
}

/* This thread keeps all buffers, until there are no more; then records are dropped. */
static void records_are_dropped_if_all_buffers_are_used(void **state)
{
	static uint8_t *taken[MOST_BYTES / GP_CUPTI_FIRST_BUFFER_BYTES];
	uint32_t count = 0;
	uint64_t bytes_in_all = 0;
	size_t bytes;
	uint8_t *dropped;

	do {
		taken[count] = gp_buffers_take(&bytes);
		bytes_in_all += bytes;
		count++;
	} while (bytes_in_all < MOST_BYTES);
	assert_int_equal(count,
			 2 + (MOST_BYTES - GP_CUPTI_BUFFER_BYTES - GP_CUPTI_SMALL_BUFFER_BYTES) /
					 GP_CUPTI_FIRST_BUFFER_BYTES);
	dropped = gp_buffers_take(&bytes);
	assert_false(gp_buffers_give(dropped, 0));
	gp_buffers_end_discard(dropped);
	for (uint32_t i = 0; i < count; i++)
		assert_true(gp_buffers_give(taken[i], 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_buffer_of_a_thread_is_small),
		cmocka_unit_test(large_buffers_leave_half_to_new_threads),
		cmocka_unit_test(a_buffer_requested_by_a_flush_does_not_count_as_full),
		cmocka_unit_test(buffers_requested_by_a_flush_are_small),
		cmocka_unit_test(later_buffers_are_small_if_nothing_is_flushed),
		cmocka_unit_test(records_are_dropped_if_all_buffers_are_used),
	};

	return cmocka_run_group_tests(tests, init, NULL);
}
