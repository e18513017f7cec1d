/* init: the driver, NVTX or our constructor may come first.  The process is prepared once. */
#include "tests/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>

#include "inject/init.c"

#define COMES_FIRST "INIT_TEST_COMES_FIRST"

/* ---- before our constructor: in a separate process, which exits with the result ---- */

static bool was_prepared_early, was_told_early;

static const void *get_no_table(uint32_t table)
{
	(void)table;
	return NULL;
}

/* Like the constructor of a library that the program needs. */
__attribute__((constructor(101))) static void come_first(void)
{
	const char *comer = getenv(COMES_FIRST);

	if (comer != NULL && strcmp(comer, "driver") == 0)
		InitializeInjection();
	if (comer != NULL && strcmp(comer, "nvtx") == 0)
		InitializeInjectionNvtx2(get_no_table);
	was_prepared_early = gp_load32(&preparation.is_over) != 0;
	was_told_early = getenv(GP_INJECTION_CUDA) != NULL;
}

static int found_early(void)
{
	return (was_prepared_early ? 1 : 0) + (was_told_early ? 2 : 0) +
	       (constructed == gp_sys_process_id() ? 4 : 0) +
	       (gp_load32(&start.thread) != 0 ? 8 : 0);
}

static int run_with_first(const char *comer)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		unsetenv(GP_INJECTION_CUDA);
		setenv(COMES_FIRST, comer, 1);
		setenv("GPUPROF_QUIET", "1", 1);
		execl("/proc/self/exe", "init_test", (char *)NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void every_entry_point_finds_the_process_prepared(void **state)
{
	assert_int_equal(run_with_first("nobody"), 4);
	assert_int_equal(run_with_first("driver"), 1 + 2 + 4 + 8);
	assert_int_equal(run_with_first("nvtx"), 1 + 2 + 4);
}

/* ---- steps that run once ---- */

static struct step slow;

static void *do_it_slowly(void *unused)
{
	if (begin_step(&slow)) {
		await_step(&slow); /* the step's own thread does not wait for itself */
		usleep(200000);
		end_step(&slow);
	}
	return unused;
}

static void others_wait_until_it_is_done(void **state)
{
	uint64_t start_ns = gp_sys_now_ns();
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, do_it_slowly, NULL), 0);
	while (gp_load32(&slow.thread) == 0)
		usleep(1000);
	assert_false(begin_step(&slow));
	await_step(&slow);
	assert_int_equal(slow.is_over, 1);
	assert_true(gp_sys_now_ns() - start_ns >= 190000000);
	assert_true(gp_sys_now_ns() - start_ns < START_MOST_NS);
	pthread_join(thread, NULL);
}

/* As in a child that another thread forked meanwhile. */
static void waits_are_bounded(void **state)
{
	struct step lost = {.thread = gp_sys_thread_id() + 1};
	uint64_t start_ns = gp_sys_now_ns();

	await_step(&lost);
	assert_true(gp_sys_now_ns() - start_ns >= START_MOST_NS);
	assert_int_equal(lost.is_over, 1);
	start_ns = gp_sys_now_ns();
	await_step(&lost);
	assert_true(gp_sys_now_ns() - start_ns < START_MOST_NS);
}

/* ---- ends ---- */

static int status_of_end(void (*end)(int), int value)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0)
		end(value);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void ends_keep_their_status(void **state)
{
	assert_int_equal(status_of_end(_exit, 7), 7);
	assert_int_equal(status_of_end(_Exit, 8), 8);
	assert_int_equal(status_of_end(_exit, 0), 0);
}

static void a_program_without_cuda_is_detected(void **state)
{
	assert_false(is_driver_loaded());
	assert_int_equal(query_driver(), CUDA_ERROR_NOT_INITIALIZED);
	assert_false(is_cuda_started());
	assert_false(was_cuda_started());
}

static void the_variable_names_this_library_or_another(void **state)
{
	assert_true(is_injected()); /* set by our constructor */
	setenv(GP_INJECTION_CUDA, "/lib/other.so", 1);
	assert_false(is_injected());
	unsetenv(GP_INJECTION_CUDA);
	assert_false(is_injected());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_entry_point_finds_the_process_prepared),
		cmocka_unit_test(others_wait_until_it_is_done),
		cmocka_unit_test(waits_are_bounded),
		cmocka_unit_test(ends_keep_their_status),
		cmocka_unit_test(a_program_without_cuda_is_detected),
		cmocka_unit_test(the_variable_names_this_library_or_another),
	};

	if (getenv(COMES_FIRST) != NULL)
		return found_early();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
