#include "report/symbols/elf_code.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "report/codec/elf_file.h"
#include "report/symbols/elf_functions.h"
#include "report/symbols/elf_symbols.h"
#include "report/symbols/elf_units.h"

struct gp_elf_code {
	Dwfl *dwfl;
	Dwfl_Module *module;
	const char *path;
	GElf_Addr bias; /* load bias of the library's addresses */
	struct gp_elf_units units;
	struct gp_elf_functions functions;
	struct gp_elf_symbols symbols;
	struct gp_elf_place places[GP_ELF_PLACES];
};

/* ---- file ---- */

static const char *explain(int error)
{
	return error == -ENOENT    ? "the file is gone"
	       : error == -ENOEXEC ? "the file is not an ELF file"
	       : error == -EFBIG   ? "its debug information unpacks to too much"
				   : "the file is unreadable";
}

static const char *report(struct gp_elf_code *code, const char *path)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = gp_elf_file_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	int fd = gp_elf_file_open(path);

	if (fd < 0)
		return explain(fd);
	unsetenv("DEBUGINFOD_URLS"); /* no network access */
	code->dwfl = dwfl_begin(&callbacks);
	code->module = code->dwfl ? dwfl_report_offline(code->dwfl, path, path, fd) : NULL;
	if (!code->module) {
		close(fd);
		return "the file is not an ELF file";
	}
	dwfl_report_end(code->dwfl, NULL, NULL);
	dwfl_module_info(code->module, NULL, NULL, NULL, NULL, NULL, &code->path, NULL);
	return dwfl_module_getelf(code->module, &code->bias) ? NULL : "the file is not an ELF file";
}

static const char *compare_build_id(struct gp_elf_code *code, const uint8_t *build_id, size_t bytes)
{
	const unsigned char *bits;
	GElf_Addr address;
	int own = dwfl_module_build_id(code->module, &bits, &address);

	if (bytes == 0)
		return NULL;
	if (own < (int)bytes || memcmp(bits, build_id, bytes) != 0)
		return "the file has changed since the recording";
	return NULL;
}

struct gp_elf_code *gp_elf_code_open(const char *path, const uint8_t *build_id,
				     size_t build_id_bytes, const char **problem)
{
	struct gp_elf_code *code = calloc(1, sizeof(*code));

	*problem = code ? report(code, path) : "no memory";
	if (code && !*problem)
		*problem = compare_build_id(code, build_id, build_id_bytes);
	if (!*problem)
		return code;
	gp_elf_code_close(code);
	return NULL;
}

void gp_elf_code_close(struct gp_elf_code *code)
{
	if (!code)
		return;
	gp_elf_units_free(&code->units);
	gp_elf_functions_free(&code->functions);
	gp_elf_symbols_free(&code->symbols);
	if (code->dwfl)
		dwfl_end(code->dwfl);
	free(code);
}

/* ---- address ---- */

static const char *name_of(Dwarf_Die *function)
{
	Dwarf_Attribute memory;
	Dwarf_Attribute *name = dwarf_attr_integrate(function, DW_AT_linkage_name, &memory);

	if (!name)
		name = dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name, &memory);
	return name ? dwarf_formstring(name) : dwarf_diename(function);
}

static uint32_t number_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute memory;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr_integrate(die, attribute, &memory), &value) != 0)
		return 0;
	return value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* The call site of an inlined function. */
static struct gp_elf_place place_of_call(Dwarf_Die *inlined)
{
	struct gp_elf_place place = {.line = number_of(inlined, DW_AT_call_line)};
	Dwarf_Die unit;
	Dwarf_Files *files;

	if (dwarf_diecu(inlined, &unit, NULL, NULL) && dwarf_getsrcfiles(&unit, &files, NULL) == 0)
		place.file = dwarf_filesrc(files, number_of(inlined, DW_AT_call_file), NULL, NULL);
	return place;
}

/* Finds the functions at an address, innermost first. next: the place in the innermost. */
static size_t find_functions(struct gp_elf_code *code, Dwarf_Die *unit, Dwarf_Addr pc,
			     struct gp_elf_place next)
{
	Dwarf_Die functions[GP_ELF_PLACES];
	size_t count = gp_elf_functions_find(&code->functions, unit, pc, functions);

	for (size_t i = 0; i < count; i++) {
		Dwarf_Die *function = &functions[count - 1 - i];

		code->places[i] = next;
		code->places[i].function = name_of(function);
		next = place_of_call(function);
	}
	return count;
}

static struct gp_elf_place place_in_source(Dwarf_Die *unit, Dwarf_Addr pc)
{
	struct gp_elf_place place = {0};
	Dwarf_Line *line = dwarf_getsrc_die(unit, pc);
	int number = 0;

	if (line && dwarf_lineno(line, &number) == 0)
		place.file = dwarf_linesrc(line, NULL, NULL);
	place.line = number > 0 ? (uint32_t)number : 0;
	return place;
}

/* In DWARF, templates with internal linkage have no mangled name; the symbol table has it. */
static bool lacks_namespace(const char *function)
{
	return !function || (strncmp(function, "_Z", 2) != 0 && strchr(function, '<'));
}

size_t gp_elf_code_find(struct gp_elf_code *code, uint64_t address,
			const struct gp_elf_place **places)
{
	Dwarf_Addr pc = address + code->bias, bias;
	struct gp_elf_place innermost = {0};
	Dwarf_Die unit;
	size_t found = 0;

	if (gp_elf_units_find(&code->units, code->module, pc, &unit, &bias)) {
		innermost = place_in_source(&unit, pc - bias);
		if (gp_elf_file_is_split_harmless(&unit, code->path))
			found = find_functions(code, &unit, pc - bias, innermost);
	}

	if (found == 0 || lacks_namespace(code->places[found - 1].function)) {
		const char *name = gp_elf_symbols_find(&code->symbols, code->module, pc);

		if (found == 0 && name)
			code->places[found++] = innermost;
		if (found > 0 && name)
			code->places[found - 1].function = name;
	}
	*places = code->places;
	return found;
}
