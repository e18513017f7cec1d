#include "collector/profiler_threads.h"

#include <stddef.h>

#include "collector/atomic.h"
#include "collector/process_identity.h"
#include "collector/process_state.h"
#include "collector/sys.h"

#define BEGIN_MOST_NS 2000000000u

static __thread bool is_own;

void gp_profiler_thread_begin(void)
{
	gp_sys_take_no_signals();
	is_own = true;
	gp_add32_ordered(&gp_process_state.own_threads, 1);
}

void gp_profiler_thread_end(void)
{
	gp_add32_ordered(&gp_process_state.own_threads, (uint32_t)-1);
}

void gp_profiler_thread_await_start(uint32_t *has_begun)
{
	uint64_t give_up_ns = gp_sys_now_ns() + BEGIN_MOST_NS;

	while (gp_load32_acquire(has_begun) == 0 && gp_sys_now_ns() < give_up_ns)
		gp_sys_wait(has_begun, 0, BEGIN_MOST_NS);
}

void gp_profiler_thread_becomes_program(void)
{
	is_own = false;
}

bool gp_profiler_thread_is_current(void)
{
	return is_own;
}

/* The kernel counts a main thread that has ended, the C library does not. */
static bool count_others(const uint32_t *libc_threads, uint32_t own, uint32_t *others)
{
	bool main_has_ended;
	uint32_t threads = gp_process_identity_thread_count(&main_has_ended);

	if (threads == 0)
		threads = libc_threads != NULL ? gp_load32(libc_threads) : 0;
	else if (main_has_ended)
		threads--;
	*others = threads - own;
	return threads != 0;
}

/* A thread that ends meanwhile might be in one count and not in the other. */
bool gp_profiler_threads_are_last(const uint32_t *libc_threads, bool *may_change)
{
	uint32_t others, before = gp_load32_acquire(&gp_process_state.own_threads);
	bool is_known;

	/* other threads exist besides the ended main thread */
	if (gp_process_identity_max_thread_count() > before + 1) {
		*may_change = true;
		return false;
	}
	is_known = count_others(libc_threads, before, &others);
	*may_change = is_known || before > 1;
	return is_known && others == 0 &&
	       gp_load32_acquire(&gp_process_state.own_threads) == before;
}
