/*
 * stack: the calling thread's call stack, native and Python, as the id of its innermost frame.
 *
 * Frames, modules and code objects are emitted when they are first met; an id is valid in the trace
 * of this process.  In the steady state a capture takes no lock, allocates nothing and makes no
 * system call; one that ends in a copy (stacks/stack_copy.h) calls the loader for each frame.
 * x86-64 and aarch64.
 */
#ifndef STACKS_STACK_H
#define STACKS_STACK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Once, before the first capture.  0; -ENOTSUP on other machines, -ENOMEM; -EALREADY in a forked
 * child of a process that started: captures stay off there.
 */
int gp_stack_start(void);

/*
 * After the end of a recording, in a process that runs on: free the memory, and forget which frames,
 * modules and code objects were emitted.  gp_stack_start() may come again.  Not while a profiler
 * thread samples.
 */
void gp_stack_forget(void);

/*
 * The stack of the caller, without the frames of CUDA's libraries and of this one at the inner
 * end.  0 = none: not started, not recording, or one of the counted reasons.  Any thread, also in
 * signal handlers; preserves errno.
 */
uint32_t gp_stack_capture(void);

/* A profiler thread, a few times a second: check for unloaded modules. */
void gp_stack_poll(void);

/*
 * By one profiler thread: sample the Python stacks of all threads every period_ns
 * (stacks/sampler.h), and rest at least least_rest times as long as that took; 0 = never.  Works
 * without captures, too.  Call gp_stack_sample() whenever the thread is awake; it returns the
 * nanoseconds until the next call, UINT64_MAX = any time.
 */
void gp_stack_begin_samples(uint64_t period_ns, uint32_t least_rest);
uint64_t gp_stack_sample(uint64_t now_ns, bool is_wanted);
void gp_stack_end_samples(void);

#endif
