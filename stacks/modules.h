/*
 * modules: the loaded code modules of the process and their addresses.
 *
 * Ids count from 1; each module that occurs in a stack is emitted once (GP_RECORD_MODULE and
 * GP_STRING_MODULE).
 *
 * The list comes from dl_iterate_phdr(), which takes the loader's list lock.  The loader holds that
 * lock while it links and unlinks entries, never while constructors, destructors or other program
 * code run.  So a thread that waits for CUDA in a constructor inside dlopen() or dlclose() does not
 * hold it.  (dlsym() and dladdr() take the other lock, which such a thread does hold: they are
 * never used here.)  No lock of ours is held meanwhile, so there is no lock order; for forking
 * threads see stacks/loader.h.
 */
#ifndef STACKS_MODULES_H
#define STACKS_MODULES_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

enum gp_module_flag {
	GP_MODULE_BELOW = 1,  /* of gpuprof or CUDA: left out at the inner end of stacks */
	GP_MODULE_PYTHON = 2, /* contains only a Python interpreter */
};

/* One executable mapping. */
struct gp_module {
	uint64_t start;
	uint64_t end;
	uint64_t bias;
	uint64_t identity;     /* of the module: its address, path and build-id */
	const uint8_t *unwind; /* .eh_frame_hdr, or NULL */
	/* from the loader, "" = the program; like headers, valid while it is loaded */
	const char *path;
	const ElfW(Phdr) * headers;
	uint32_t header_count;
	uint32_t id; /* 0 = the ids are used up */
	bool may_be_interpreter;
};

/*
 * The mapping that contains pc.  If pc is on the caller's own stack, the module stays loaded.  If
 * pc has another source, such as a sample of other threads, another module may be there by now:
 * compare the bias, and touch no memory of it.  *is_first: the first request for this module, which
 * emitted it.  False: pc is in no module.  Slow.
 */
bool gp_modules_find(uint64_t pc, struct gp_module *module, bool *is_first);

/*
 * A module that may be an interpreter, judged by its name, and that was not requested before; emits
 * it.  For stacks that end before they reach it.
 */
bool gp_modules_find_interpreter(struct gp_module *module);

/*
 * Whether a requested module lies in a folder into which a bundle (PyInstaller, AppImage, Nuitka)
 * unpacked itself, and which it removes when this process has ended.
 */
bool gp_modules_are_in_bundle(void);

/* Whether an address is in the code of a known module. */
bool gp_modules_is_code(uint64_t address);

/* Any thread, periodically: check for unloaded modules.  Cheap if there are none. */
void gp_modules_poll(void);

/* Changes when a module was unloaded: cached data about addresses may be wrong. */
uint32_t gp_modules_epoch(void);

/* A further recording begins: modules are emitted again, with their ids. */
void gp_modules_forget_emitted(void);

/* Whether the module with this id is still loaded, as of the epoch. */
bool gp_modules_is_loaded(uint32_t id);

/* enum gp_module_flag of a module. */
uint32_t gp_modules_flags(uint32_t id);

/*
 * Address of an exported symbol of the module, or 0; *bytes: its size.  Reads the module's memory,
 * which must stay loaded meanwhile: the caller executes in the module, or holds the loader's list
 * lock (inside a gp_loader_visitor).
 */
uint64_t gp_modules_symbol(const struct gp_module *module, const char *name, uint64_t *bytes);

#endif
