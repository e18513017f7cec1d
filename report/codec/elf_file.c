#include "report/codec/elf_file.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "report/base/named_file.h"

/* Debug information of real programs packs to a third; of texts alone, to a tenth. */
#define MOST_EXPANSION 64u

#define XZ_MEMORY_BYTES (UINT64_C(64) << 20) /* as xz -9 needs */

#define DEBUG_FOLDER "/usr/lib/debug"

/* ---- one file ---- */

/* What elfutils unpacks to read the symbols of a stripped file: at most `most`, and one piece. */
static uint64_t unpacked_xz_bytes(const Elf_Data *data, uint64_t most)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret result = lzma_stream_decoder(&stream, XZ_MEMORY_BYTES, 0);
	uint8_t piece[1 << 14];

	stream.next_in = data->d_buf;
	stream.avail_in = data->d_size;
	while (result == LZMA_OK && stream.total_out <= most) {
		stream.next_out = piece;
		stream.avail_out = sizeof(piece);
		result = lzma_code(&stream, LZMA_FINISH);
	}
	lzma_end(&stream);
	return result == LZMA_MEMLIMIT_ERROR ? UINT64_MAX : stream.total_out;
}

/* The length of a section in memory, as far as it is at most `most`. */
static uint64_t unpacked_bytes(Elf_Scn *section, const GElf_Shdr *header, const char *name,
			       uint64_t most)
{
	GElf_Chdr packed;
	Elf_Data *data;
	uint64_t bytes = 0;

	if (header->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section, &packed) ? packed.ch_size : UINT64_MAX;
	if (strcmp(name, ".gnu_debugdata") == 0) {
		data = elf_rawdata(section, NULL);
		return data && data->d_buf ? unpacked_xz_bytes(data, most) : 0;
	}
	data = strncmp(name, ".zdebug", 7) == 0 ? elf_rawdata(section, NULL) : NULL;
	for (size_t i = 4; data && data->d_size >= 12 && i < 12; i++) /* after "ZLIB" */
		bytes = bytes << 8 | ((const uint8_t *)data->d_buf)[i];
	return bytes;
}

/* The path of a name in the folder of a file. */
static bool join(char path[PATH_MAX], const char *file, const char *between, const char *name)
{
	const char *slash = strrchr(file, '/');
	int folder = slash && name[0] != '/' ? (int)(slash - file) + 1 : 0;

	return snprintf(path, PATH_MAX, "%.*s%s%s", folder, file, between, name) < PATH_MAX;
}

static int open_checked(const char *path, bool may_lead_on);

/* Whether elfutils may open that path by itself: it is unreadable, or passes our own checks. */
static bool is_harmless(const char *path)
{
	int fd = open_checked(path, false);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || access(path, R_OK) != 0;
}

/*
 * elfutils opens the file of a .gnu_debugaltlink by itself, in the folder of the file that has it,
 * without links. No tool writes a file there that leads to a third one.
 */
static bool is_link_harmless(Elf_Scn *section, int fd, bool may_lead_on)
{
	Elf_Data *data = elf_rawdata(section, NULL);
	char link[32], file[PATH_MAX], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, file, sizeof(file) - 1);
	if (!may_lead_on || length < 0 || !data || !data->d_buf ||
	    !memchr(data->d_buf, '\0', data->d_size))
		return false;
	file[length] = '\0';
	return join(path, file, "", data->d_buf) && is_harmless(path);
}

static int check_sections(Elf *elf, uint64_t file_bytes, int fd, bool may_lead_on)
{
	uint64_t left = file_bytes * MOST_EXPANSION;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names) != 0)
		return -ENOEXEC;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;
		uint64_t bytes = name ? unpacked_bytes(section, &header, name, left) : 0;

		if (bytes > left)
			return -EFBIG;
		left -= bytes;
		if (name && strcmp(name, ".gnu_debugaltlink") == 0 &&
		    !is_link_harmless(section, fd, may_lead_on))
			return -EINVAL;
	}
	return 0;
}

/* elfutils unpacks what has another magic; it sees only what begins like ELF. */
static int check(int fd, bool may_lead_on)
{
	char magic[SELFMAG];
	struct stat status;
	int result;
	Elf *elf;

	if (pread(fd, magic, SELFMAG, 0) != SELFMAG || memcmp(magic, ELFMAG, SELFMAG) != 0 ||
	    fstat(fd, &status) != 0)
		return -ENOEXEC;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	result = elf ? check_sections(elf, (uint64_t)status.st_size, fd, may_lead_on) : -ENOEXEC;
	elf_end(elf);
	return result;
}

static int open_checked(const char *path, bool may_lead_on)
{
	int fd = path[0] != '/' || gp_named_file_is_of_kernel(path) ? -EINVAL
								    : gp_named_file_open(path, 0);
	int result = fd < 0 ? fd : check(fd, may_lead_on);

	if (result < 0 && fd >= 0)
		close(fd);
	return result < 0 ? result : fd;
}

int gp_elf_file_open(const char *path)
{
	return open_checked(path, true);
}

/* ---- debug information in another file ---- */

static bool has_crc(int fd, GElf_Word expected)
{
	unsigned char bytes[1 << 14]; /* several threads open symbols */
	uLong crc = crc32(0, NULL, 0);
	ssize_t got;

	for (off_t at = 0; (got = pread(fd, bytes, sizeof(bytes), at)) > 0; at += got)
		crc = crc32(crc, bytes, (uInt)got);
	return got == 0 && crc == expected;
}

/* A module with a build id has debug information with the same. */
static bool is_of_module(Dwfl_Module *module, int fd, GElf_Word crc)
{
	const unsigned char *wanted;
	const void *bits = NULL;
	GElf_Addr address;
	int bytes = dwfl_module_build_id(module, &wanted, &address);
	Elf *elf;
	bool is_same;

	if (bytes <= 0)
		return has_crc(fd, crc);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	is_same = elf && dwelf_elf_gnu_build_id(elf, &bits) == bytes &&
		  memcmp(bits, wanted, (size_t)bytes) == 0;
	elf_end(elf);
	return is_same;
}

int gp_elf_file_find_debuginfo(Dwfl_Module *module, void **user_data, const char *name,
			       Dwarf_Addr base, const char *file, const char *link, GElf_Word crc,
			       char **found)
{
	static const char *const folders[] = {"", ".debug/"};
	char path[PATH_MAX], *real;
	int fd =
		dwfl_build_id_find_debuginfo(module, user_data, name, base, file, link, crc, found);

	if (fd >= 0 || !link || !file || strchr(link, '/'))
		return fd;
	real = realpath(file, NULL);
	for (size_t i = 0; real && fd < 0 && i < 3; i++) {
		bool fits = i < 2 ? join(path, real, folders[i], link)
				  : snprintf(path, sizeof(path), DEBUG_FOLDER "%.*s%s",
					     (int)(strrchr(real, '/') - real) + 1, real,
					     link) < (int)sizeof(path);

		fd = fits ? gp_elf_file_open(path) : -1;
		if (fd >= 0 && !is_of_module(module, fd, crc)) {
			close(fd);
			fd = -1;
		}
	}
	free(real);
	if (fd >= 0)
		*found = strdup(path);
	return fd;
}

bool gp_elf_file_is_split_harmless(Dwarf_Die *unit, const char *file)
{
	Dwarf_Attribute memory;
	Dwarf_Attribute *split = dwarf_attr(unit, DW_AT_dwo_name, &memory);
	const char *name, *folder;
	char path[PATH_MAX];

	if (!split)
		split = dwarf_attr(unit, DW_AT_GNU_dwo_name, &memory);
	name = split ? dwarf_formstring(split) : NULL;
	if (!name)
		return true;
	folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &memory));
	if (!join(path, file, "", name) || !is_harmless(path) ||
	    snprintf(path, sizeof(path), "%s.dwp", file) >= PATH_MAX || !is_harmless(path))
		return false;
	return !folder || (snprintf(path, sizeof(path), "%s/%s", folder, name) < PATH_MAX &&
			   is_harmless(path));
}
