#include "inject/attach.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "collector/collector.h"
#include "collector/process_state.h"
#include "collector/sys.h"
#include "inject/log.h"
#include "inject/process_trace.h"

#define EXPORTED __attribute__((visibility("default")))

/* Of the process that was attached last; it is attached still, or an end of it failed. */
static struct {
	uint32_t process;
	enum { NEVER, ATTACHED, DETACHED, STUCK } state;
} attached;

EXPORTED int gpuprof_v1_attach(char *const *options, struct gp_attach_answer *answer);
EXPORTED int gpuprof_v1_detach(struct gp_attach_answer *answer);

static int attach(char *const *options)
{
	int error;

	if (attached.state != NEVER && attached.process != gp_sys_process_id())
		return -ECHILD;
	if (attached.state == ATTACHED)
		return -EEXIST;
	if (attached.state == STUCK)
		return -EBUSY;
	error = gp_init_attach(options);
	if (error != 0)
		return error;
	attached.process = gp_sys_process_id();
	attached.state = ATTACHED;
	return 0;
}

static int detach(void)
{
	int error;

	if (attached.state != ATTACHED || attached.process != gp_sys_process_id())
		return -ESRCH;
	error = gp_init_detach();
	attached.state = error == 0 ? DETACHED : STUCK;
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
