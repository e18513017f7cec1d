#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/elf_code.h"

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

	(void)state;
	assert_int_equal(gp_elf_code_find(code, address, &places), 1);
	assert_string_equal(places[0].function, "elf_code_test_function");
	assert_non_null(strstr(places[0].file, "elf_code_test.c"));
	assert_in_range(places[0].line, line_before + 1, line_before + 3);
	gp_elf_code_close(code);
}

/* Its own symbol table is all that there need be. */
static void test_a_library_of_the_system(void **state)
{
	char path[4096];
	uint64_t address = find((const void *)(uintptr_t)getppid, path, sizeof(path));
	struct gp_elf_code *code = open_file(path);
	const struct gp_elf_place *places;

	(void)state;
	assert_int_equal(gp_elf_code_find(code, address, &places), 1);
	assert_non_null(strstr(places[0].function, "getppid"));
	assert_int_equal(gp_elf_code_find(code, UINT64_MAX - 4096, &places), 0);
	gp_elf_code_close(code);
}

static void test_what_is_refused(void **state)
{
	const uint8_t build_id[20] = "not that of this one";
	const char *problem = NULL;

	(void)state;
	assert_null(gp_elf_code_open("/proc/self/exe", build_id, sizeof(build_id), &problem));
	assert_non_null(strstr(problem, "another build"));
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
		cmocka_unit_test(test_a_library_of_the_system),
		cmocka_unit_test(test_what_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
