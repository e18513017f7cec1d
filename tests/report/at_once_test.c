/* at_once: each thing is done once, at the same time where there are cores, and the first failure in their order is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

#include "report/at_once.h"
#include "report/cores.h"

#define MANY 40u /* more than there are threads */

static int count_one(void *context)
{
	++*(int *)context;
	return 0;
}

static void test_each_is_done_once(void **state)
{
	struct gp_task tasks[MANY];
	int done[MANY] = {0};

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		tasks[i] = (struct gp_task){count_one, &done[i], -1};
	assert_int_equal(gp_at_once(tasks, MANY), 0);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(done[i], 1);
	assert_int_equal(gp_at_once(tasks, 0), 0);
}

static int meet(void *context)
{
	int result = pthread_barrier_wait(context);

	return result == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : -result;
}

/* They meet, which they could not one after the other. */
static void test_they_are_done_at_once(void **state)
{
	pthread_barrier_t barrier;
	struct gp_task tasks[] = {{meet, &barrier, 0}, {meet, &barrier, 0}, {meet, &barrier, 0}};
	struct rlimit before, limit;

	(void)state;
	if (gp_cores() < 2)
		skip();
	assert_int_equal(pthread_barrier_init(&barrier, NULL, 3), 0);
	assert_int_equal(gp_at_once(tasks, 3), 0);
	/* under the limit that a trace is loaded under, too */
	assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
	limit = (struct rlimit){.rlim_cur = 4 * GP_AT_ONCE_LEAST_BYTES,
				.rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
	assert_int_equal(gp_at_once(tasks, 3), 0);
	assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
	pthread_barrier_destroy(&barrier);
}

static int give(void *context)
{
	return *(int *)context;
}

static void test_the_first_failure_is_told(void **state)
{
	int none = 0, first = -EIO, second = -ENOMEM;
	struct gp_task tasks[] = {
		{give, &none, 0}, {give, &first, 0}, {give, &second, 0}, {give, &none, 0}};

	(void)state;
	assert_int_equal(gp_at_once(tasks, 4), -EIO);
}

static int add_self(void *context)
{
	*(pthread_t *)context = pthread_self();
	return 0;
}

/* The stacks of threads would take what there is. */
static void test_where_memory_is_limited_no_thread_is_made(void **state)
{
	pthread_t threads[2] = {0};
	struct gp_task tasks[] = {{add_self, &threads[0], 0}, {add_self, &threads[1], 0}};
	struct rlimit before, limit;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
	limit = (struct rlimit){.rlim_cur = GP_AT_ONCE_LEAST_BYTES - 1,
				.rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
	assert_int_equal(gp_at_once(tasks, 2), 0);
	assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
	assert_true(pthread_equal(threads[0], pthread_self()));
	assert_true(pthread_equal(threads[1], pthread_self()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_is_done_once),
		cmocka_unit_test(test_they_are_done_at_once),
		cmocka_unit_test(test_the_first_failure_is_told),
		cmocka_unit_test(test_where_memory_is_limited_no_thread_is_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
