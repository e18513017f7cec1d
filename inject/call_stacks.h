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

#include "inject/api_table.h"
#include "stacks/stack.h"

/* Once, after gp_api_table_init(), before the first callback.  Where there can be no stacks, one line says so. */
void gp_call_stacks_init(void);

/* For the functions below alone: when a call's stack is taken, by domain and cbid. */
enum gp_call_stacks_when { GP_STACK_NEVER, GP_STACK_AT_ENTER, GP_STACK_AT_EXIT };
extern uint8_t gp_call_stacks_when[2][GP_API_CBID_LIMIT] __attribute__((visibility("hidden")));

static inline enum gp_call_stacks_when gp_call_stacks_of(bool driver, uint32_t cbid)
{
	return cbid < GP_API_CBID_LIMIT ? gp_call_stacks_when[driver][cbid] : GP_STACK_NEVER;
}

/* The call's stack, or 0 where it gets none, or not then.  On the calling thread, in the callback. */
static inline uint32_t gp_call_stacks_at_enter(bool driver, uint32_t cbid)
{
	return gp_call_stacks_of(driver, cbid) == GP_STACK_AT_ENTER ? gp_stack_capture() : 0;
}

/* Also of a call whose stack could not be taken at its beginning. */
static inline uint32_t gp_call_stacks_at_exit(bool driver, uint32_t cbid)
{
	return gp_call_stacks_of(driver, cbid) != GP_STACK_NEVER ? gp_stack_capture() : 0;
}

#endif
