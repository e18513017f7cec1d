/*
 * cubin_lines: the source line of each instruction, as libcupti finds it; truncated modules.
 *
 * O must name the build folder, with programs/waits.cubin.  The comparison is skipped without
 * libcupti.
 */
#include "tests/unit.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject/cubin_lines.h"

#define MOST_BYTES 65536

static const char *const kernels[] = {"_Z5chasePKjPji", "_Z4meetPVfi", "_Z5rootsPdi", "_Z4fillPjj"};

struct module {
	uint8_t bytes[MOST_BYTES];
	size_t count;
	struct gp_cubin_lines *lines;
};

static void open_module(struct module *module)
{
	char path[4096];
	size_t needed;
	FILE *file;

	snprintf(path, sizeof(path), "%s/programs/waits.cubin", getenv("O"));
	file = fopen(path, "rb");
	assert_non_null(file);
	module->count = fread(module->bytes, 1, sizeof(module->bytes), file);
	fclose(file);
	assert_in_range(module->count, 1, MOST_BYTES - 1);
	module->lines = gp_cubin_lines_open(module->bytes, module->count, MOST_BYTES, &needed);
	assert_non_null(module->lines);
	assert_in_range(needed, 100, module->count);
}

/* CUPTI's parameters: see cupti_pcsampling.h. */
struct query {
	size_t bytes;
	const void *cubin;
	const char *function;
	size_t cubin_bytes;
	uint32_t line;
	uint64_t offset;
	char *file, *folder;
};

static int (*find_query(void))(struct query *)
{
	/* a sanitizer's runtime would report what libcupti leaks */
	bool is_wanted = !dlsym(RTLD_DEFAULT, "__asan_init");
	void *libcupti = is_wanted ? dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL) : NULL;

	return libcupti ? (int (*)(struct query *))(uintptr_t)dlsym(
				  libcupti, "cuptiGetSassToSourceCorrelation")
			: NULL;
}

/* The bytes of a function's code. */
static uint64_t code_bytes(const struct module *module, const char *name)
{
	Elf64_Ehdr head;
	Elf64_Shdr section, strings;
	Elf64_Sym symbol;

	memcpy(&head, module->bytes, sizeof(head));
	for (uint32_t i = 0; i < head.e_shnum; i++) {
		memcpy(&section, module->bytes + head.e_shoff + i * sizeof(section),
		       sizeof(section));
		if (section.sh_type != SHT_SYMTAB)
			continue;
		memcpy(&strings, module->bytes + head.e_shoff + section.sh_link * sizeof(strings),
		       sizeof(strings));
		for (uint64_t k = 0; k < section.sh_size / sizeof(symbol); k++) {
			memcpy(&symbol, module->bytes + section.sh_offset + k * sizeof(symbol),
			       sizeof(symbol));
			if (strcmp((const char *)module->bytes + strings.sh_offset + symbol.st_name,
				   name) == 0)
				return symbol.st_size;
		}
	}
	return 0;
}

static void assert_line(const struct module *module, int (*ask)(struct query *), const char *name,
			const struct gp_cubin_function *function, uint64_t offset)
{
	struct query query = {sizeof(query), module->bytes, name, module->count, 0,
			      offset,        NULL,          NULL};
	struct gp_cubin_place place = {"", "", 0};

	gp_cubin_function_place(function, offset, &place);
	assert_int_equal(ask(&query), 0);
	assert_int_equal(place.line, query.line);
	if (query.line != 0) {
		assert_string_equal(place.file, query.file);
		assert_string_equal(place.folder, query.folder);
	}
	free(query.file);
	free(query.folder);
}

static void lines_are_those_of_cupti(void **state)
{
	int (*ask)(struct query *) = find_query();
	static struct module module;
	uint32_t count = 0;

	if (!ask)
		skip();
	open_module(&module);
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		const struct gp_cubin_function *function =
			gp_cubin_lines_function(module.lines, kernels[i]);
		uint64_t bytes = code_bytes(&module, kernels[i]);

		assert_non_null(function);
		for (uint64_t offset = 0; offset < bytes; offset += 16, count++)
			assert_line(&module, ask, kernels[i], function, offset);
	}
	assert_in_range(count, 200, 2000);
	gp_cubin_lines_close(module.lines);
}

/* The device function `root` is placed behind the kernel that calls it. */
static void a_function_of_a_kernel(void **state)
{
	static struct module module;
	const struct gp_cubin_function *function;
	struct gp_cubin_place place, same;

	open_module(&module);
	function = gp_cubin_lines_function(module.lines, "$_Z5rootsPdi$_Z4rootd");
	assert_non_null(function);
	assert_string_equal(gp_cubin_function_kernel(function), "_Z5rootsPdi");
	assert_ptr_equal(gp_cubin_lines_function(module.lines, "$_Z5rootsPdi$_Z4rootd"), function);
	assert_true(gp_cubin_function_place(function, 0, &place));
	assert_string_equal(place.file, "waits.cu");
	function = gp_cubin_lines_function(module.lines, "_Z5rootsPdi");
	assert_string_equal(gp_cubin_function_kernel(function), "_Z5rootsPdi");
	assert_true(gp_cubin_function_place(function, 0, &same));
	assert_int_not_equal(place.line, same.line);
	assert_null(gp_cubin_lines_function(module.lines, "no_function"));
	gp_cubin_lines_close(module.lines);
}

/* Every instruction of each kernel, so that each decoding step is done. */
static void use_all(struct gp_cubin_lines *lines)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		const struct gp_cubin_function *function =
			gp_cubin_lines_function(lines, kernels[i]);
		struct gp_cubin_place place;

		for (uint64_t offset = 0; function && offset < 4096; offset += 16)
			if (gp_cubin_function_place(function, offset, &place))
				assert_true(strlen(place.file) + strlen(place.folder) < MOST_BYTES);
	}
}

static void try_bytes(const uint8_t *bytes, size_t count)
{
	size_t needed;
	/* of its own, so that a sanitizer sees each access outside */
	uint8_t *copy = malloc(count);
	struct gp_cubin_lines *lines;

	memcpy(copy, bytes, count);
	lines = gp_cubin_lines_open(copy, count, MOST_BYTES, &needed);
	free(copy);
	if (lines) {
		use_all(lines);
		gp_cubin_lines_close(lines);
	}
}

/* tests/fuzz/cubin_fuzz.c damages them in other ways. */
static void truncated_modules(void **state)
{
	static struct module module;

	open_module(&module);
	gp_cubin_lines_close(module.lines);
	for (size_t count = 1; count < module.count; count += 1 + module.count / 300)
		try_bytes(module.bytes, count);
}

static void no_module_with_lines(void **state)
{
	static struct module module;
	size_t needed;

	open_module(&module);
	gp_cubin_lines_close(module.lines);
	assert_null(gp_cubin_lines_open("", 1, MOST_BYTES, &needed));
	assert_null(gp_cubin_lines_open("no ELF file, but long enough for a header of one .......",
					56, MOST_BYTES, &needed));
	assert_int_equal(needed, 0);
	for (size_t at = 0; at < sizeof(Elf64_Ehdr); at++) {
		bool is_checked = at < 5 || at == offsetof(Elf64_Ehdr, e_machine) ||
				  at == offsetof(Elf64_Ehdr, e_shentsize) ||
				  at == offsetof(Elf64_Ehdr, e_shoff) + 7;

		module.bytes[at] ^= 0x40;
		if (is_checked)
			assert_null(gp_cubin_lines_open(module.bytes, module.count, MOST_BYTES,
							&needed));
		module.bytes[at] ^= 0x40;
	}
	assert_null(gp_cubin_lines_open(module.bytes, module.count, 100, &needed));
	assert_in_range(needed, 101, module.count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_those_of_cupti),
		cmocka_unit_test(a_function_of_a_kernel),
		cmocka_unit_test(truncated_modules),
		cmocka_unit_test(no_module_with_lines),
	};

	if (!getenv("O")) {
		fprintf(stderr, "O must name the build folder\n");
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
