/*
 * contexts: the CUDA contexts of this process, their devices, and which ones are alive.
 *
 * Written in CUPTI's resource callbacks, read in API callbacks and at exit, on any thread, without
 * locks.
 */
#ifndef INJECT_CONTEXTS_H
#define INJECT_CONTEXTS_H

#include <stdint.h>

#include <cuda.h>

/* Number of remembered contexts; calls in older ones are recorded with device 0. */
#define GP_CONTEXT_LIMIT 256u

void gp_contexts_add(CUcontext context, uint32_t context_id, uint16_t device_id);
void gp_contexts_remove(uint32_t context_id);

/* After the end of a recording: contexts may end unnoticed. */
void gp_contexts_forget_living(void);

/* Device of a context, 0 if unknown. */
uint16_t gp_contexts_device(uint32_t context_id);

/* The living context with this id, or NULL. */
CUcontext gp_contexts_living(uint32_t context_id);

#endif
