#include "inject/contexts.h"

#include <stddef.h>

#include "collector/atomic.h"

/*
 * CUPTI counts context ids from 1 within a process and never reuses them.  Each id maps to a slot,
 * and the newest id of a slot owns it.
 */
static struct slot {
	uint64_t living; /* the context, 0 = destroyed */
	uint32_t id;     /* 0 = none yet */
	uint32_t device_id;
} slots[GP_CONTEXT_LIMIT];

/* NULL: the id is unknown, or forgotten. */
static struct slot *find(uint32_t context_id)
{
	struct slot *slot = &slots[context_id % GP_CONTEXT_LIMIT];

	return context_id != 0 && gp_load32_acquire(&slot->id) == context_id ? slot : NULL;
}

void gp_contexts_add(CUcontext context, uint32_t context_id, uint16_t device_id)
{
	struct slot *slot = &slots[context_id % GP_CONTEXT_LIMIT];

	gp_store64(&slot->living, 0);
	gp_store32(&slot->device_id, device_id);
	gp_store32_release(&slot->id, context_id);
	gp_store64_release(&slot->living, (uint64_t)(uintptr_t)context);
}

void gp_contexts_remove(uint32_t context_id)
{
	struct slot *slot = find(context_id);

	if (slot != NULL)
		gp_store64_release(&slot->living, 0);
}

void gp_contexts_forget_living(void)
{
	for (uint32_t i = 0; i < GP_CONTEXT_LIMIT; i++)
		gp_store64_release(&slots[i].living, 0);
}

uint16_t gp_contexts_device(uint32_t context_id)
{
	struct slot *slot = find(context_id);

	return slot != NULL ? (uint16_t)gp_load32(&slot->device_id) : 0;
}

CUcontext gp_contexts_living(uint32_t context_id)
{
	struct slot *slot = find(context_id);

	return slot != NULL ? (CUcontext)(uintptr_t)gp_load64_acquire(&slot->living) : NULL;
}
