/*
 * adopted_contexts: the contexts that exist when recording starts in a program that uses CUDA
 * already, and their devices.
 *
 * CUPTI has records of contexts and devices only when they begin.  These come from the driver: the
 * primary context of each device, which frameworks use, and the current one of this thread.
 */
#ifndef INJECT_ADOPTED_CONTEXTS_H
#define INJECT_ADOPTED_CONTEXTS_H

#include <stdint.h>

#include "inject/cupti_library.h"

#define GP_ADOPTED_CONTEXTS 64u

/* Finds at most GP_ADOPTED_CONTEXTS; returns their number.  Outside of callbacks. */
uint32_t gp_adopted_contexts_find(const struct gp_driver *driver,
				  CUcontext contexts[GP_ADOPTED_CONTEXTS]);

/* Emits the definitions of a context and of its device. */
void gp_adopted_contexts_define(const struct gp_driver *driver, const struct gp_cupti *cupti,
				CUcontext context, uint16_t device_id);

#endif
