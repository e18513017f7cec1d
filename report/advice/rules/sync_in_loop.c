/*
 * Waits in a loop.  Speaks of a call site that waited for the GPU at least 16 times and could save
 * 5 % of the recorded time and 200 us.
 *
 * What a call could save is no more than it took, and no more than the GPU then had nothing to do:
 * waits at the end of a program, or while other work runs, save nothing and are not mentioned.
 */
#include "report/advice/rules/rules.h"

#include "report/advice/rules/language.h"
#include "report/advice/rules/waits.h"

static void look(struct gp_advisor *advisor)
{
	gp_waits_look(advisor, true);
}

/* In Python it is mostly a value that is looked at which waits. */
static const char *const changes[GP_LANGUAGES] = {
	[GP_LANGUAGE_NATIVE] =
		"wait once after the loop, or launch the next iteration before waiting for this one",
	[GP_LANGUAGE_TORCH] =
		"leave out what waits in the loop (.item(), .cpu(), .tolist(), .nonzero(), print of a tensor, if on one, torch.cuda.synchronize()), or do it for the iteration before",
	[GP_LANGUAGE_JAX] =
		"leave out what waits in the loop (float(), numpy.asarray(), print, if on an array, block_until_ready()), or do it for the iteration before",
	[GP_LANGUAGE_CUPY] =
		"leave out what waits in the loop (.get(), .item(), float(), print, if on an array, synchronize()), or do it for the iteration before",
};

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	gp_waits_advise(advisor, found, out);
	gp_language_advise(advisor, found, changes, out);
}

const struct gp_rule gp_rule_sync_in_loop = {
	.id = "sync-in-loop",
	.title = "the host waits for the GPU in each iteration",
	.meaning =
		"A line of the program waits for the GPU repeatedly. Each time the GPU is idle until the host returns and launches the next kernel, so host and GPU alternate. The saving is at most that idle time, and at most the time in the calls. If another blocking call of the thread or cudaFree follows before the next launch, it would wait instead: the finding names it, and the saving needs both changes.",
	.change =
		"Launches are asynchronous and stay in order within a stream: kernels need no wait between them. Wait once after the loop. If the host needs results, launch the next iteration first (two buffers, cudaEventSynchronize). Use cudaStreamWaitEvent between dependent streams.",
	.ignore =
		"The loop measures each iteration, or the next iteration depends on the host's use of the result.",
	.threshold = {.saves_percent = 5, .saves_ns = 200000, .count = GP_LOOP_CALLS},
	.own_bytes = sizeof(struct gp_waits),
	.look = look,
	.tell = gp_waits_tell,
	.advise = advise,
};
