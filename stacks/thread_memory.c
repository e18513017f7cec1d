#include "stacks/thread_memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "collector/atomic.h"
#include "collector/memory_budget.h"
#include "collector/sys.h"

#define BUDGET_PART 4 /* of --max-memory: threads leave memory for later needs */

static uint64_t threads_bytes; /* of all threads */

static void give(size_t bytes)
{
	gp_memory_budget_release(GP_MEMORY_BUDGET_INHERITED, bytes);
	gp_add64(&threads_bytes, -(uint64_t)bytes);
}

static bool take(size_t bytes)
{
	uint64_t before = gp_take64(&threads_bytes, bytes);

	if (before + bytes <= gp_memory_budget_share(UINT64_MAX, BUDGET_PART) &&
	    gp_memory_budget_charge(GP_MEMORY_BUDGET_INHERITED, bytes))
		return true;
	gp_add64(&threads_bytes, -(uint64_t)bytes);
	return false;
}

void *gp_thread_memory_map(size_t bytes, size_t first_bytes)
{
	void *memory;

	if (!take(first_bytes))
		return NULL;
	if (gp_sys_map_lazily(bytes, &memory) != 0) {
		give(first_bytes);
		return NULL;
	}
	/* a huge page would allocate all of it immediately */
	gp_sys.call(SYS_madvise, (long)memory, (long)bytes, MADV_NOHUGEPAGE, 0, 0, 0);
	return memory;
}

void gp_thread_memory_unmap(void *memory, size_t bytes, size_t taken_bytes)
{
	gp_sys.call(SYS_munmap, (long)memory, (long)bytes, 0, 0, 0, 0);
	give(taken_bytes);
}

bool gp_thread_memory_take(uint32_t *taken, uint32_t number, size_t bytes)
{
	uint32_t bit = 1u << number;

	if (!(*taken & bit) && take(bytes))
		*taken |= bit;
	return (*taken & bit) != 0;
}
