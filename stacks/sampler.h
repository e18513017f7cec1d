/*
 * sampler: samples the Python stacks of all interpreter threads periodically, also of threads that
 * make no API calls.
 *
 * One profiler thread samples without cooperation: it stops or signals no thread, takes no
 * interpreter lock, and writes nothing.  Memory is copied by a system call that fails on unmapped
 * memory (stacks/snapshot.h).  The copy counts as a stack only if the thread and its innermost
 * frame are the same before and after, each frame is the same in two copies, and each frame
 * executes a code object.  If the thread calls and returns meanwhile, the outer frames on which
 * several attempts agree are used; missed samples are counted.
 *
 * Stacks have only Python frames.  A constant stack becomes one GP_RECORD_SAMPLE after a second,
 * and few later ones.
 */
#ifndef STACKS_SAMPLER_H
#define STACKS_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Maximum number of sampled threads.  Fewer if a sixteenth of --max-memory is less than their 4
 * MiB.
 */
#define GP_SAMPLER_THREADS 128u

/*
 * By the sampling thread, once.  least_rest: the sampler rests at least this many times as long as
 * samples take; 200 means 0.5 % of a core, plus some milliseconds in total.  Without memory,
 * nothing is sampled.
 */
void gp_sampler_begin(uint64_t period_ns, uint32_t least_rest);

/*
 * By that thread, whenever it is awake: sample if it is time and is_wanted.  Returns the
 * nanoseconds until the next call; UINT64_MAX = nothing to sample yet or any more: call at any
 * time.
 */
uint64_t gp_sampler_pass(uint64_t now_ns, bool is_wanted);

/* By that thread, at its end: emit pending samples. */
void gp_sampler_end(void);

/* After the end: free the memory; gp_sampler_begin() may come again. */
void gp_sampler_forget(void);

#endif
