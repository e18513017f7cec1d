#include "report/advice/rules/rules.h"

#include "report/advice/rules/waits.h"

static void look(struct gp_advisor *advisor)
{
	gp_waits_look(advisor, true);
}

const struct gp_rule gp_rule_sync_in_loop = {
	.id = "sync-in-loop",
	.title = "the host waits for the GPU in each iteration",
	.found = GP_WAITS_FOUND,
	.change = GP_NEXT_WAIT_CHANGE
	"[{?language=torch}remove the waits in the loop (.item(), .cpu(), .tolist(), .nonzero(), print of a GPU tensor, torch.cuda.synchronize()), or read the previous iteration's result"
	"|{?language=jax}remove the waits in the loop (float(), numpy.asarray() or print of an array, block_until_ready()), or read the previous iteration's result"
	"|{?language=cupy}remove the waits in the loop (.get(), .item(), float() or print of an array, synchronize()), or read the previous iteration's result"
	"|wait once after the loop, or launch the next iteration before the wait for this one]",
	.meaning =
		"A line of the program waits for the GPU repeatedly. Each time the GPU is idle until the host returns and launches the next kernel, so host and GPU alternate. The saving is at most the time in the calls, because the host would launch the next operations earlier by that time, and the time of the launch after each call, which the host would make while the GPU works. It is also at most the idle time up to the thread's next wait in another function. Waits at several lines of a function are one finding: a change of one line only moves the wait to the next one. If another blocking call of the thread or cudaFree follows before the next launch, it would wait instead: the finding names it, and the saving needs both changes.",
	.remedy =
		"Launches are asynchronous and stay in order within a stream: kernels need no wait between them. Wait once after the loop. If the host needs results, launch the next iteration first (two buffers, cudaEventSynchronize). Use cudaStreamWaitEvent between dependent streams.",
	.ignore =
		"The loop measures each iteration, or the next iteration depends on the host's use of the result.",
	.threshold = {.saves_percent = 5,
		      .saves_ns = 200000,
		      .count = GP_LOOP_CALLS,
		      .reason = "This many calls at one place are a loop"},
	.own_bytes = sizeof(struct gp_waits),
	.look = look,
	.add_values = gp_waits_add_values,
};
