#include "report/run/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPT_DEPTH 4 /* as many as the kernel follows */

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#error "unknown machine: add its e_machine"
#endif

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
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
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

/* The image stays empty if the file is unreadable. */
static void map_file(const char *path, struct image *image)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *bytes = MAP_FAILED;

	if (fd < 0)
		return;
	if (!fstat(fd, &status) && status.st_size > 0)
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return;
	image->bytes = bytes;
	image->size = (size_t)status.st_size;
}

/* The bytes at an offset, or NULL if the file has fewer. */
static const void *at(const struct image *image, uint64_t offset, uint64_t length)
{
	if (offset > image->size || length > image->size - offset)
		return NULL;
	return image->bytes + offset;
}

/* The string at an offset, or "" if it does not end within the file. */
static const char *text_at(const struct image *image, uint64_t offset)
{
	if (offset >= image->size || !memchr(image->bytes + offset, 0, image->size - offset))
		return "";
	return image->bytes + offset;
}

static const Elf64_Phdr *find_header(const struct image *image, const Elf64_Ehdr *elf,
				     uint32_t type)
{
	for (uint64_t i = 0; i < elf->e_phnum && elf->e_phoff % sizeof(uint64_t) == 0; i++) {
		const Elf64_Phdr *header =
			at(image, elf->e_phoff + i * sizeof(*header), sizeof(*header));

		if (header && header->p_type == type)
			return header;
	}
	return NULL;
}

/* The section header with that index, or NULL. */
static const Elf64_Shdr *section_at(const struct image *image, const Elf64_Ehdr *elf, uint64_t i)
{
	return elf->e_shoff % sizeof(uint64_t) == 0 && i < elf->e_shnum
		       ? at(image, elf->e_shoff + i * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr))
		       : NULL;
}

static bool has_section(const struct image *image, const Elf64_Ehdr *elf, const char *name)
{
	const Elf64_Shdr *names = section_at(image, elf, elf->e_shstrndx), *section;

	for (uint64_t i = 0; names && (section = section_at(image, elf, i)) != NULL; i++)
		if (strcmp(text_at(image, names->sh_offset + section->sh_name), name) == 0)
			return true;
	return false;
}

/*
 * Whether the file is a loader, which loads the program that its arguments name. It looks like a
 * static program.
 */
static bool is_loader(const char *file)
{
	return fnmatch("ld*.so*", basename(file), 0) == 0;
}

static enum gp_target_bar look_at_elf(const struct image *image, struct gp_target *target)
{
	const Elf64_Ehdr *elf = at(image, 0, sizeof(*elf));
	const Elf64_Phdr *interpreter;

	if (!elf || elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != OWN_MACHINE)
		return GP_TARGET_OTHER_MACHINE;
	interpreter = find_header(image, elf, PT_INTERP);
	if (!interpreter && !is_loader(target->file))
		return GP_TARGET_STATIC;
	snprintf(target->loader, PATH_MAX, "%s",
		 interpreter ? text_at(image, interpreter->p_offset) : target->file);
	target->has_kernels = has_section(image, elf, ".nv_fatbin");
	if (strstr(target->loader, "/ld-musl"))
		return GP_TARGET_MUSL;
	return GP_TARGET_OPEN;
}

/*
 * Reads the next word of a "#!" line from *position on. Returns false at the end, or if the word is
 * too long.
 */
static bool read_word(const struct image *image, size_t *position, char word[PATH_MAX])
{
	size_t length = 0;

	for (; *position < image->size && length < PATH_MAX - 1; ++*position) {
		char c = image->bytes[*position];

		if (c == '\n' || (length && (c == ' ' || c == '\t')))
			break;
		if (c != ' ' && c != '\t')
			word[length++] = c;
	}
	word[length] = 0;
	return length > 0 && length < PATH_MAX - 1;
}

/*
 * For `env`, finds the program that it runs: the first word that is neither an option nor a
 * variable, looked up in PATH.
 */
static void look_up_for_env(const struct image *image, size_t position, char path[PATH_MAX])
{
	const char *name = strrchr(path, '/');
	char word[PATH_MAX], found[PATH_MAX];

	if (!name || strcmp(name, "/env") != 0)
		return;
	while (read_word(image, &position, word))
		if (word[0] != '-' && !strchr(word, '=')) {
			if (gp_target_find(word, found) == 0)
				memcpy(path, found, sizeof(found));
			return;
		}
}

/* Reads the interpreter of a "#!" line. */
static bool read_interpreter(const struct image *image, char path[PATH_MAX])
{
	size_t position = 2;

	if (image->size < 2 || memcmp(image->bytes, "#!", 2) || !read_word(image, &position, path))
		return false;
	look_up_for_env(image, position, path);
	return true;
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

static void look_at_file(struct gp_target *target, const struct image *image)
{
	if (image->size > SELFMAG && !memcmp(image->bytes, ELFMAG, SELFMAG))
		target->bar = look_at_elf(image, target);
	if (target->bar == GP_TARGET_OPEN && gains_privileges(target->file))
		target->bar = GP_TARGET_PRIVILEGED;
}

void gp_target_resolve(const char *path, struct gp_target *target)
{
	bool script = true;

	*target = (struct gp_target){.bar = GP_TARGET_OPEN};
	snprintf(target->file, sizeof(target->file), "%s", path);
	for (int depth = 0; script && depth < SCRIPT_DEPTH; depth++) {
		struct image image = {NULL, 0};
		char interpreter[PATH_MAX];

		map_file(target->file, &image);
		script = read_interpreter(&image, interpreter);
		if (script)
			memcpy(target->file, interpreter, sizeof(interpreter));
		else /* scripts never gain privileges */
			look_at_file(target, &image);
		if (image.bytes)
			munmap((void *)image.bytes, image.size);
	}
}

enum gp_target_bar gp_target_look(const char *path)
{
	struct gp_target target;

	gp_target_resolve(path, &target);
	return target.bar;
}

const char *gp_target_bar_text(enum gp_target_bar bar)
{
	static const char *const texts[GP_TARGET_BARS] = {
		[GP_TARGET_STATIC] = "it is statically linked, so it loads no libraries",
		[GP_TARGET_OTHER_MACHINE] = "it is built for another processor, or for 32 bits",
		[GP_TARGET_MUSL] = "it uses musl as C library, and gpuprof needs glibc",
		[GP_TARGET_PRIVILEGED] =
			"it gains privileges when it starts (set-user-id or file capabilities); run it as that user",
	};

	return texts[bar];
}
