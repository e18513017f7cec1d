#include "collector/collector.h"

#include <errno.h>

#include "collector/atomic.h"
#include "collector/thread.h"
#include "collector/writer.h"

enum state { NEVER_STARTED, STARTED, STOPPED };

static uint32_t state;

int gp_collector_start(const struct gp_collector_config *config)
{
	int saved = errno;
	int error;

	if (!gp_replace32(&state, NEVER_STARTED, STARTED))
		return -EEXIST;
	error = gp_writer_start(config);
	if (error)
		gp_store32_release(&state, STOPPED);
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
		return gp_load32_acquire(&state) == STARTED ? -ECHILD : 0;
	if (!gp_thread_is_own_process()) /* a child of vfork(), which has our memory */
		return -ECHILD;
	if (!gp_replace32(&state, STARTED, STOPPED))
		return 0;
	error = gp_writer_stop(timeout_ns);
	errno = saved;
	return error;
}

void gp_collector_request_anchor(void)
{
	if (gp_collector_is_live())
		gp_writer_request_anchor();
}
