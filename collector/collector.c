#include "collector/collector.h"

#include <errno.h>

#include "collector/atomic.h"
#include "collector/memory_budget.h"
#include "collector/clock.h"
#include "collector/counters.h"
#include "collector/process_state.h"
#include "collector/thread.h"
#include "collector/writer.h"

/* gp_process_state.collector */
enum state { NEVER_STARTED, STARTED, STOPPED };

/*
 * In a child forked after the start, and after a release: our memory still has the state of the
 * former recording.
 */
static bool has_started;

/* The writer resets its own state. */
static void forget_former(void)
{
	gp_counters_reset();
	gp_memory_budget_reset();
	gp_clock_reset();
}

int gp_collector_start(const struct gp_collector_config *config)
{
	int saved = errno;
	int error;

	if (!gp_process_state_is_own_process()) /* a child of vfork(), which shares our memory */
		return -ECHILD;
	if (!gp_replace32(&gp_process_state.collector, NEVER_STARTED, STARTED))
		return -EEXIST;
	if (has_started)
		forget_former();
	has_started = true;
	error = gp_writer_start(config);
	if (error)
		gp_store32_release(&gp_process_state.collector, STOPPED);
	errno = saved;
	return error;
}

const char *gp_collector_trace_path(void)
{
	return gp_writer_trace_path();
}

int gp_collector_stop(uint64_t timeout_ns)
{
	int saved = errno;
	int error;

	if (!gp_collector_is_live())
		return has_started && gp_load32_acquire(&gp_process_state.collector) ==
					       NEVER_STARTED
			       ? -ECHILD
			       : 0;
	if (!gp_process_state_is_own_process())
		return -ECHILD;
	if (!gp_replace32(&gp_process_state.collector, STARTED, STOPPED))
		return 0;
	error = gp_writer_stop(timeout_ns);
	errno = saved;
	return error;
}

void gp_collector_release(void)
{
	if (gp_load32_acquire(&gp_process_state.collector) != STOPPED)
		return;
	gp_writer_release();
	gp_store32_release(&gp_process_state.collector, NEVER_STARTED);
}

void gp_collector_ends(enum gp_end_way way, uint8_t status)
{
	if (gp_collector_is_live())
		gp_writer_ends(way, status);
}

uint64_t gp_collector_unwritten(int *error)
{
	return gp_writer_unwritten(error);
}

bool gp_collector_is_full(void)
{
	return gp_collector_is_live() && gp_writer_is_full();
}

bool gp_collector_is_writing(void)
{
	return gp_collector_is_live() && gp_load32_acquire(&gp_process_state.is_paused) == 0;
}

void gp_collector_resume(void)
{
	if (gp_collector_is_live() && gp_process_state_is_own_process())
		gp_writer_resume();
}

void gp_collector_request_anchor(void)
{
	if (gp_collector_is_live())
		gp_writer_request_anchor();
}
