/* lock: a mutex of the slow paths; sleeps in the kernel where it is taken. */
#ifndef STACKS_LOCK_H
#define STACKS_LOCK_H

#include "collector/atomic.h"
#include "collector/sys.h"

static inline void gp_lock(uint32_t *word)
{
	if (gp_replace32(word, 0, 1))
		return;
	while (gp_swap32(word, 2) != 0)
		gp_sys_wait(word, 2, 1000000000u);
}

static inline void gp_unlock(uint32_t *word)
{
	if (gp_swap32(word, 0) == 2)
		gp_sys_wake(word);
}

#endif
