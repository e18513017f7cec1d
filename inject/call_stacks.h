/*
 * call_stacks: which API calls get a call stack, by --stacks, and when it is taken.
 *
 * A call that may block gets its stack before it begins, for the device works meanwhile; a launch or another call that
 * returns at once gets it after, for the device then has its work already.
 */
#ifndef INJECT_CALL_STACKS_H
#define INJECT_CALL_STACKS_H

#include <stdbool.h>
#include <stdint.h>

/* Once, after gp_api_table_init(), before the first callback.  Where there can be no stacks, one line says so. */
void gp_call_stacks_init(void);

/* The call's stack, or 0 where it gets none, or not then.  On the calling thread, in the callback. */
uint32_t gp_call_stacks_at_enter(bool driver, uint32_t cbid);
uint32_t gp_call_stacks_at_exit(bool driver, uint32_t cbid);

#endif
