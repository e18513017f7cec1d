/*
 * elf_code: finds the code at an address of an ELF file: functions with file and line, also inlined
 * ones, from DWARF; otherwise a function of the symbol table. Uses elfutils, which also finds
 * separate debug information in the usual folders.
 */
#ifndef REPORT_SYMBOLS_ELF_CODE_H
#define REPORT_SYMBOLS_ELF_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "report/symbols/elf_place.h"

struct gp_elf_code;

/*
 * Opens the file. Compares the build id if build_id_bytes > 0. Returns NULL with a short reason in
 * *problem.
 */
struct gp_elf_code *gp_elf_code_open(const char *path, const uint8_t *build_id,
				     size_t build_id_bytes, const char **problem);
void gp_elf_code_close(struct gp_elf_code *code);

/*
 * The functions at an address, innermost first, each with its place. Returns their number; 0 =
 * unknown. The texts live as long as the code, the array until the next call.
 */
size_t gp_elf_code_find(struct gp_elf_code *code, uint64_t address,
			const struct gp_elf_place **places);

#endif
