/* What a report that is published does not have: home folders, users, hosts, folders of theirs. */
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/doctor/personal.h"

static void assert_masked(const struct gp_personal *personal, const char *text,
			  const char *expected)
{
	char *masked = gp_personal_mask(personal, text);

	assert_string_equal(masked, expected);
	free(masked);
}

static void test_names_and_paths(void **state)
{
	static const struct gp_personal ada = {
		.homes = {"/home/ada", "/nfs/a d a"},
		.users = {"ada", "ada_l", "root"},
		.host = "box",
		.folder = "/home/ada/work",
	};
	static const char *const cases[][2] = {
		{"", ""},
		{"(/home/ada/lib/libcupti.so.13)", "(~/lib/libcupti.so.13)"},
		{"/home/ada", "~"},
		{"/home/adam/x", ".../x"},
		{"/nfs/a d a/.local/bin", "~/.local/bin"},
		{"traces go to /home/ada/work, with 9GiB left", "traces go to ., with 9GiB left"},
		{"LD_LIBRARY_PATH=/home/ada/work/sim:/scratch/secret/lib gpuprof-run ./app",
		 "LD_LIBRARY_PATH=./sim:.../lib gpuprof-run ./app"},
		{"-L/home/ada/x -L/lib", "-L~/x -L/lib"},
		{"/usr/lib/libcuda.so.1 /opt/ada/x /tmp/ada-1",
		 "/usr/lib/libcuda.so.1 /opt/USER/x /tmp/USER-1"},
		{"'/data/a b/ada' \"/data/c\"", "'.../USER' \".../c\""},
		{"on box: adapter, ada, ada_l, box2", "on HOST: adapter, USER, USER, box2"},
		{"root owns / and /", "root owns / and /"},
		{"https://ada.example/x $HOME/x ./x ~/x", "https://USER.example/x $HOME/x ./x ~/x"},
		{"/data/", ".../"},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_masked(&ada, cases[i][0], cases[i][1]);
}

/* As in a container: the root folder is home and current, and root the user. */
static void test_names_that_say_nothing(void **state)
{
	static const struct gp_personal nobody = {.homes = {"/", NULL},
						  .users = {"root", "", NULL},
						  .host = "localhost",
						  .folder = "/"};

	assert_masked(&nobody, "root on localhost: /usr/bin/x /app/x",
		      "root on localhost: /usr/bin/x .../x");
}

static void test_of_this_process(void **state)
{
	struct gp_personal personal;
	char text[3 * PATH_MAX], folder[PATH_MAX];

	setenv("HOME", "/home/of test", 1);
	setenv("USER", "userOfTest", 1);
	assert_non_null(getcwd(folder, sizeof(folder)));
	gp_personal_find(&personal);
	snprintf(text, sizeof(text), "%s/x /home/of test/y userOfTest %s", folder,
		 personal.machine.nodename);
	assert_masked(&personal, text, "./x ~/y USER HOST");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_paths),
		cmocka_unit_test(test_names_that_say_nothing),
		cmocka_unit_test(test_of_this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
