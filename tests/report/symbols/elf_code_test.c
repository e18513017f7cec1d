#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/symbols/elf_code.h"
#include "tests/lib/temporary.h"
#include "tests/unit.h"

int elf_code_test_function(void);

static const uint32_t line_before = __LINE__;
int elf_code_test_function(void)
{
	return getppid();
}

/* Where a function's file is, and its address in the file's symbol table. */
static uint64_t find(const void *function, char *path, size_t bytes)
{
	Dl_info info;

	assert_true(dladdr(function, &info) != 0);
	snprintf(path, bytes, "%s", info.dli_fname);
	return (uint64_t)((uintptr_t)function - (uintptr_t)info.dli_fbase);
}

static struct gp_elf_code *open_file(const char *path)
{
	const char *problem = "";
	struct gp_elf_code *code = gp_elf_code_open(path, NULL, 0, &problem);

	assert_null(problem);
	assert_non_null(code);
	return code;
}

/* The path of this program. */
static const char *own_path(void)
{
	static char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(length > 0);
	return path;
}

static void test_a_program_with_debug_information(void **state)
{
	char path[4096];
	uint64_t address =
		find((const void *)(uintptr_t)elf_code_test_function, path, sizeof(path));
	struct gp_elf_code *code = open_file(own_path());
	const struct gp_elf_place *places;

	assert_int_equal(gp_elf_code_find(code, address, &places), 1);
	assert_string_equal(places[0].function, "elf_code_test_function");
	assert_non_null(strstr(places[0].file, "elf_code_test.c"));
	assert_in_range(places[0].line, line_before + 1, line_before + 3);
	gp_elf_code_close(code);
}

/* As clang writes it. */
static void test_debug_information_without_an_index_of_addresses(void **state)
{
	char path[4096], copy[] = "/tmp/elf-code-test-XXXXXX", command[8192];
	uint64_t address =
		find((const void *)(uintptr_t)elf_code_test_function, path, sizeof(path));
	int fd = temporary_file(copy);
	const struct gp_elf_place *places;
	struct gp_elf_code *code;

	assert_true(fd >= 0);
	close(fd);
	snprintf(command, sizeof(command),
		 "objcopy --remove-section=.debug_aranges /proc/%d/exe %s", (int)getpid(), copy);
	assert_int_equal(system(command), 0);
	code = open_file(copy);
	assert_int_equal(gp_elf_code_find(code, address, &places), 1);
	assert_string_equal(places[0].function, "elf_code_test_function");
	assert_non_null(strstr(places[0].file, "elf_code_test.c"));
	assert_in_range(places[0].line, line_before + 1, line_before + 3);
	assert_int_equal(gp_elf_code_find(code, 1, &places), 0);
	gp_elf_code_close(code);
	unlink(copy);
}

static volatile uint32_t nothing; /* so that no call is the last thing that a function does */

static __attribute__((noinline)) void *here(void)
{
	return __builtin_return_address(0);
}

#define DEEPER(name, next)                                                                         \
	static inline __attribute__((always_inline)) void *name(void)                              \
	{                                                                                          \
		void *address = next();                                                            \
                                                                                                   \
		return (char *)address + nothing;                                                  \
	}
DEEPER(inlined_1, here)
DEEPER(inlined_2, inlined_1)
DEEPER(inlined_3, inlined_2)
DEEPER(inlined_4, inlined_3)
DEEPER(inlined_5, inlined_4)
DEEPER(inlined_6, inlined_5)
DEEPER(inlined_7, inlined_6)
DEEPER(inlined_8, inlined_7)
DEEPER(inlined_9, inlined_8)
DEEPER(inlined_10, inlined_9)
DEEPER(inlined_11, inlined_10)
DEEPER(inlined_12, inlined_11)
DEEPER(inlined_13, inlined_12)
DEEPER(inlined_14, inlined_13)
DEEPER(inlined_15, inlined_14)
DEEPER(inlined_16, inlined_15)
DEEPER(inlined_17, inlined_16)

static __attribute__((noinline)) void *around_all(void)
{
	void *address = inlined_17();

	return (char *)address + nothing;
}

/* The innermost ones are told of. */
static void test_functions_that_are_inlined_deep(void **state)
{
	char path[4096];
	uint64_t address = find(around_all(), path, sizeof(path));
	struct gp_elf_code *code = open_file(own_path());
	const struct gp_elf_place *places;

	assert_int_equal(gp_elf_code_find(code, address - 1, &places), GP_ELF_PLACES);
	assert_string_equal(places[0].function, "inlined_1");
	assert_string_equal(places[GP_ELF_PLACES - 1].function, "inlined_16");
	gp_elf_code_close(code);
}

/* Its own symbol table is all that there need be. */
static void test_a_library_of_the_system(void **state)
{
	char path[4096];
	uint64_t address = find((const void *)(uintptr_t)getppid, path, sizeof(path));
	struct gp_elf_code *code = open_file(path);
	const struct gp_elf_place *places;

	assert_int_equal(gp_elf_code_find(code, address, &places), 1);
	assert_non_null(strstr(places[0].function, "getppid"));
	assert_int_equal(gp_elf_code_find(code, UINT64_MAX - 4096, &places), 0);
	gp_elf_code_close(code);
}

static void test_what_is_refused(void **state)
{
	const uint8_t build_id[20] = "not that of this one";
	const char *problem = NULL;

	assert_null(gp_elf_code_open(own_path(), build_id, sizeof(build_id), &problem));
	assert_non_null(strstr(problem, "changed since the recording"));
	problem = NULL;
	assert_null(gp_elf_code_open("/proc/self/status", NULL, 0, &problem));
	assert_non_null(problem);
	problem = NULL;
	assert_null(gp_elf_code_open("/nonexistent/file", NULL, 0, &problem));
	assert_non_null(problem);
}

/* Runs a command of the shell in which $E is this program, in a folder of its own. */
static void make(char *folder, const char *command)
{
	char line[8192];

	strcpy(folder, "/tmp/elf-code-test-XXXXXX");
	assert_non_null(temporary_folder(folder));
	snprintf(line, sizeof(line), "cd %s && E=%s && %s", folder, own_path(), command);
	assert_int_equal(system(line), 0);
}

static void clear(const char *folder)
{
	char line[64];

	snprintf(line, sizeof(line), "rm -r %s", folder);
	assert_int_equal(system(line), 0);
}

static void assert_found(const char *folder, bool has_lines)
{
	char path[4096];
	uint64_t address =
		find((const void *)(uintptr_t)elf_code_test_function, path, sizeof(path));
	const struct gp_elf_place *places;
	struct gp_elf_code *code;

	snprintf(path, sizeof(path), "%s/program", folder);
	code = open_file(path);
	assert_int_equal(gp_elf_code_find(code, address, &places), 1);
	assert_string_equal(places[0].function, "elf_code_test_function");
	assert_int_equal(places[0].line != 0, has_lines);
	gp_elf_code_close(code);
}

static void test_debug_information_beside_the_file(void **state)
{
	char folder[32];

	make(folder, "objcopy --only-keep-debug $E x.debug && mkdir .debug &&"
		     "objcopy --strip-debug --add-gnu-debuglink=x.debug $E program");
	assert_found(folder, true);
	clear(folder);
	make(folder, "mkdir .debug && objcopy --only-keep-debug $E .debug/x.debug &&"
		     "objcopy --strip-debug --add-gnu-debuglink=.debug/x.debug $E program");
	assert_found(folder, true);
	clear(folder);
}

/* Another program's, or a pipe that nobody writes to: neither is read, nor waited for. */
static void test_debug_information_that_is_none(void **state)
{
	char folder[32];

	limit_processor_s(60);
	make(folder,
	     "objcopy --only-keep-debug $E x.debug &&"
	     "objcopy --strip-debug --add-gnu-debuglink=x.debug $E program &&"
	     "objcopy --only-keep-debug --remove-section=.note.gnu.build-id /bin/sh x.debug");
	assert_found(folder, false);
	clear(folder);
	make(folder, "objcopy --only-keep-debug $E x.debug &&"
		     "objcopy --strip-debug --add-gnu-debuglink=x.debug $E program &&"
		     "rm x.debug && mkfifo x.debug");
	assert_found(folder, false);
	clear(folder);
	limit_processor_s(0);
}

static void assert_refused(const char *command, const char *path)
{
	char folder[32], whole[4096];
	const char *problem = NULL;

	make(folder, command);
	snprintf(whole, sizeof(whole), "%s%s/program", path, folder);
	assert_null(gp_elf_code_open(whole, NULL, 0, &problem));
	assert_non_null(problem);
	clear(folder);
}

static void test_files_that_unpack_to_much(void **state)
{
	assert_refused("gzip -c $E > program", "");
	assert_refused("truncate -s 100M zeros && objcopy --add-section .debug_zeros=zeros "
		       "/bin/true x && objcopy --compress-debug-sections x program",
		       "");
}

static void test_files_of_the_kernel(void **state)
{
	assert_refused("cp $E program", "/proc/self/root");
	assert_refused("cp $E program", "/tmp/..//proc/./self/root");
}

/* elfutils would open these by itself. */
static void test_files_that_lead_to_a_pipe(void **state)
{
	assert_refused("mkfifo p && printf 'p\\0' > link &&"
		       "objcopy --add-section .gnu_debugaltlink=link $E program",
		       "");
	assert_refused("mkdir b && mkfifo b/p && printf 'p\\0' > link && ln -s b/real program && "
		       "objcopy --add-section .gnu_debugaltlink=link $E b/real",
		       "");
}

static void test_files_that_lead_to_large_ones(void **state)
{
	assert_refused("truncate -s 100M zeros && objcopy --add-section .debug_zeros=zeros "
		       "/bin/true x && objcopy --compress-debug-sections x p && "
		       "printf 'p\\0' > link && "
		       "objcopy --add-section .gnu_debugaltlink=link $E program",
		       "");
	assert_refused("printf 'program\\0' > link && "
		       "objcopy --add-section .gnu_debugaltlink=link $E program",
		       "");
}

static void test_the_other_half_is_a_pipe(void **state)
{
	char folder[32], path[64];
	const struct gp_elf_place *places;
	struct gp_elf_code *code;

	make(folder, "echo 'int main(void) { return 0; }' > x.c &&"
		     "cc -g -gsplit-dwarf -c x.c && cc -o program x.o && rm x.dwo && mkfifo x.dwo");
	snprintf(path, sizeof(path), "%s/program", folder);
	code = open_file(path);
	limit_processor_s(60);
	for (uint64_t address = 0x1000; address < 0x1400; address++)
		gp_elf_code_find(code, address, &places);
	limit_processor_s(0);
	gp_elf_code_close(code);
	clear(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_program_with_debug_information),
		cmocka_unit_test(test_debug_information_without_an_index_of_addresses),
		cmocka_unit_test(test_functions_that_are_inlined_deep),
		cmocka_unit_test(test_a_library_of_the_system),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_debug_information_beside_the_file),
		cmocka_unit_test(test_debug_information_that_is_none),
		cmocka_unit_test(test_files_that_unpack_to_much),
		cmocka_unit_test(test_files_of_the_kernel),
		cmocka_unit_test(test_files_that_lead_to_a_pipe),
		cmocka_unit_test(test_files_that_lead_to_large_ones),
		cmocka_unit_test(test_the_other_half_is_a_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
