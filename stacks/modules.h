/*
 * modules: what code is loaded in the process, and where.
 *
 * Ids count from 1; each module that occurs in a stack is told to the trace once (GP_RECORD_MODULE and GP_STRING_MODULE).
 *
 * The list is taken with dl_iterate_phdr(), which takes a lock of the loader: the one of the list, which is held while entries
 * are linked and unlinked, never while constructors, destructors or anything else of the program run.  A thread that is in
 * dlopen() or dlclose() and waits for CUDA in a constructor does not hold it.  (dlsym() and dladdr() take the other lock, which
 * such a thread does hold: they are used nowhere here.)  No lock of ours is held meanwhile, so that no order of locks exists;
 * of threads that fork, stacks/loader.h.
 */
#ifndef STACKS_MODULES_H
#define STACKS_MODULES_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

enum gp_module_flag {
	GP_MODULE_BELOW = 1,  /* ours, CUDA's: left out at the inner end of stacks */
	GP_MODULE_PYTHON = 2, /* nothing but a Python interpreter */
};

/* One executable mapping. */
struct gp_module {
	uint64_t start;
	uint64_t end;
	uint64_t bias;
	uint64_t identity;     /* of the module: its place, path and build-id */
	const uint8_t *unwind; /* .eh_frame_hdr, or NULL */
	const char *
		path; /* as the loader has it, "" = the program; like headers, valid while it is loaded */
	const ElfW(Phdr) * headers;
	uint32_t header_count;
	uint32_t id; /* 0 = the ids are used up */
	bool may_be_interpreter;
};

/*
 * The mapping that contains pc.  Where pc is on the caller's own stack, the module stays; where it comes from elsewhere, as from a look at all
 * modules, another module may lie there by now: compare the bias, and touch no memory of it.  *is_first: nobody asked for this module before,
 * and it was told to the trace.  False: pc is in no module.  Slow.
 */
bool gp_modules_find(uint64_t pc, struct gp_module *module, bool *is_first);

/*
 * A module that may be an interpreter, by its name, and that nobody asked for before; it was told to the trace.  For stacks that end before
 * they reach it.
 */
bool gp_modules_find_interpreter(struct gp_module *module);

/* Whether an address is in the code of a module that is known by now. */
bool gp_modules_is_code(uint64_t address);

/* Any thread, now and then: see whether modules were unloaded.  Cheap where none were. */
void gp_modules_poll(void);

/* Changes when a module was unloaded: what was remembered of addresses may be wrong. */
uint32_t gp_modules_epoch(void);

/* Whether a module with this id is loaded still, as of the epoch. */
bool gp_modules_is_loaded(uint32_t id);

/* enum gp_module_flag of a module. */
uint32_t gp_modules_flags(uint32_t id);

/*
 * Address of a symbol that the module exports, or 0; *bytes its size.  It reads the module's memory, which must stay meanwhile: the caller
 * executes in the module, or holds the lock of the loader's list (it is called in a gp_loader_visitor).
 */
uint64_t gp_modules_symbol(const struct gp_module *module, const char *name, uint64_t *bytes);

#endif
