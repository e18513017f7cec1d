/* thread_stack: how much of its stack a thread has left. */
#ifndef INJECT_THREAD_STACK_H
#define INJECT_THREAD_STACK_H

#include <stdbool.h>
#include <stddef.h>

/* Once, before gp_thread_stack_has(). */
void gp_thread_stack_find(void);

/*
 * Whether the calling thread has so much left.  False if that is not known: the C library lacks the
 * functions, or the thread runs on a stack of the program's, such as that of a coroutine.
 */
bool gp_thread_stack_has(size_t bytes);

#endif
