#include "inject/contexts.h"

#include <stdatomic.h>
#include <stddef.h>

/* CUPTI counts context ids from 1 within a process, so the id is the index. */
static _Atomic(CUcontext) living[GP_CONTEXT_LIMIT];
static _Atomic uint16_t device_of[GP_CONTEXT_LIMIT];

void gp_contexts_add(CUcontext context, uint32_t context_id, uint16_t device_id)
{
	if (context_id >= GP_CONTEXT_LIMIT)
		return;
	atomic_store_explicit(&device_of[context_id], device_id, memory_order_relaxed);
	atomic_store_explicit(&living[context_id], context, memory_order_release);
}

void gp_contexts_remove(uint32_t context_id)
{
	if (context_id < GP_CONTEXT_LIMIT)
		atomic_store_explicit(&living[context_id], NULL, memory_order_release);
}

uint16_t gp_contexts_device(uint32_t context_id)
{
	if (context_id >= GP_CONTEXT_LIMIT)
		return 0;
	return atomic_load_explicit(&device_of[context_id], memory_order_relaxed);
}

CUcontext gp_contexts_living(uint32_t context_id)
{
	if (context_id >= GP_CONTEXT_LIMIT)
		return NULL;
	return atomic_load_explicit(&living[context_id], memory_order_acquire);
}
