/*
 * process_state: words that are zero in every forked child, however it was created, so that a child
 * recognizes itself without a system call.
 *
 * A child of vfork() runs in its parent's memory and sees the parent's words.
 * gp_process_state_is_own_process() detects it, provided that a call was made before in the parent:
 * the constructor makes one, in a forked child the first caller.
 */
#ifndef COLLECTOR_PROCESS_STATE_H
#define COLLECTOR_PROCESS_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* The largest page of the machine's kernels. */
#if defined(__aarch64__)
#define GP_PROCESS_STATE_BYTES 65536u
#else
#define GP_PROCESS_STATE_BYTES 4096u
#endif

/* Alone on its page, because the kernel wipes whole pages.  All words are atomic. */
struct gp_process_state {
	uint32_t live;      /* number of the live recording, 0 = none; see collector/thread.h */
	uint32_t collector; /* state of the collector; see collector/collector.c */
	uint32_t process;   /* process id, 0 = not determined yet */
	/* progress of inject/ in starting a recording; see inject/process_trace.c */
	uint32_t recording;
	uint32_t closer; /* id of the thread that closes or closed it; 0 = none */
	/*
	 * 1 = this very process subscribed to CUPTI; see inject/session.c.  2 = and a client inside
	 * the program shares it; see inject/client_callbacks.c
	 */
	uint32_t cupti;
	/* number of running profiler threads; see collector/profiler_threads.h */
	uint32_t own_threads;
	uint32_t stacks; /* the kinds of stacks that this process captures; see stacks/stack.c */
	/* charged memory that children do not inherit; see collector/memory_budget.c */
	uint64_t memory_bytes;
	uint32_t is_closed;   /* the closer is done: the others sleep on it */
	uint32_t close_signs; /* progress counter of the closing; wraps around */
	uint32_t logger;      /* id of the thread that is logging; see inject/log.c */
	uint32_t is_paused;   /* a fork has ended the writer's thread; see collector/writer.c */
} __attribute__((aligned(GP_PROCESS_STATE_BYTES)));

extern struct gp_process_state gp_process_state __attribute__((visibility("hidden")));

/*
 * Make the words zero in forked children.  The constructor has done it; repeating is harmless.  0
 * or -ENOMEM.
 */
int gp_process_state_prepare(void);

/* False in a child of vfork(), which shares its parent's memory.  A system call. */
bool gp_process_state_is_own_process(void);

#endif
