/* memory: large tables, of which only what is touched takes memory. */
#ifndef STACKS_MEMORY_H
#define STACKS_MEMORY_H

#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "collector/sys.h"

/* Zeroed; NULL where the process may have no more.  Give back with gp_sys_unmap().  Keeps errno. */
static inline void *gp_memory_map(size_t bytes)
{
	long memory = gp_sys.call(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory >= 0 || memory < -4095 ? (void *)memory : NULL;
}

#endif
