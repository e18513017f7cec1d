/*
 * Waits that are in no loop.  Speaks of those of all call sites with fewer than 16, by API
 * function, from 4 calls, 10 % of the recorded time and 1 ms on.  What a call could save,
 * report/advice/rules/sync_in_loop.c says.
 */
#include "report/advice/rules/rules.h"

#include "report/advice/rules/waits.h"

static void look(struct gp_advisor *advisor)
{
	gp_waits_look(advisor, false);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	gp_waits_advise(advisor, found, out);
	fputs("leave out waits whose results the host does not read; order streams by events", out);
}

const struct gp_rule gp_rule_sync_calls = {
	.id = "sync-calls",
	.title = "calls at several places wait for the GPU",
	.meaning =
		"cudaDeviceSynchronize, cudaStreamSynchronize, cudaEventSynchronize and their driver API counterparts wait for the GPU. The GPU is then idle until the host launches the next operation. The saving is at most that idle time, and at most the time in the calls. `gpuprof summary --by stack-api` shows their places.",
	.change =
		"Remove the waits that correctness does not need: operations of one stream stay in order, and events order streams.",
	.ignore = "The host needs the results, or the program measures times.",
	.threshold = {.saves_percent = 10, .saves_ns = 1000000, .count = 4},
	.own_bytes = sizeof(struct gp_waits),
	.look = look,
	.tell = gp_waits_tell,
	.advise = advise,
};
