/*
 * spill_memory: memory for arrays that grow with the events of a trace.
 *
 * Blocks are from malloc() as long as all of them together are within a limit. A block beyond the
 * limit is a mapped, unlinked file in a folder for temporary files; the kernel keeps its used pages
 * in memory and can write them to the disk. So the memory that other processes cannot have is
 * bounded, however long the trace is. Without a usable folder the block is memory.
 *
 * All functions are thread-safe; a block belongs to one thread at a time.
 */
#ifndef REPORT_BASE_SPILL_MEMORY_H
#define REPORT_BASE_SPILL_MEMORY_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* Sets the limit; there is none at first. The limit holds only while files can be created. */
void gp_spill_limit(uint64_t bytes);

/* NULL if there is neither memory nor a file. A block of 0 bytes is not NULL. */
void *gp_spill_take(size_t bytes);
void *gp_spill_take_zeroed(size_t count, size_t element_bytes);

/* `block` may be NULL or from malloc(). Where NULL is returned, the block is unchanged. */
void *gp_spill_resize(void *block, size_t bytes);

/* `block` may be NULL or from malloc(). */
void gp_spill_free(void *block);

#define GP_SPILL_TROUBLE_BYTES (PATH_MAX + 128)

/* Why a file could not be created, for the user; "" if none was needed or all were created. */
void gp_spill_trouble(char text[GP_SPILL_TROUBLE_BYTES]);

#endif
