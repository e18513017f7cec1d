/*
 * client_calls: tracks threads inside the functions of a CUPTI client: its callback, buffer
 * functions and clock.
 *
 * A client that unregisters a function may unload it, or free its data, when the unregistering call
 * returns.  Like CUPTI, we make sure that no thread is inside the function by then.  (A thread that
 * leaves such a function by longjmp() delays this by 0.1 s.)  Every call of a client function lies
 * between gp_client_calls_enter() and gp_client_calls_leave().
 */
#ifndef INJECT_CLIENT_CALLS_H
#define INJECT_CLIENT_CALLS_H

#include <stdint.h>

/*
 * Any thread: read the word that holds the function's address (0 = none), and protect that function
 * from here on.
 */
uint64_t gp_client_calls_enter(const uint64_t *function);
void gp_client_calls_leave(void);

/*
 * After gp_swap64() has changed a word: on return no other thread uses the old function.  A thread
 * that stays in the function for over 0.1 s is not waited for.
 */
void gp_client_calls_await(void);

#endif
