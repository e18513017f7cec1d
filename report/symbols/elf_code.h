/*
 * elf_code: what code an ELF file has at an address: by its DWARF, where it has some, functions,
 * inlined ones too, with file and line; else a function by its symbol table.  By elfutils; debug
 * information in files of its own is found where systems put it.
 */
#ifndef REPORT_SYMBOLS_ELF_CODE_H
#define REPORT_SYMBOLS_ELF_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "report/symbols/elf_place.h"

struct gp_elf_code;

/*
 * Open the file; no bytes of a build-id: it is not compared.  NULL: *problem says why, in a few
 * words.
 */
struct gp_elf_code *gp_elf_code_open(const char *path, const uint8_t *build_id,
				     size_t build_id_bytes, const char **problem);
void gp_elf_code_close(struct gp_elf_code *code);

/*
 * The functions at an address of the file's symbol table, the innermost first, each at the place
 * where it is; how many, 0 = nothing is known.  Texts belong to the code, the array is good until
 * the next call.
 */
size_t gp_elf_code_find(struct gp_elf_code *code, uint64_t address,
			const struct gp_elf_place **places);

#endif
