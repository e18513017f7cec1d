/*
 * memory: allocation that does not fail.
 *
 * In the program `gpuprof`, malloc(), calloc() and realloc() never return NULL: without memory the
 * program prints one line and ends with exit status 1. Libraries call the same functions, and so do
 * strdup(), asprintf(), open_memstream() and tsearch() of the C library. So nothing that gpuprof
 * writes lacks a part for want of memory, and callers need no path for a failed allocation.
 *
 * The load of a trace is an attempt: allocations of its thread return NULL, and the load fails with
 * -ENOMEM and a line that names the trace. Helper threads of a load end the program, too. What can
 * do without the memory calls gp_memory_try_resize().
 *
 * A build with a sanitizer has the sanitizer's allocator, which ends the program, too.
 */
#ifndef REPORT_BASE_MEMORY_H
#define REPORT_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* As realloc() and calloc() of the C library: NULL if there is no memory. */
void *gp_memory_try_resize(void *block, size_t bytes);
void *gp_memory_try_zeroed(size_t count, size_t element_bytes);

/* Returns the block; if it is NULL, ends the program, or notes that the attempt fails. */
void *gp_memory_check(void *block);

/* Until the end of the attempt, allocations of this thread return NULL if there is no memory. */
void gp_memory_begin_attempt(void);

/* Returns false if an allocation of the attempt failed. */
bool gp_memory_end_attempt(void);

#define GP_MEMORY_MOST_LAST_ACTS 4

/* The program calls `act` before it ends for lack of memory, the latest first. */
void gp_memory_add_last_act(void (*act)(void));
void gp_memory_remove_last_act(void (*act)(void));

/* For a forked process: those of its parent are not its own. */
void gp_memory_forget_last_acts(void);

/* The exit status of an end for lack of memory: 1 at first. */
void gp_memory_set_exit_status(int status);

#endif
