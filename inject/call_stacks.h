/*
 * call_stacks: which API calls get a call stack, by --stacks, and when it is taken; and which calls may wait.
 *
 * A call that may block gets its stack before it begins, for the device works meanwhile; a launch or another call that
 * returns at once gets it after, for the device then has its work already; and so does whatever call has failed.
 */
#ifndef INJECT_CALL_STACKS_H
#define INJECT_CALL_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/api_table.h"
#include "stacks/stack.h"

/* Once, after gp_api_table_init(), before the first callback.  Where there can be no stacks, one line says so. */
void gp_call_stacks_init(void);

/* When a call's stack is taken, and whether it may wait: bits, by domain and cbid; 0 = it gets none, and returns at once. */
#define GP_STACK_AT_ENTER 1u
#define GP_STACK_AT_EXIT  2u
#define GP_CALL_WAITS     4u
extern uint8_t gp_call_stacks_when[2][GP_API_CBID_LIMIT] __attribute__((visibility("hidden")));

static inline uint8_t gp_call_stacks_of(bool driver, uint32_t cbid)
{
	return cbid < GP_API_CBID_LIMIT ? gp_call_stacks_when[driver][cbid] : 0;
}

/*
 * At a call's end: its stack, or 0 where it gets none; also of one whose stack could not be taken at its beginning.  One that
 * failed gets it whatever --stacks asks for, unless that is none: failures are few, and what a user wants to know is where.
 */
static inline uint32_t gp_call_stacks_at_exit(bool driver, uint32_t cbid, bool failed)
{
	return failed || gp_call_stacks_of(driver, cbid) & (GP_STACK_AT_ENTER | GP_STACK_AT_EXIT)
		       ? gp_stack_capture()
		       : 0;
}

#endif
