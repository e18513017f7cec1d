#include "inject/exit_slots.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/sys.h"
#include "inject/dlsym.h"
#include "stacks/loader.h"

#if defined(__x86_64__)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#define GLOB_DAT  R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#define GLOB_DAT  R_AARCH64_GLOB_DAT
#else
#define JUMP_SLOT UINT32_MAX
#define GLOB_DAT  UINT32_MAX
#endif

#define LIBRARY "libgpuprof.so"

typedef void exit_function(int status);

static void (*close_trace)(int status);
static exit_function *next; /* of the program, or of another copy of this library */
static int memory;          /* /proc/self/mem */

static void leave(int status)
{
	close_trace(status);
	if (next != NULL)
		next(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

/* The loader has relocated the addresses, except those of the kernel's own object. */
static uint64_t dynamic(const struct link_map *object, int64_t tag)
{
	for (const ElfW(Dyn) *at = object->l_ld; at->d_tag != DT_NULL; at++)
		if (at->d_tag == tag)
			return at->d_un.d_val;
	return 0;
}

static uint64_t dynamic_address(const struct link_map *object, int64_t tag)
{
	uint64_t address = dynamic(object, tag);

	return address != 0 && address < object->l_addr ? address + object->l_addr : address;
}

/* If another copy of this library took the slot before, that copy is called next. */
static void take_slot(uint64_t slot)
{
	uint64_t ours = (uint64_t)(uintptr_t)leave, before = *(const uint64_t *)(uintptr_t)slot;
	Dl_info information;

	if (before == ours)
		return;
	if (dladdr((void *)(uintptr_t)before, &information) != 0 && information.dli_fname != NULL &&
	    strstr(information.dli_fname, LIBRARY) != NULL)
		next = (exit_function *)(uintptr_t)before;
	gp_sys.call(SYS_pwrite64, memory, (long)&ours, sizeof(ours), (long)slot, 0, 0);
}

static bool is_exit(const char *name)
{
	return strcmp(name, "_exit") == 0 || strcmp(name, "_Exit") == 0;
}

static void take_slots(const struct link_map *object, int64_t table, int64_t bytes)
{
	const ElfW(Rela) *at = (const void *)(uintptr_t)dynamic_address(object, table);
	const ElfW(Rela) *end = at + dynamic(object, bytes) / sizeof(*at);
	const ElfW(Sym) *symbols = (const void *)(uintptr_t)dynamic_address(object, DT_SYMTAB);
	const char *names = (const char *)(uintptr_t)dynamic_address(object, DT_STRTAB);

	for (; at != NULL && symbols != NULL && names != NULL && at < end; at++) {
		uint32_t type = (uint32_t)ELF64_R_TYPE(at->r_info);

		if ((type == JUMP_SLOT || type == GLOB_DAT) &&
		    is_exit(names + symbols[ELF64_R_SYM(at->r_info)].st_name))
			take_slot(object->l_addr + at->r_offset);
	}
}

/* Once, with the loader's lock: its lists do not change meanwhile. */
static int take_all(struct dl_phdr_info *unused, size_t bytes, void *program)
{
	(void)unused, (void)bytes;
	for (const struct link_map *object = program; object != NULL; object = object->l_next) {
		take_slots(object, DT_JMPREL, DT_PLTRELSZ);
		take_slots(object, DT_RELA, DT_RELASZ);
	}
	return 1;
}

void gp_exit_slots_take(void (*close)(int status))
{
	/* in any namespace, this is the handle of the first object of the program's namespace */
	void *program = dlmopen(LM_ID_BASE, NULL, RTLD_LAZY | RTLD_NOLOAD);

	if (program == NULL)
		return;
	close_trace = close;
	next = (exit_function *)(uintptr_t)gp_dlsym(program, "_exit");
	memory = gp_sys_open("/proc/self/mem", O_WRONLY, 0);
	if (memory >= 0) {
		gp_loader_iterate(take_all, program);
		gp_sys_close(memory);
	}
	dlclose(program);
}
