/* memory: large tables that use memory only for touched pages. */
#ifndef STACKS_MEMORY_H
#define STACKS_MEMORY_H

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "collector/memory_budget.h"
#include "collector/sys.h"

static inline void gp_memory_unmap(void *memory, size_t bytes)
{
	gp_sys.call(SYS_munmap, (long)memory, (long)bytes, 0, 0, 0, 0);
	gp_memory_budget_release(GP_MEMORY_BUDGET_INHERITED, bytes);
}

/* Zeroes a mapping and frees its pages; it stays mapped, as a thread may still be reading it. */
static inline void gp_memory_clear(void *memory, size_t bytes)
{
	if (memory != NULL &&
	    gp_sys.call(SYS_madvise, (long)memory, (long)bytes, MADV_DONTNEED, 0, 0, 0) != 0)
		memset(memory, 0, bytes);
}

/*
 * Zeroed; NULL if the process may have no more memory.  Release with gp_memory_unmap().  Preserves
 * errno.
 */
static inline void *gp_memory_map(size_t bytes)
{
	void *memory;

	if (!gp_memory_budget_charge(GP_MEMORY_BUDGET_INHERITED, bytes))
		return NULL;
	if (gp_sys_map_lazily(bytes, &memory) == 0)
		return memory;
	gp_memory_budget_release(GP_MEMORY_BUDGET_INHERITED, bytes);
	return NULL;
}

#endif
