/*
 * share_inside: who is inside a function that a client of CUPTI has given: a callback, its buffers' functions, its clock.
 *
 * A client that takes a function back may unload it, or free what it works on, when the call in which it did so returns:
 * as CUPTI, we let nobody be inside by then (a thread that leaves such a function by longjmp() is waited for in vain, 0.1 s).  Every call of such a function lies between the first two functions here.
 */
#ifndef INJECT_SHARE_INSIDE_H
#define INJECT_SHARE_INSIDE_H

#include <stdint.h>

/* Any thread: read the word that holds the function's address, 0 = none, and have that function waited for from here on. */
uint64_t gp_client_calls_enter(const uint64_t *function);
void gp_client_calls_leave(void);

/*
 * After a word has changed by gp_swap64(): what it held is no longer in use when this returns, by other threads than this.
 * One that is in the client's function for longer than 0.1 s is not waited for.
 */
void gp_client_calls_await(void);

#endif
