/*
 * since_fork: words that are zero again in every forked child, however it was made, so that a child knows itself
 * for one without asking the system.
 *
 * A child of vfork() runs in its parent's memory and sees the parent's words: gp_process_state_is_own_process() tells, where
 * somebody asked before it was made: the constructor does, in a forked child whoever comes first.
 */
#ifndef COLLECTOR_SINCE_FORK_H
#define COLLECTOR_SINCE_FORK_H

#include <stdbool.h>
#include <stdint.h>

#define GP_PROCESS_STATE_BYTES 4096u

/* Alone on its page, for the kernel wipes whole pages.  All words are atomic. */
struct gp_process_state {
	uint32_t
		live; /* number of the recording that takes records, 0 = none; see collector/thread.h */
	uint32_t collector; /* how far the collector is; see collector/collector.c */
	uint32_t process;   /* id of the process, 0 = nobody has asked yet */
	uint32_t
		recording; /* how far inject/ is with starting a recording; see inject/process_trace.c */
	uint32_t closer; /* id of the thread that closes it, or did; 0 = none */
	uint32_t
		cupti; /* 1 = this very process subscribed to CUPTI; see inject/session.c.  2 = and a client inside the
			   program shares it; see inject/client_callbacks.c */
	uint32_t own_threads; /* that run; see collector/profiler_threads.h */
	uint32_t stacks;      /* what this very process takes stacks of; see stacks/stack.c */
	uint64_t
		memory_bytes; /* taken of what children do not have; see collector/memory_budget.c */
	uint32_t is_closed;   /* the closer is done: the others sleep on it */
	uint32_t close_signs; /* of life, by what it waits for; wraps around */
	uint32_t speaker;     /* id of the thread that says something; see inject/log.c */
} __attribute__((aligned(GP_PROCESS_STATE_BYTES)));

extern struct gp_process_state gp_process_state __attribute__((visibility("hidden")));

/* Let the words become zero in forked children.  A constructor has done it; again is harmless.  0 or -ENOMEM. */
int gp_process_state_prepare(void);

/* False in a child of vfork(), whose memory is its parent's.  A system call. */
bool gp_process_state_is_own_process(void);

#endif
