/*
 * child_env: the variables added to an environment that would lose the library, and the cases
 * without a change.
 */
#include "tests/unit.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject/child_env.h"
#include "inject/options.h"

#define OWN "/opt/gp/preload/$LIB/libgpuprof.so"

/* The remembered environment is permanent, so each case has its own process. */
static void in_child(void (*check)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		check();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void want(bool condition)
{
	if (!condition)
		_exit(1);
}

static void remember(char *const *environment)
{
	gp_options_read(environment);
	gp_child_env_remember(environment);
}

static bool has(char *const *environment, const char *variable)
{
	for (; *environment != NULL; environment++)
		if (strcmp(*environment, variable) == 0)
			return true;
	return false;
}

static char *const launched[] = {"LD_PRELOAD=/other.so:" OWN " /more.so",
				 "HOME=/root",
				 "GPUPROF_OUTPUT=/tmp/%p",
				 "GPUPROF_SESSION=/run/s",
				 "ASAN_OPTIONS=a=1:verify_asan_link_order=0",
				 NULL};

static void add_to_an_empty_one(void)
{
	char *const nothing[] = {NULL};
	char *with[16];

	remember(launched);
	want(gp_child_env_applies(nothing) && gp_child_env_applies(NULL));
	want(gp_child_env_size(nothing) <= 16);
	gp_child_env_fill(nothing, with, NULL);
	/* only our own entry: the others belong to the program */
	want(has(with, "LD_PRELOAD=" OWN));
	want(has(with, "GPUPROF_OUTPUT=/tmp/%p") && has(with, "GPUPROF_SESSION=/run/s"));
	want(has(with, "ASAN_OPTIONS=verify_asan_link_order=0") && !has(with, "HOME=/root"));
	gp_child_env_fill(NULL, with, NULL);
	want(gp_child_env_size(NULL) <= 16 && has(with, "LD_PRELOAD=" OWN));
}

static void keep_what_is_there(void)
{
	char *const own[] = {"A=b", "GPUPROF_OUTPUT=mine", NULL};
	char *with[16];

	remember(launched);
	want(gp_child_env_applies(own) && gp_child_env_size(own) <= 16);
	gp_child_env_fill(own, with, NULL);
	want(has(with, "A=b") && has(with, "GPUPROF_OUTPUT=mine"));
	want(!has(with, "GPUPROF_OUTPUT=/tmp/%p"));
}

/* As a start script does for an allocator. */
static void append_to_a_preload_of_the_program(void)
{
	char *const other[] = {"A=b", "LD_PRELOAD=/x.so /y.so", NULL};
	char *with[16], preload[128];

	remember(launched);
	want(gp_child_env_applies(other) && gp_child_env_size(other) <= 16);
	want(gp_child_env_preload_bytes(other) == sizeof("LD_PRELOAD=/x.so /y.so:" OWN));
	gp_child_env_fill(other, with, preload);
	want(has(with, "LD_PRELOAD=/x.so /y.so:" OWN) && has(with, "A=b"));
	want(has(with, "GPUPROF_SESSION=/run/s") && !has(with, "LD_PRELOAD=" OWN));
}

/* It loads the library already, or it was emptied in order not to load it. */
static void leave_one_with_or_without_the_library(void)
{
	static char large[1 << 15] = "LD_PRELOAD=";
	char *const emptied[] = {"LD_PRELOAD=", NULL}, *const too_large[] = {large, NULL};
	char *const elsewhere[] = {"LD_PRELOAD=/a.so:/copy/libgpuprof.so", NULL};

	memset(large + strlen(large), 'x', sizeof(large) - strlen(large) - 1);
	remember(launched);
	want(!gp_child_env_applies(emptied) && !gp_child_env_applies(launched));
	want(!gp_child_env_applies(elsewhere) && !gp_child_env_applies(too_large));
}

/* gcc's address sanitizer would end a program with a preloaded library. */
static void leave_one_whose_sanitizer_would_object(void)
{
	char *const asan[] = {"ASAN_OPTIONS=detect_leaks=0", NULL};

	remember(launched);
	want(!gp_child_env_applies(asan));
}

/* Programs for musl, or of 32 bits, would not start. */
static void leave_all_where_we_are_no_loader_path(void)
{
	char *const bare[] = {"LD_PRELOAD=/opt/gp/libgpuprof.so", NULL}, *const nothing[] = {NULL};

	remember(bare);
	want(!gp_child_env_applies(nothing));
}

static void leave_all_with_follow_inherited(void)
{
	char *const told[] = {"LD_PRELOAD=" OWN, "GPUPROF_FOLLOW=inherited", NULL};
	char *const nothing[] = {NULL};

	remember(told);
	want(!gp_child_env_applies(nothing));
}

static void leave_a_very_large_one(void)
{
	static char *large[GP_CHILD_ENV_VARIABLES + 1];

	remember(launched);
	for (int i = 0; i < GP_CHILD_ENV_VARIABLES; i++)
		large[i] = "X=1";
	want(gp_child_env_size(large) == 0);
	large[GP_CHILD_ENV_VARIABLES / 2] = NULL;
	want(gp_child_env_size(large) > GP_CHILD_ENV_VARIABLES / 2);
}

#define CASE(name)                                                                                 \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		in_child(name);                                                                    \
	}
CASE(add_to_an_empty_one)
CASE(keep_what_is_there)
CASE(append_to_a_preload_of_the_program)
CASE(leave_one_with_or_without_the_library)
CASE(leave_one_whose_sanitizer_would_object)
CASE(leave_all_where_we_are_no_loader_path)
CASE(leave_all_with_follow_inherited)
CASE(leave_a_very_large_one)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add_to_an_empty_one),
		cmocka_unit_test(test_keep_what_is_there),
		cmocka_unit_test(test_append_to_a_preload_of_the_program),
		cmocka_unit_test(test_leave_one_with_or_without_the_library),
		cmocka_unit_test(test_leave_one_whose_sanitizer_would_object),
		cmocka_unit_test(test_leave_all_where_we_are_no_loader_path),
		cmocka_unit_test(test_leave_all_with_follow_inherited),
		cmocka_unit_test(test_leave_a_very_large_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
