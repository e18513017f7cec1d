/* Ends for lack of memory, last acts, and attempts. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "report/base/memory.h"
#include "report/base/spill_memory.h"
#include "tests/lib/sanitizer.h"
#include "tests/unit.h"

static volatile size_t too_many_bytes = SIZE_MAX / 2;
static int from_child[2];

static void say_first(void)
{
	(void)!write(from_child[1], "1", 1);
}

static void say_second(void)
{
	(void)!write(from_child[1], "2", 1);
}

static void allocate_again(void)
{
	free(malloc(too_many_bytes));
}

static void *take(void)
{
	return malloc(too_many_bytes);
}

static void *take_zeroed(void)
{
	return calloc(too_many_bytes, 4);
}

static void *take_spill(void)
{
	return gp_spill_take(too_many_bytes);
}

static void *take_zeroed_spill(void)
{
	return gp_spill_take_zeroed(too_many_bytes, 4);
}

/* The exit status of a process that takes so much; what its acts say and it prints is in `said`. */
static int end(void *(*take_it)(void), void (*act)(void), char said[512])
{
	ssize_t length = 0, taken;
	pid_t child;
	int status;

	assert_int_equal(pipe(from_child), 0);
	child = fork();
	if (child == 0) {
		dup2(from_child[1], STDERR_FILENO);
		gp_memory_add_last_act(act);
		free(take_it());
		_exit(99);
	}
	close(from_child[1]);
	while ((taken = read(from_child[0], said + length, (size_t)(511 - length))) > 0)
		length += taken;
	said[length] = '\0';
	close(from_child[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_each_function_ends_the_program(void **state)
{
	void *(*const takes[])(void) = {take, take_zeroed, take_spill, take_zeroed_spill};
	char said[512];

	for (size_t i = 0; i < sizeof(takes) / sizeof(takes[0]); i++) {
		assert_int_equal(end(takes[i], say_first, said), 1);
		assert_memory_equal(said, "1gpuprof: out of memory", 23);
		assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
	}
}

static void test_last_acts(void **state)
{
	char said[512];

	gp_memory_add_last_act(say_first);
	assert_int_equal(end(take, say_second, said), 1);
	assert_memory_equal(said, "21gpuprof", 9);
	gp_memory_add_last_act(say_second);
	gp_memory_remove_last_act(say_first);
	gp_memory_set_exit_status(7);
	assert_int_equal(end(take, say_second, said), 7);
	assert_memory_equal(said, "22gpuprof", 9);
	assert_int_equal(end(take, allocate_again, said), 7);
	assert_string_equal(said, "");
	gp_memory_forget_last_acts();
	assert_int_equal(end(take, say_first, said), 7);
	assert_memory_equal(said, "1gpuprof", 8);
	gp_memory_set_exit_status(1);
}

static void test_attempts(void **state)
{
	void *block;

	gp_memory_begin_attempt();
	assert_null(take());
	assert_false(gp_memory_end_attempt());
	gp_memory_begin_attempt();
	block = malloc(20);
	assert_non_null(block);
	assert_null(gp_memory_try_resize(NULL, too_many_bytes));
	assert_true(gp_memory_end_attempt());
	assert_null(realloc(block, 0)); /* frees it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_function_ends_the_program),
		cmocka_unit_test(test_last_acts),
		cmocka_unit_test(test_attempts),
	};

	if (UNDER_ASAN || UNDER_TSAN) {
		puts("skipped: a sanitizer has malloc() for itself");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
