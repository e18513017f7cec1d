/*
 * elf_file: opens the program files and debug files that a trace names, before elfutils sees them.
 * elfutils would also decompress a file that is compressed as a whole, and wait for a pipe.
 */
#ifndef REPORT_CODEC_ELF_FILE_H
#define REPORT_CODEC_ELF_FILE_H

#include <elfutils/libdwfl.h>

/*
 * Returns a descriptor or a negative errno value. -ENOEXEC: it is not an ELF file. -EFBIG: its
 * sections unpack to far more than the file has. -EINVAL: it is not a regular file, or names one
 * that is not.
 */
int gp_elf_file_open(const char *path);

/* A callback of elfutils: finds debug information by build id or by debug link. */
int gp_elf_file_find_debuginfo(Dwfl_Module *module, void **user_data, const char *name,
			       Dwarf_Addr base, const char *file, const char *link, GElf_Word crc,
			       char **found);

/* Whether elfutils may read the other half of that unit's debug information (split DWARF). */
bool gp_elf_file_is_split_harmless(Dwarf_Die *unit, const char *file);

#endif
