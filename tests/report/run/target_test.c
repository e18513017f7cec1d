#include "tests/unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/run/target.h"
#include "tests/lib/emulated.h"
#include "tests/lib/temporary.h"

static char folder[] = "/tmp/gpuprof-target-test-XXXXXX";

static int enter_folder(void **state)
{
	return temporary_folder(folder) && !chdir(folder) ? 0 : -1;
}

static int leave_folder(void **state)
{
	const char *const names[] = {"program",
				     "script",
				     "plain",
				     "damaged",
				     "ld-linux-x86-64.so.2",
				     "ld-musl-x86_64.so.1"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(names[i]);
	return chdir("/") < 0 || rmdir(folder) < 0 ? -1 : 0;
}

static void write_file(const char *name, const void *bytes, size_t size, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

/* A made-up program: header, and the name of its loader where one is given. */
struct made {
	Elf64_Ehdr elf;
	Elf64_Phdr headers[2];
	char interpreter[32];
};

static struct made make_program(const char *interpreter)
{
	struct made made = {0};
	Elf64_Ehdr own;
	int fd = open("/proc/self/exe", O_RDONLY);

	assert_int_equal(read(fd, &own, sizeof(own)), sizeof(own));
	close(fd);
	memcpy(made.elf.e_ident, own.e_ident, sizeof(own.e_ident));
	made.elf.e_machine = own.e_machine;
	made.elf.e_phoff = offsetof(struct made, headers);
	made.elf.e_phnum = 2;
	made.headers[0].p_type = PT_LOAD;
	if (interpreter) {
		made.headers[1].p_type = PT_INTERP;
		made.headers[1].p_offset = offsetof(struct made, interpreter);
		strcpy(made.interpreter, interpreter);
	}
	return made;
}

static enum gp_target_bar look_at_made(const struct made *made)
{
	write_file("program", made, sizeof(*made), 0700);
	return gp_target_look("program");
}

#define GLIBC "/lib64/ld-linux-x86-64.so.2"

static void test_an_ordinary_program_is_open(void **state)
{
	struct made made = make_program(GLIBC);

	assert_int_equal(look_at_made(&made), GP_TARGET_OPEN);
	assert_int_equal(gp_target_look("/proc/self/exe"), GP_TARGET_OPEN);
	assert_int_equal(gp_target_look("/no/such/file"), GP_TARGET_OPEN);
	assert_null(gp_target_bar_text(GP_TARGET_OPEN));
}

static void test_bars(void **state)
{
	struct made made = make_program(NULL);

	assert_int_equal(look_at_made(&made), GP_TARGET_STATIC);
	made = make_program("/lib/ld-musl-x86_64.so.1");
	assert_int_equal(look_at_made(&made), GP_TARGET_MUSL);
	made = make_program(GLIBC);
	made.elf.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(look_at_made(&made), GP_TARGET_OTHER_MACHINE);
	made = make_program(GLIBC);
	made.elf.e_machine = EM_RISCV;
	assert_int_equal(look_at_made(&made), GP_TARGET_OTHER_MACHINE);
	for (int bar = GP_TARGET_OPEN + 1; bar < GP_TARGET_BARS; bar++)
		assert_non_null(gp_target_bar_text((enum gp_target_bar)bar));
}

/* It has no loader, as a static program has none. */
static void test_the_loader_as_a_program(void **state)
{
	struct made made = make_program(NULL);
	struct gp_target target;

	write_file("ld-linux-x86-64.so.2", &made, sizeof(made), 0700);
	gp_target_resolve("./ld-linux-x86-64.so.2", &target);
	assert_int_equal(target.bar, GP_TARGET_OPEN);
	assert_string_equal(target.loader, "./ld-linux-x86-64.so.2");
	write_file("ld-musl-x86_64.so.1", &made, sizeof(made), 0700);
	assert_int_equal(gp_target_look("./ld-musl-x86_64.so.1"), GP_TARGET_MUSL);
}

static void test_a_script_is_its_interpreter(void **state)
{
	struct made made = make_program(NULL);
	char script[256];
	int length = snprintf(script, sizeof(script), "#! %s/program -x\n", folder);

	write_file("program", &made, sizeof(made), 0700);
	write_file("script", script, (size_t)length, 0700);
	assert_int_equal(gp_target_look("script"), GP_TARGET_STATIC);
	length = snprintf(script, sizeof(script), "#!%s/script\n", folder);
	write_file("script", script, (size_t)length, 0700); /* itself, without end */
	assert_int_equal(gp_target_look("script"), GP_TARGET_OPEN);
}

/* What runs in the end is named, and its loader. */
static void test_a_program_is_resolved(void **state)
{
	struct made made = make_program(GLIBC);
	struct gp_target target;
	char script[256];
	int length;

	write_file("program", &made, sizeof(made), 0700);
	gp_target_resolve("program", &target);
	assert_string_equal(target.file, "program");
	assert_string_equal(target.loader, GLIBC);
	length = snprintf(script, sizeof(script), "#!%s/program\n", folder);
	write_file("script", script, (size_t)length, 0700);
	gp_target_resolve("script", &target);
	script[length - 1] = 0;
	assert_string_equal(target.file, script + strlen("#!"));
	made = make_program(NULL);
	write_file("program", &made, sizeof(made), 0700);
	gp_target_resolve("script", &target);
	assert_int_equal(target.bar, GP_TARGET_STATIC);
	assert_string_equal(target.loader, "");
}

static void test_env_runs_what_is_in_path(void **state)
{
	static const char *const lines[] = {
		"#!/usr/bin/env program\n",
		"#!/usr/bin/env -S program -x\n",
		"#! /usr/bin/env -S A=b program",
	};
	struct made made = make_program(NULL);
	struct gp_target target;

	setenv("PATH", folder, 1);
	write_file("program", &made, sizeof(made), 0700);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		write_file("script", lines[i], strlen(lines[i]), 0700);
		gp_target_resolve("script", &target);
		assert_string_equal(target.file + strlen(folder), "/program");
		assert_int_equal(target.bar, GP_TARGET_STATIC);
	}
	write_file("script", "#!/usr/bin/env missing\n", 23, 0700);
	gp_target_resolve("script", &target);
	assert_string_equal(target.file, "/usr/bin/env");
	write_file("script", "#!/usr/bin/env\n", 15, 0700);
	gp_target_resolve("script", &target);
	assert_string_equal(target.file, "/usr/bin/env");
}

static void test_gained_privileges_are_seen(void **state)
{
	struct made made = make_program(GLIBC);

	write_file("program", &made, sizeof(made), 0700);
	assert_int_equal(chmod("program", 04755), 0);
	assert_int_equal(gp_target_look("program"), GP_TARGET_OPEN); /* it is our own */
	if (geteuid() != 0 || is_emulated(EMULATED_USERS))
		skip();
	assert_int_equal(chown("program", 65534, 65534), 0);
	assert_int_equal(chmod("program", 04755), 0);
	assert_int_equal(gp_target_look("program"), GP_TARGET_PRIVILEGED);
	assert_int_equal(chmod("program", 02755), 0);
	assert_int_equal(gp_target_look("program"), GP_TARGET_PRIVILEGED);
}

/* Every byte of the headers set to every of a few nasty values, and every length: no crash, under
 * sanitizers too. */
static void test_damaged_programs_do_no_harm(void **state)
{
	static const unsigned char nasty[] = {0, 1, 0x7f, 0x80, 0xff};
	struct made made = make_program(GLIBC);

	for (size_t i = SELFMAG; i < offsetof(struct made, interpreter); i++) {
		for (size_t j = 0; j < sizeof(nasty); j++) {
			struct made damaged = made;

			((unsigned char *)&damaged)[i] = nasty[j];
			write_file("damaged", &damaged, sizeof(damaged), 0700);
			assert_in_range(gp_target_look("damaged"), GP_TARGET_OPEN,
					GP_TARGET_BARS - 1);
		}
	}
	for (size_t size = 0; size < sizeof(made); size++) {
		write_file("damaged", &made, size, 0700);
		assert_in_range(gp_target_look("damaged"), GP_TARGET_OPEN, GP_TARGET_BARS - 1);
	}
}

static void test_programs_are_found_as_execvp_finds_them(void **state)
{
	char path[PATH_MAX], expected[PATH_MAX];

	write_file("plain", "x", 1, 0600);
	write_file("program", "x", 1, 0700);
	setenv("PATH", "/nonexistent:/usr/bin::/bin", 1);
	assert_int_equal(gp_target_find("program", path), 0); /* "" is the current folder */
	assert_string_equal(path, "program");
	assert_int_equal(gp_target_find("./program", path), 0);
	assert_int_equal(gp_target_find("plain", path), -EACCES);
	assert_int_equal(gp_target_find("./plain", path), -EACCES);
	assert_int_equal(gp_target_find("/tmp", path), -EISDIR);
	assert_int_equal(gp_target_find("", path), -ENOENT);
	assert_int_equal(gp_target_find("no-such-program", path), -ENOENT);
	assert_int_equal(gp_target_find("./no-such-program", path), -ENOENT);
	snprintf(expected, sizeof(expected), "%s/program", folder);
	setenv("PATH", folder, 1);
	assert_int_equal(gp_target_find("program", path), 0);
	assert_string_equal(path, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_ordinary_program_is_open),
		cmocka_unit_test(test_bars),
		cmocka_unit_test(test_the_loader_as_a_program),
		cmocka_unit_test(test_a_script_is_its_interpreter),
		cmocka_unit_test(test_a_program_is_resolved),
		cmocka_unit_test(test_env_runs_what_is_in_path),
		cmocka_unit_test(test_gained_privileges_are_seen),
		cmocka_unit_test(test_damaged_programs_do_no_harm),
		cmocka_unit_test(test_programs_are_found_as_execvp_finds_them),
	};

	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
