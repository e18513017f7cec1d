/*
 * lock: a mutex of the slow paths; sleeps in the kernel where it is taken.
 *
 * It is held for some instructions, and never while another is waited for.  A handler of a signal that leaves them by a jump
 * leaves it taken: who has waited for much longer than any holder takes goes on as if it were free.  Longer by the clock is
 * not enough: a debugger, a frozen control group or SIGSTOP stops a process for minutes, with whoever holds it.
 */
#ifndef STACKS_LOCK_H
#define STACKS_LOCK_H

#include "collector/atomic.h"
#include "collector/sys.h"

#define GP_LOCK_MOST_NS 4000000000u
#define GP_LOCK_WAITS   4u /* one that was stopped counts once, however long that took */

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
