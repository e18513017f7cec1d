#include "inject/contexts.h"

#include <stddef.h>

#include "collector/atomic.h"

/* CUPTI counts context ids from 1 within a process, so the id is the index. */
static uint64_t living[GP_CONTEXT_LIMIT];
static uint32_t device_of[GP_CONTEXT_LIMIT];

void gp_contexts_add(CUcontext context, uint32_t context_id, uint16_t device_id)
{
	if (context_id >= GP_CONTEXT_LIMIT)
		return;
	gp_store32(&device_of[context_id], device_id);
	gp_store64_release(&living[context_id], (uint64_t)(uintptr_t)context);
}

void gp_contexts_remove(uint32_t context_id)
{
	if (context_id < GP_CONTEXT_LIMIT)
		gp_store64_release(&living[context_id], 0);
}

uint16_t gp_contexts_device(uint32_t context_id)
{
	if (context_id >= GP_CONTEXT_LIMIT)
		return 0;
	return (uint16_t)gp_load32(&device_of[context_id]);
}

CUcontext gp_contexts_living(uint32_t context_id)
{
	if (context_id >= GP_CONTEXT_LIMIT)
		return NULL;
	return (CUcontext)(uintptr_t)gp_load64_acquire(&living[context_id]);
}
