/*
 * since_fork: words that are zero again in every forked child, however it was made, so that a child knows itself
 * for one without asking the system.
 *
 * A child of vfork() runs in its parent's memory and sees the parent's words: gp_since_fork_is_own_process() tells, where
 * somebody asked before it was made: the constructor does, in a forked child whoever comes first.
 */
#ifndef COLLECTOR_SINCE_FORK_H
#define COLLECTOR_SINCE_FORK_H

#include <stdbool.h>
#include <stdint.h>

#define GP_SINCE_FORK_BYTES 4096u

/* Alone on its page, for the kernel wipes whole pages.  All words are atomic. */
struct gp_since_fork {
	uint32_t
		live; /* number of the recording that takes records, 0 = none; see collector/thread.h */
	uint32_t collector; /* how far the collector is; see collector/collector.c */
	uint32_t process;   /* id of the process, 0 = nobody has asked yet */
	uint32_t
		recording; /* how far inject/ is with starting a recording; see inject/process_trace.c */
	uint32_t closer; /* id of the thread that closes it, or did; 0 = none */
	uint32_t
		cupti; /* 1 = this very process subscribed to CUPTI; see inject/session.c.  2 = and a client inside the
			   program shares it; see inject/share_callbacks.c */
	uint32_t own_threads;  /* that run; see collector/own_threads.h */
	uint32_t stacks;       /* what this very process takes stacks of; see stacks/stack.c */
	uint64_t memory_bytes; /* taken of what children do not have; see collector/budget.c */
	uint32_t is_closed;    /* the closer is done: the others sleep on it */
	uint32_t close_signs;  /* of life, by what it waits for; wraps around */
	uint32_t speaker;      /* id of the thread that says something; see inject/say.c */
} __attribute__((aligned(GP_SINCE_FORK_BYTES)));

extern struct gp_since_fork gp_since_fork __attribute__((visibility("hidden")));

/* Let the words become zero in forked children.  A constructor has done it; again is harmless.  0 or -ENOMEM. */
int gp_since_fork_prepare(void);

/* False in a child of vfork(), whose memory is its parent's.  A system call. */
bool gp_since_fork_is_own_process(void);

#endif
