/*
 * callbacks: what runs inside the program's CUDA calls.  The hot path.
 *
 * CUPTI calls gp_callback() on the program's thread before and after each enabled call.  Before:
 * one clock read.  After: one clock read and one record.  No lock, no allocation, no system call;
 * errno is kept by gp_emit().
 *
 * A runtime call makes driver calls inside; those are not recorded, so that a call appears once,
 * under the name that the program used.
 */
#ifndef INJECT_CALLBACKS_H
#define INJECT_CALLBACKS_H

#include <stdbool.h>

#include <cupti.h>

/* What a callback needs from the session. */
struct gp_callback_events {
	/* cuInit is about to return. */
	void (*driver_ready)(void);
	/* A context was made; in the middle of the driver's own work: no CUDA call, no flush. */
	void (*context_created)(CUcontext context);
	void (*context_destroyed)(CUcontext context);
	/* A call returned that a kernel had failed, as every later one will: what is known of the GPU is to be saved. */
	void (*kernel_failed)(void);
};

/* To be set before the first callback is enabled. */
void gp_callbacks_init(const struct gp_callback_events *events);

/* Whether the calling thread's calls are ours, and not to be recorded. */
void gp_callbacks_leave_out_thread(bool leave_out);

void CUPTIAPI gp_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			  const void *data);

#endif
