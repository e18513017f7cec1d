/*
 * thread_memory: the memory of threads that take call stacks, or launch (inject/in_flight), all of them together a quarter of --max-memory.
 *
 * A thread has addresses for the longest stacks that there can be, and for as many as it can remember; what counts is what it takes of
 * them: something at once, and the rest as stacks come.
 */
#ifndef STACKS_THREAD_MEMORY_H
#define STACKS_THREAD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed, of which first_bytes are taken; NULL: there is no room.  Keeps errno. */
void *gp_thread_memory_map(size_t bytes, size_t first_bytes);
void gp_thread_memory_unmap(void *memory, size_t bytes, size_t taken_bytes);

/* Whether the calling thread may use item `number` of a table of its own, whose items take `bytes` each: *taken has a bit for each that it took. */
bool gp_thread_memory_take(uint32_t *taken, uint32_t number, size_t bytes);

#endif
