#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/symbols/elf_code.h"
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

static void test_a_program_with_debug_information(void **state)
{
	char path[4096];
	uint64_t address =
		find((const void *)(uintptr_t)elf_code_test_function, path, sizeof(path));
	struct gp_elf_code *code = open_file("/proc/self/exe");
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
	int fd = mkstemp(copy);
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
	struct gp_elf_code *code = open_file("/proc/self/exe");
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

	assert_null(gp_elf_code_open("/proc/self/exe", build_id, sizeof(build_id), &problem));
	assert_non_null(strstr(problem, "changed since the recording"));
	problem = NULL;
	assert_null(gp_elf_code_open("/proc/self/status", NULL, 0, &problem));
	assert_non_null(problem);
	problem = NULL;
	assert_null(gp_elf_code_open("/nonexistent/file", NULL, 0, &problem));
	assert_non_null(problem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_program_with_debug_information),
		cmocka_unit_test(test_debug_information_without_an_index_of_addresses),
		cmocka_unit_test(test_functions_that_are_inlined_deep),
		cmocka_unit_test(test_a_library_of_the_system),
		cmocka_unit_test(test_what_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
