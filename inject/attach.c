#include "inject/attach.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/process_state.h"
#include "collector/sys.h"
#include "inject/log.h"
#include "inject/process_trace.h"

#define EXPORTED __attribute__((visibility("default")))

/*
 * Of the process that was attached last.  CHANGING: another thread attaches or detaches it.  STUCK: an
 * end of a recording failed.
 */
static struct {
	uint32_t process;
	uint32_t state; /* atomic; enum state */
} attached;
enum state { NEVER, CHANGING, ATTACHED, DETACHED, STUCK };

EXPORTED int gpuprof_v1_attach(char *const *options, struct gp_attach_answer *answer);
EXPORTED int gpuprof_v1_detach(struct gp_attach_answer *answer);

/* Two commands for one process may overlap, as a detach waits for the GPU. */
static bool begin_change(uint32_t state)
{
	return state != CHANGING && gp_replace32(&attached.state, state, CHANGING);
}

static int attach(char *const *options)
{
	uint32_t before = gp_load32_acquire(&attached.state);
	int error;

	if (before != NEVER && attached.process != gp_sys_process_id())
		return -ECHILD;
	if (before == ATTACHED)
		return -EEXIST;
	if (before == STUCK)
		return -EBUSY;
	if (!begin_change(before))
		return -EINPROGRESS;
	attached.process = gp_sys_process_id();
	error = gp_init_attach(options);
	gp_store32_release(&attached.state, error == 0 ? ATTACHED : before);
	return error;
}

static int detach(void)
{
	uint32_t before = gp_load32_acquire(&attached.state);
	int error;

	if (before == CHANGING)
		return -EINPROGRESS;
	if (before != ATTACHED || attached.process != gp_sys_process_id())
		return -ESRCH;
	if (!begin_change(before))
		return -EINPROGRESS;
	error = gp_init_detach();
	gp_store32_release(&attached.state, error == 0 ? DETACHED : STUCK);
	return error;
}

static void answer_with(struct gp_attach_answer *answer, const char *path)
{
	gp_log_take(answer->text, sizeof(answer->text));
	snprintf(answer->path, sizeof(answer->path), "%s", path);
}

int gpuprof_v1_attach(char *const *options, struct gp_attach_answer *answer)
{
	int saved_errno = errno, error = attach(options);

	answer_with(answer, error == 0 && gp_collector_is_live() ? gp_collector_trace_path() : "");
	errno = saved_errno;
	return error;
}

int gpuprof_v1_detach(struct gp_attach_answer *answer)
{
	int saved_errno = errno, error = detach();

	answer_with(answer, gp_collector_trace_path());
	errno = saved_errno;
	return error;
}
