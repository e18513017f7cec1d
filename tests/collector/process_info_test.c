/* process_info: the name of a program. */
#include "tests/collector/harness.h"

#include "collector/process_info.h"
#include "gpuprof/job_place.h"

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

static void check_place(const char *rank, const char *world_size, const char *local_rank,
			const char *job)
{
	struct gp_job_place place = gp_job_place();
	const char *const found[] = {place.rank, place.world_size, place.local_rank, place.job};
	const char *const expected[] = {rank, world_size, local_rank, job};

	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(found[i] != NULL, expected[i] != NULL);
		if (found[i] != NULL)
			assert_string_equal(found[i], expected[i]);
	}
}

static void the_place_in_a_job(void **unused)
{
	(void)unused;
	clearenv();
	check_place(NULL, NULL, NULL, NULL);
	setenv("SLURM_PROCID", "1", 1); /* srun, one task a node */
	setenv("SLURM_STEP_NUM_TASKS", "2", 1);
	setenv("SLURM_LOCALID", "0", 1);
	setenv("SLURM_JOB_ID", "77", 1);
	check_place(NULL, NULL, NULL, "77"); /* the script of sbatch, not of srun */
	setenv("SLURM_STEP_ID", "0", 1);
	check_place("1", "2", "0", "77");
	setenv("PMIX_RANK", "1", 1); /* the same rank: the size is known from Slurm */
	check_place("1", "2", "0", "77");
	setenv("RANK", "11", 1); /* torchrun, started by srun: Slurm's size is that of the nodes */
	setenv("LOCAL_RANK", "3", 1);
	check_place("11", NULL, "3", "77");
	setenv("WORLD_SIZE", "16", 1);
	check_place("11", "16", "3", "77");
	setenv("RANK", "", 1);
	setenv("PMIX_RANK", "", 1);
	check_place("1", "2", "0", "77");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_and_scripts),
		cmocka_unit_test(a_small_buffer_is_enough),
		cmocka_unit_test(this_program),
		cmocka_unit_test(the_place_in_a_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
