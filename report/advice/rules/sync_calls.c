#include "report/advice/rules/rules.h"

#include "report/advice/rules/waits.h"

static void look(struct gp_advisor *advisor)
{
	gp_waits_look(advisor, false);
}

const struct gp_rule gp_rule_sync_calls = {
	.id = "sync-calls",
	.title = "calls at several places wait for the GPU",
	.found = GP_WAITS_FOUND,
	.change = GP_NEXT_WAIT_CHANGE
	"leave out waits whose results the host does not read; order streams with events",
	.meaning =
		"cudaDeviceSynchronize, cudaStreamSynchronize, cudaEventSynchronize and their driver API counterparts wait for the GPU. The GPU is then idle until the host launches the next operation. Call sites with {GP_LOOP_CALLS} calls or more belong to sync-in-loop. The saving is at most the time in the calls, because the host would launch the next operations earlier by that time, and the time of the launch after each call, which the host would make while the GPU works. It is also at most the idle time up to the thread's next wait in another function. `gpuprof summary --by stack-api` shows their places.",
	.remedy =
		"Remove the waits that correctness does not need: operations of one stream stay in order, and events order streams.",
	.ignore = "The host needs the results, or the program measures times.",
	.threshold = {.saves_percent = 10,
		      .saves_ns = 1000000,
		      .count = 4,
		      .reason = "A program needs a few waits"},
	.own_bytes = sizeof(struct gp_waits),
	.look = look,
	.add_values = gp_waits_add_values,
};
