/* process_info: the name of a program. */
#include "tests/collector/harness.h"

#include "collector/process_info.h"

#define NAME(expected, file, command)                                                              \
	{                                                                                          \
		expected, file, command, sizeof(command)                                           \
	}

static const struct {
	const char *expected, *file, *command;
	size_t command_bytes;
} names[] = {
	NAME("app", "/home/u/app", "./app\0--fast"),
	NAME("app", "/home/u/app (deleted)", "./app"),
	NAME("sim", "/usr/bin/python3.11", "python\0sim.py"),
	NAME("sim", "/usr/bin/python3.11", "python3\0-u\0/home/u/my dir/sim.py\0-c\0x"),
	NAME("train.pyc", "/usr/bin/python3", "python3\0train.pyc"),
	NAME("train", "/usr/bin/python3", "python3\0-X\0dev\0-W\0ignore\0-Wonce\0train.py"),
	NAME("package", "/usr/bin/python3", "python3\0work/package/"),
	NAME("torch.distributed.run", "/usr/bin/python3.12",
	     "python\0-m\0torch.distributed.run\0train.py"),
	NAME("pytest", "/usr/bin/python3.12", "python\0-um\0pytest"),
	NAME("json.tool", "/usr/bin/python3.12", "python\0-mjson.tool"),
	NAME("python3.12", "/usr/bin/python3.12", "python\0-c\0import x\0y.py"),
	NAME("python3.12", "/usr/bin/python3.12", "python\0-Ic\0import x"),
	NAME("python3.12", "/usr/bin/python3.12", "python"),
	NAME("python3.12", "/usr/bin/python3.12", "python\0-"),
	NAME("python3.12", "/usr/bin/python3.12", "python\0-m"),
	NAME("script", "/usr/bin/python3.12", "python\0--\0script.py"),
	NAME(".py", "/usr/bin/python3.12", "python\0.py"),
	NAME("pythonic", "/usr/bin/pythonic", "pythonic\0sim.py"),
	NAME("run.sh", "/usr/bin/bash", "/bin/bash\0-eu\0-o\0pipefail\0./run.sh\0arg"),
	NAME("bash", "/usr/bin/bash", "bash\0-c\0./run.sh"),
	NAME("tool.pl", "/usr/bin/perl", "perl\0-w\0-MPOSIX\0-I\0lib\0tool.pl"),
	NAME("perl", "/usr/bin/perl", "perl\0-ne\0print"),
	NAME("server.js", "/usr/bin/node", "node\0--inspect\0server.js"),
	NAME("python3", "/usr/bin/python3", ""),
};

static void programs_and_scripts(void **unused)
{
	char name[64];

	(void)unused;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int length = gp_process_info_program_of(names[i].file, names[i].command,
							names[i].command_bytes, name, sizeof(name));

		assert_string_equal(name, names[i].expected);
		assert_int_equal(length, strlen(name));
	}
}

static void a_small_buffer_is_enough(void **unused)
{
	char name[4];

	(void)unused;
	assert_int_equal(
		gp_process_info_program_of("/bin/sleeper", "sleeper", 8, name, sizeof(name)), 3);
	assert_string_equal(name, "sle");
}

/* The name comes from the program file, not from argv[0]. */
static void this_program(void **unused)
{
	char name[64], other_name[] = "started-as";

	(void)unused;
	program_invocation_name = program_invocation_short_name = other_name;
	gp_process_info_program(name, sizeof(name));
	assert_string_equal(name, "process_info_test");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_and_scripts),
		cmocka_unit_test(a_small_buffer_is_enough),
		cmocka_unit_test(this_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
