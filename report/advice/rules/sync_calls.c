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
	.title = "calls that wait for the GPU, at several places",
	.meaning =
		"cudaDeviceSynchronize, cudaStreamSynchronize, cudaEventSynchronize and their relatives of the driver API wait for the GPU, which has nothing to do then until the host has launched something else. The most that can be saved is what it waited, but no more than the calls took. `gpuprof summary --by stack-api` shows where they are.",
	.change =
		"Leave out the waits that are not needed for correctness: operations of a stream stay in order, streams wait for each other by events.",
	.ignore = "The host needs what was computed, or the program measures times.",
	.threshold = {.saves_percent = 10, .saves_ns = 1000000, .count = 4},
	.own_bytes = sizeof(struct gp_waits),
	.look = look,
	.tell = gp_waits_tell,
	.advise = advise,
};
