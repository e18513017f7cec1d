/*
 * call_stacks: which API calls get a call stack (--stacks) and when it is taken; and which calls
 * may block.
 *
 * The stack of a call that may block is taken before the call, while the device works.  The stack
 * of a launch, or of another call that does not wait, is taken after the call, when the device
 * already has its work.  The same holds for every failed call.
 */
#ifndef INJECT_CALL_STACKS_H
#define INJECT_CALL_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/api_table.h"

/*
 * Once, after gp_api_table_init(), before the first callback.  Logs a line if stacks are
 * unavailable.
 */
void gp_call_stacks_init(void);

/*
 * When a call's stack is taken, and whether the call may block: bits, by domain and cbid; 0 = no
 * stack, and the call does not wait.  SAMPLED: only if inject/launch_sampler.h says so.
 */
#define GP_STACK_AT_ENTER 1u
#define GP_STACK_AT_EXIT  2u
#define GP_CALL_WAITS     4u
#define GP_STACK_SAMPLED  8u
extern uint8_t gp_call_stacks_when[2][GP_API_CBID_LIMIT] __attribute__((visibility("hidden")));

static inline uint8_t gp_call_stacks_of(bool driver, uint32_t cbid)
{
	return cbid < GP_API_CBID_LIMIT ? gp_call_stacks_when[driver][cbid] : 0;
}

#endif
