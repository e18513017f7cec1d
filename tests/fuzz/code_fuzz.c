/*
 * code_fuzz: any bytes as an ELF file must give names of functions and places, or be refused; any
 * bytes as a Python code object, too.
 *
 *	make fuzz-code FUZZ_SECONDS=30
 *
 * The seed is a small library of ours, with DWARF, whose functions are at such addresses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/symbols/elf_code.h"
#include "report/symbols/python_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void find_code(const uint8_t *data, size_t size)
{
	static int file = -1;
	struct gp_elf_code *code;
	const struct gp_elf_place *places;
	const char *problem;
	char path[64];

	if (file < 0)
		file = memfd_create("code", MFD_CLOEXEC);
	if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	code = gp_elf_code_open(path, NULL, 0, &problem);
	for (uint64_t address = 0x300; code && address < 0x400; address += 8)
		gp_elf_code_find(code, address, &places);
	gp_elf_code_close(code);
}

static void find_lines(const uint8_t *data, size_t size)
{
	struct gp_python_code code;
	uint64_t sum = 0;

	if (!gp_python_code_read(data, size, &code))
		return;
	for (uint64_t offset = 0; offset < 64; offset += 2)
		sum += gp_python_code_line(&code, offset) +
		       gp_python_code_line(&code, offset << 40);
	__asm__ volatile("" : : "r"(sum + strlen(code.name) + strlen(code.file)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	find_code(data, size);
	find_lines(data, size);
	return 0;
}
