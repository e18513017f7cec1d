/*
 * callbacks: the code that runs inside the program's CUDA calls.  The hot path.
 *
 * CUPTI calls gp_callback() on the program's thread before and after each enabled call.  Before:
 * one clock read.  After: one clock read and one record.  No lock, no allocation, no system call;
 * gp_emit() preserves errno.
 *
 * The driver calls that a runtime call makes are not recorded, so that a call appears once, under
 * the name that the program used.
 */
#ifndef INJECT_CALLBACKS_H
#define INJECT_CALLBACKS_H

#include <stdbool.h>

#include <cupti.h>

/* The session's handlers. */
struct gp_callback_events {
	/* cuInit is about to return. */
	void (*driver_ready)(void);
	/*
	 * A context was created.  Called in the middle of the driver's work: no CUDA call and no
	 * flush are allowed.
	 */
	void (*context_created)(CUcontext context);
	void (*context_destroyed)(CUcontext context);
	/* The driver has loaded this code.  Only with --stalls. */
	void (*module_loaded)(const void *cubin, size_t bytes);
	/*
	 * A call reported the failure of a kernel, as every later call will: save all GPU data now.
	 */
	void (*kernel_failed)(void);
};

/* Must be called before the first callback is enabled. */
void gp_callbacks_init(const struct gp_callback_events *events);

/* Mark the calling thread as a profiler thread, whose calls are not recorded. */
void gp_callbacks_exclude_thread(bool leave_out);

void CUPTIAPI gp_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			  const void *data);

#endif
