/*
 * parallel: each task runs once, in parallel if there are cores, and the result is the first failure
 * in the order of the tasks.
 */
#include "tests/unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "report/base/parallel.h"
#include "tests/lib/emulated.h"
#include "tests/lib/sanitizer.h"

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

	for (uint32_t i = 0; i < MANY; i++)
		tasks[i] = (struct gp_task){count_one, &done[i], -1};
	assert_int_equal(gp_run_parallel(tasks, MANY), 0);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(done[i], 1);
	assert_int_equal(gp_run_parallel(tasks, 0), 0);
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

	if (gp_core_count() < 2)
		skip();
	assert_int_equal(pthread_barrier_init(&barrier, NULL, 3), 0);
	assert_int_equal(gp_run_parallel(tasks, 3), 0);
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

	assert_int_equal(gp_run_parallel(tasks, 4), -EIO);
}

static int add_self(void *context)
{
	*(pthread_t *)context = pthread_self();
	return 0;
}

/* Whether two things are done by one thread, where the process may have so much. */
static bool is_one_thread_under(rlim_t bytes)
{
	pthread_t threads[2] = {0};
	struct gp_task tasks[] = {{add_self, &threads[0], 0}, {add_self, &threads[1], 0}};
	struct rlimit before, limit;

	assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
	limit = (struct rlimit){.rlim_cur = bytes, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
	assert_int_equal(gp_run_parallel(tasks, 2), 0);
	assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
	assert_true(pthread_equal(threads[1], pthread_self()));
	return pthread_equal(threads[0], threads[1]);
}

/*
 * The stacks of threads would take what there is; but every trace is loaded under a limit, of what
 * the machine has left.
 */
static void test_where_memory_is_limited_no_thread_is_made(void **state)
{
	/* whose own memory is beyond any such limit */
	if (UNDER_ASAN || UNDER_TSAN || is_emulated(EMULATED_LIMITS))
		skip();
	assert_true(is_one_thread_under(GP_PARALLEL_LEAST_BYTES - 1));
	assert_int_equal(is_one_thread_under(4 * GP_PARALLEL_LEAST_BYTES), gp_core_count() < 2);
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
