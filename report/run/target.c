#include "report/run/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPT_DEPTH 4 /* the kernel follows as many */

/* A whole file, mapped. */
struct image {
	const char *bytes;
	size_t size;
};

static int check_executable(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return -ENOENT;
	return S_ISREG(status.st_mode) && !access(path, X_OK) ? 0 : -EACCES;
}

static int find_in_path(const char *program, char path[PATH_MAX])
{
	const char *folders = getenv("PATH"), *end;
	int result = -ENOENT;

	for (folders = folders ? folders : "/bin:/usr/bin"; folders;
	     folders = end ? end + 1 : NULL) {
		int length, error;

		end = strchr(folders, ':');
		length = end ? (int)(end - folders) : (int)strlen(folders);
		if (snprintf(path, PATH_MAX, "%.*s%s%s", length, folders, length ? "/" : "",
			     program) >= PATH_MAX)
			continue;
		error = check_executable(path);
		if (!error)
			return 0;
		if (error == -EACCES)
			result = error;
	}
	return result;
}

int gp_target_find(const char *program, char path[PATH_MAX])
{
	if (!strchr(program, '/'))
		return *program ? find_in_path(program, path) : -ENOENT;
	if (snprintf(path, PATH_MAX, "%s", program) >= PATH_MAX)
		return -ENOENT;
	return check_executable(path);
}

static bool map_file(const char *path, struct image *image)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *bytes = MAP_FAILED;

	if (fd < 0)
		return false;
	if (!fstat(fd, &status) && status.st_size > 0)
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return false;
	image->bytes = bytes;
	image->size = (size_t)status.st_size;
	return true;
}

/* length bytes at an offset, or NULL where the file has not got them. */
static const void *at(const struct image *image, uint64_t offset, uint64_t length)
{
	if (offset > image->size || length > image->size - offset)
		return NULL;
	return image->bytes + offset;
}

/* A text that ends within the file, or "". */
static const char *text_at(const struct image *image, uint64_t offset)
{
	if (offset >= image->size || !memchr(image->bytes + offset, 0, image->size - offset))
		return "";
	return image->bytes + offset;
}

static const ElfW(Phdr) *
	header_at(const struct image *image, const ElfW(Ehdr) * elf, unsigned int i)
{
	if (elf->e_phoff % sizeof(uint64_t))
		return NULL;
	return at(image, elf->e_phoff + (uint64_t)i * sizeof(ElfW(Phdr)), sizeof(ElfW(Phdr)));
}

static const ElfW(Phdr) *
	find_header(const struct image *image, const ElfW(Ehdr) * elf, uint32_t type)
{
	for (unsigned int i = 0; i < elf->e_phnum; i++) {
		const ElfW(Phdr) *header = header_at(image, elf, i);

		if (header && header->p_type == type)
			return header;
	}
	return NULL;
}

/* Where in the file a virtual address is; the file's size where it is not. */
static uint64_t offset_of(const struct image *image, const ElfW(Ehdr) * elf, uint64_t address)
{
	for (unsigned int i = 0; i < elf->e_phnum; i++) {
		const ElfW(Phdr) *header = header_at(image, elf, i);

		if (header && header->p_type == PT_LOAD && address >= header->p_vaddr &&
		    address - header->p_vaddr < header->p_filesz)
			return header->p_offset + (address - header->p_vaddr);
	}
	return image->size;
}

static bool needs_library(const struct image *image, const ElfW(Ehdr) * elf, const char *prefix)
{
	const ElfW(Phdr) *header = find_header(image, elf, PT_DYNAMIC);
	const ElfW(Dyn) * entries;
	uint64_t count, strings = image->size;

	if (!header || header->p_offset % sizeof(uint64_t))
		return false;
	count = header->p_filesz / sizeof(*entries);
	entries = at(image, header->p_offset, count * sizeof(*entries));
	for (uint64_t i = 0; entries && i < count; i++)
		if (entries[i].d_tag == DT_STRTAB)
			strings = offset_of(image, elf, entries[i].d_un.d_ptr);
	for (uint64_t i = 0; entries && i < count; i++)
		if (entries[i].d_tag == DT_NEEDED &&
		    !strncmp(text_at(image, strings + entries[i].d_un.d_val), prefix,
			     strlen(prefix)))
			return true;
	return false;
}

static void look_at_elf(const struct image *image, struct gp_target *target)
{
	const ElfW(Ehdr) *elf = at(image, 0, sizeof(*elf));
	const ElfW(Phdr) * interpreter;

#if defined(__x86_64__)
	const uint16_t machine = EM_X86_64;
#elif defined(__aarch64__)
	const uint16_t machine = EM_AARCH64;
#else
#error "which e_machine is this?"
#endif
	if (!elf || elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != machine) {
		target->bar = GP_TARGET_OTHER_MACHINE;
		return;
	}
	interpreter = find_header(image, elf, PT_INTERP);
	if (!interpreter)
		target->bar = GP_TARGET_STATIC;
	else if (strstr(text_at(image, interpreter->p_offset), "/ld-musl"))
		target->bar = GP_TARGET_MUSL;
	target->asan = needs_library(image, elf, "libasan.so");
}

/* The interpreter of a "#!" line. */
static bool read_interpreter(const struct image *image, char path[PATH_MAX])
{
	size_t length = 0;

	if (image->size < 2 || memcmp(image->bytes, "#!", 2))
		return false;
	for (size_t i = 2; i < image->size && length < PATH_MAX - 1; i++) {
		char c = image->bytes[i];

		if (c == '\n' || (length && (c == ' ' || c == '\t')))
			break;
		if (c != ' ' && c != '\t')
			path[length++] = c;
	}
	path[length] = 0;
	return length > 0;
}

static bool gains_privileges(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return false;
	return ((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
	       ((status.st_mode & S_ISGID) && status.st_gid != getegid()) ||
	       (geteuid() && getxattr(path, "security.capability", NULL, 0) > 0);
}

void gp_target_look(const char *path, struct gp_target *target)
{
	char program[PATH_MAX];
	bool script = true;

	memset(target, 0, sizeof(*target));
	snprintf(program, sizeof(program), "%s", path);
	for (int depth = 0; script && depth < SCRIPT_DEPTH; depth++) {
		struct image image;

		if (!map_file(program, &image))
			return;
		if (image.size > SELFMAG && !memcmp(image.bytes, ELFMAG, SELFMAG)) {
			look_at_elf(&image, target);
			if (target->bar == GP_TARGET_OPEN && gains_privileges(program))
				target->bar = GP_TARGET_PRIVILEGED;
		}
		script = read_interpreter(&image, program);
		munmap((void *)image.bytes, image.size);
	}
}

const char *gp_target_bar_text(enum gp_target_bar bar)
{
	static const char *const texts[GP_TARGET_BARS] = {
		[GP_TARGET_STATIC] = "it is statically linked, so no library can be loaded into it",
		[GP_TARGET_OTHER_MACHINE] =
			"it is built for another kind of processor, or for 32 bits",
		[GP_TARGET_MUSL] = "it uses the C library musl, and gpuprof needs glibc",
		[GP_TARGET_PRIVILEGED] = "it gains privileges at its start (set-user-id or file "
					 "capabilities); run it as that user",
	};

	return texts[bar];
}
