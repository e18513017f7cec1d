#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "report/base/memory.h"
#include "report/base/worker_process.h"
#include "tests/lib/sanitizer.h"
#include "tests/unit.h"

struct task {
	const char *line;
	int times, result;
	bool ends_early;
};

static int say(void *context, FILE *messages)
{
	const struct task *task = context;

	for (int i = 0; i < task->times; i++)
		fputs(task->line, messages);
	fflush(messages);
	if (task->ends_early)
		raise(SIGKILL);
	return task->result;
}

static void check(const struct task *task, int result)
{
	struct gp_worker_process apart = {0};
	size_t length, whole = strlen(task->line);
	char *text = NULL;
	FILE *messages = open_memstream(&text, &length);

	assert_non_null(messages);
	assert_true(gp_worker_process_begin(&apart, say, (void *)task));
	assert_int_equal(gp_worker_process_end(&apart, messages), result);
	assert_int_equal(apart.process, 0);
	assert_int_equal(fclose(messages), 0);
	assert_int_equal(length, whole * (size_t)task->times);
	for (int i = 0; i < task->times; i++)
		assert_memory_equal(text + whole * (size_t)i, task->line, whole);
	free(text);
}

/* Of no message, a short one, and more than a pipe holds. */
static void test_messages_and_result(void **state)
{
	check(&(struct task){.line = "a line\n", .times = 0}, 0);
	check(&(struct task){.line = ".", .times = 1, .result = -ENOSPC}, -ENOSPC);
	check(&(struct task){.line = "a line\n", .times = 40000, .result = -EIO}, -EIO);
}

/* What it had said comes through, even if that is as long as its end would be. */
static void test_process_that_is_ended(void **state)
{
	check(&(struct task){.line = ".", .times = 0, .ends_early = true}, -ECANCELED);
	check(&(struct task){.line = ".", .times = 1, .ends_early = true}, -ECANCELED);
	check(&(struct task){.line = "..", .times = 1, .ends_early = true}, -ECANCELED);
	check(&(struct task){.line = "a line\n", .times = 2000, .ends_early = true}, -ECANCELED);
}

/* Where the work was done is another process: what it changes is not changed here. */
static int change(void *context, FILE *messages)
{
	(void)messages;
	*(int *)context = 2;
	return 0;
}

static void test_work_is_apart(void **state)
{
	struct gp_worker_process apart = {0};
	int number = 1;

	assert_true(gp_worker_process_begin(&apart, change, &number));
	assert_int_equal(gp_worker_process_end(&apart, stderr), 0);
	assert_int_equal(number, 1);
}

/* In an isolated child: the numbers of its open files, "null" for those that lead nowhere. */
static void say_files(int to)
{
	struct stat null, found;
	char text[64] = "";

	(void)stat("/dev/null", &null);
	for (int fd = 0; fd < 64; fd++)
		if (fstat(fd, &found) == 0)
			snprintf(text + strlen(text), 9, "%d%s ", fd,
				 found.st_rdev == null.st_rdev ? " null" : "");
	(void)write(to, text, strlen(text));
}

/* It has the two files in their order, which is not that of their descriptors; or one. */
static void test_files_of_an_isolated_child(void **state)
{
	static const char *const expected[] = {"0 null 1 null 2 null 3 ",
					       "0 null 1 null 2 null 3 4 "};
	char text[64] = "";
	int ends[2], other[2];

	for (int two = 0; two < 2; two++) {
		pid_t parent = getpid(), child;

		assert_int_equal(pipe(other), 0);
		assert_int_equal(pipe(ends), 0);
		child = fork();
		if (child == 0) {
			if (gp_isolate_child(parent, ends[1], two ? other[1] : -1))
				say_files(GP_CHILD_FILE);
			_exit(0);
		}
		assert_int_equal(waitpid(child, NULL, 0), child);
		close(ends[1]);
		assert_int_equal(read(ends[0], text, sizeof(text)), strlen(expected[two]));
		assert_memory_equal(text, expected[two], strlen(expected[two]));
	}
}

static int told[2];

static void tell(void)
{
	(void)!write(told[1], "!", 1);
}

static volatile size_t too_many_bytes = SIZE_MAX / 2;

static int take_too_much(void *context, FILE *messages)
{
	(void)context;
	(void)messages;
	return malloc(too_many_bytes) ? 0 : -EIO;
}

/* What the parent does before it ends is not for the worker. */
static void test_worker_without_memory(void **state)
{
	struct gp_worker_process worker;
	char byte;

	if (UNDER_ASAN || UNDER_TSAN) /* their malloc() ends the program at once */
		skip();
	assert_int_equal(pipe(told), 0);
	gp_memory_add_last_act(tell);
	assert_true(gp_worker_process_begin(&worker, take_too_much, NULL));
	assert_int_equal(gp_worker_process_end(&worker, stderr), -ENOMEM);
	gp_memory_remove_last_act(tell);
	close(told[1]);
	assert_int_equal(read(told[0], &byte, 1), 0);
	close(told[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_and_result),
		cmocka_unit_test(test_process_that_is_ended),
		cmocka_unit_test(test_work_is_apart),
		cmocka_unit_test(test_files_of_an_isolated_child),
		cmocka_unit_test(test_worker_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
