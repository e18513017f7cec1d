/*
 * thread_memory: the memory of threads that capture call stacks or launch (inject/in_flight),
 * together at most a quarter of --max-memory.
 *
 * A thread reserves addresses for the longest stacks and for all that it can remember; only the
 * used part is charged: a first part at the start, more as stacks need it.
 */
#ifndef STACKS_THREAD_MEMORY_H
#define STACKS_THREAD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed, with first_bytes charged; NULL: the limit is reached.  Preserves errno. */
void *gp_thread_memory_map(size_t bytes, size_t first_bytes);
void gp_thread_memory_unmap(void *memory, size_t bytes, size_t taken_bytes);

/*
 * Whether the calling thread may use item `number` of its own table of items of this size; *taken
 * has a bit for each charged item.
 */
bool gp_thread_memory_take(uint32_t *taken, uint32_t number, size_t bytes);

#endif
