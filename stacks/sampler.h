/*
 * sampler: now and then, the Python stacks of all threads of the interpreter, also of those that call nothing.
 *
 * One thread of ours looks, and nobody else takes part: no thread is stopped or signalled, no lock of the interpreter's is taken, nothing is
 * written.  Memory is copied by a system call that fails where there is none (stacks/snapshot.h), and what was copied is taken for a stack
 * only where it is the same thread and the same innermost frame before and after, where each frame is the same in two copies, and where it
 * executes a code object.  Of a thread that calls and returns meanwhile, the outer frames count on which several attempts agree; what is missed
 * is counted.
 *
 * Stacks have Python frames alone.  A stack that stays is one GP_RECORD_SAMPLE after a second, and few more.
 */
#ifndef STACKS_SAMPLER_H
#define STACKS_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

/* Threads that are looked at; more are left out.  Fewer where a sixteenth of --max-memory is less than these take, 4 MiB. */
#define GP_SAMPLER_THREADS 128u

/*
 * By the thread that will look, once: how often, and how many times as long as looks take it rests at least; 200 is 0.5 % of a core, besides some
 * milliseconds in all.  Where there is no memory for it, nothing will be looked at.
 */
void gp_sampler_begin(uint64_t period_ns, uint32_t least_rest);

/*
 * By that thread, whenever it is awake: look, if it is time to and is_wanted.  Returns after how many nanoseconds it should be called again;
 * UINT64_MAX = there is nothing to look at yet, or no more: whenever it likes.
 */
uint64_t gp_sampler_pass(uint64_t now_ns, bool is_wanted);

/* By that thread, at its end: tell what was not told yet. */
void gp_sampler_end(void);

#endif
