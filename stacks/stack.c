#include "stacks/stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/process_state.h"
#include "collector/sys.h"

#if defined(__x86_64__) || defined(__aarch64__)
#include "stacks/stack_copy.h"
#include "stacks/merge.h"
#include "stacks/python.h"
#include "stacks/rule_table.h"
#include "stacks/sampler.h"
#include "stacks/thread_memory.h"
#include "stacks/stack_tree.h"
#include "stacks/walk.h"

/* gp_process_state.stacks */
#define CAPTURES 1u
#define SAMPLES  2u

struct thread {
	struct gp_python_walk python;
	struct gp_walk walk;
	struct gp_merge merge;
};

static __thread struct {
	struct thread *thread; /* from the first capture until the thread ends */
	uint8_t busy;          /* a signal handler must not capture */
	uint8_t ended;
	uint32_t recording; /* in which `thread` was made: its ids are of that one */
} local __attribute__((tls_model("initial-exec")));

static bool was_started; /* by this process or an ancestor by fork */
static pthread_key_t key;
static bool has_key;

/* ---- threads ---- */

#define FIRST_BYTES                                                                                \
	(sizeof(struct thread) - (GP_WALK_PASTS - GP_WALK_FIRST_PASTS) * sizeof(struct gp_past) -  \
	 (GP_PYTHON_PASTS - GP_PYTHON_FIRST_PASTS) * sizeof(struct gp_python_past))

static size_t further(uint32_t taken, uint32_t first, size_t bytes)
{
	return (uint32_t)__builtin_popcount(taken >> first) * bytes;
}

static void unmap_thread(struct thread *thread)
{
	size_t taken_bytes =
		FIRST_BYTES +
		further(thread->walk.taken, GP_WALK_FIRST_PASTS, sizeof(struct gp_past)) +
		further(thread->python.taken, GP_PYTHON_FIRST_PASTS, sizeof(struct gp_python_past));

	gp_thread_memory_unmap(thread, sizeof(*thread), taken_bytes);
}

static void end_thread(void *thread)
{
	if (local.thread != thread)
		return;
	local.thread = NULL;
	local.ended = 1;
	gp_signal_fence();
	unmap_thread(thread);
}

/*
 * As early as possible: glibc keeps the first keys in the thread itself, later ones cost an
 * allocation in each thread.
 */
static __attribute__((constructor)) void make_key(void)
{
	has_key = pthread_key_create(&key, end_thread) == 0;
}

static struct thread *introduce_thread(void)
{
	struct thread *thread = NULL;

	if (has_key && !local.ended)
		thread = gp_thread_memory_map(sizeof(*thread), FIRST_BYTES);

	if (thread == NULL)
		return NULL;
	if (pthread_setspecific(key, thread) != 0) {
		unmap_thread(thread);
		return NULL;
	}
	gp_walk_init(&thread->walk);
	local.thread = thread;
	local.recording = gp_collector_recording();
	return thread;
}

static struct thread *own_thread(void)
{
	struct thread *thread = local.thread;

	if (thread != NULL && local.recording == gp_collector_recording())
		return thread;
	local.thread = NULL;
	if (thread != NULL)
		unmap_thread(thread);
	return introduce_thread();
}

/* ---- capturing ---- */

static uint32_t capture(struct thread *thread, struct gp_place place)
{
	gp_python_begin(&thread->python);
	uint64_t native = gp_walk(&thread->walk, place);
	uint64_t python = gp_python_walk(&thread->python);

	return gp_merge_stacks(&thread->merge, &thread->walk, native, &thread->python, python);
}

uint32_t gp_stack_capture(void)
{
	struct gp_place place;
	uint32_t id = GP_NO_NODE;

	if (!(gp_load32(&gp_process_state.stacks) & CAPTURES) || !gp_collector_is_live())
		return 0;
	if (local.busy) {
		gp_count(GP_COUNTER_STACKS_NESTED, 1);
		return 0;
	}
	local.busy = 1;
	gp_signal_fence();
	struct thread *thread = own_thread();

	GP_PLACE_ONCE(thread);
	GP_PLACE_HERE(place);
	if (thread != NULL)
		id = capture(thread, place);
	gp_signal_fence();
	local.busy = 0;
	if (id != GP_NO_NODE)
		return id;
	gp_count(GP_COUNTER_STACKS_LOST, 1);
	return 0;
}

int gp_stack_start(void)
{
	if (was_started)
		return -EALREADY;
	was_started = true;
	if (gp_rule_table_init(gp_python_notice) != 0 || gp_stack_tree_init() != 0 ||
	    gp_python_code_init() != 0 || gp_stack_copy_init() != 0 || gp_merge_init() != 0)
		return -ENOMEM;
	gp_store32_release(&gp_process_state.stacks, CAPTURES);
	return 0;
}

void gp_stack_forget(void)
{
	gp_store32_release(&gp_process_state.stacks, 0);
	gp_sampler_forget();
	gp_merge_forget();
	gp_rule_table_forget();
	gp_stack_tree_forget();
	gp_python_forget();
	gp_python_code_forget();
	gp_stack_copy_forget();
	gp_modules_forget_emitted();
	was_started = false;
}

void gp_stack_poll(void)
{
	if (gp_load32(&gp_process_state.stacks) != 0)
		gp_modules_poll();
}

/* Sampling needs less than captures, which may be disabled. */
static bool can_sample(void)
{
	if (gp_load32(&gp_process_state.stacks) != 0)
		return true;
	if (was_started)
		return false;
	was_started = true;
	if (gp_stack_tree_init() != 0 || gp_python_code_init() != 0)
		return false;
	gp_store32_release(&gp_process_state.stacks, SAMPLES);
	return true;
}

void gp_stack_begin_samples(uint64_t period_ns, uint32_t least_rest)
{
	if (period_ns != 0 && can_sample())
		gp_sampler_begin(period_ns, least_rest);
}

uint64_t gp_stack_sample(uint64_t now_ns, bool is_wanted)
{
	return gp_sampler_pass(now_ns, is_wanted);
}

void gp_stack_end_samples(void)
{
	gp_sampler_end();
}

#else

int gp_stack_start(void)
{
	return -ENOTSUP;
}

void gp_stack_forget(void)
{
}

uint32_t gp_stack_capture(void)
{
	return 0;
}

void gp_stack_poll(void)
{
}

void gp_stack_begin_samples(uint64_t period_ns, uint32_t least_rest)
{
	(void)period_ns, (void)least_rest;
}

uint64_t gp_stack_sample(uint64_t now_ns, bool is_wanted)
{
	(void)now_ns, (void)is_wanted;
	return UINT64_MAX;
}

void gp_stack_end_samples(void)
{
}

#endif
