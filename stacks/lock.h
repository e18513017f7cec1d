/*
 * lock: a mutex for slow paths; waiters sleep in the kernel.
 *
 * It is held for a few instructions, and never while waiting for another lock.  A signal handler
 * that jumps out leaves it taken: a waiter that waits much longer than any hold time proceeds as if
 * it were free.  Elapsed time alone is not enough: a debugger, a frozen control group or SIGSTOP
 * stops a process for minutes, including the holder.
 */
#ifndef STACKS_LOCK_H
#define STACKS_LOCK_H

#include "collector/atomic.h"
#include "collector/sys.h"

#define GP_LOCK_MOST_NS 4000000000u
#define GP_LOCK_WAITS   4u /* a period in which the process was stopped counts as one wait */

static inline void gp_lock(uint32_t *word)
{
	uint64_t give_up_ns;

	if (gp_replace32(word, 0, 1))
		return;
	give_up_ns = gp_sys_now_ns() + GP_LOCK_MOST_NS;
	for (uint32_t waits = 0; gp_swap32(word, 2) != 0; waits++) {
		if (waits >= GP_LOCK_WAITS && gp_sys_now_ns() >= give_up_ns)
			break;
		gp_sys_wait(word, 2, GP_LOCK_MOST_NS / GP_LOCK_WAITS);
	}
}

static inline void gp_unlock(uint32_t *word)
{
	if (gp_swap32(word, 0) == 2)
		gp_sys_wake(word);
}

#endif
