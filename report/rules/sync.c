/*
 * Calls that wait for the GPU.
 *
 * sync-in-loop speaks of a call site that waited at least 16 times and could save 5 % of the
 * recorded time and 200 us; sync-calls of those of all other sites together, by API function, from
 * 4 calls, 10 % and 1 ms on.  What a call could save is no more than it took, and no more than the
 * GPU then had nothing to do: waits at the end of a program, or while other work runs, save nothing
 * and are not mentioned.
 */
#include "report/rules/rules.h"

#include "report/format.h"
#include "report/rules/advisor.h"

#define LOOP_CALLS 16u

/* A thread's calls of one site and function: how many. */
static uint64_t *count_calls(struct gp_advisor *advisor, struct gp_tally *tally,
			     const struct gp_call *call)
{
	struct gp_tally_row *row =
		gp_tally_find(tally, (uint64_t[GP_TALLY_KEYS]){gp_advisor_site(advisor, call),
							       call->api, call->thread_id});

	return &row->count;
}

static bool is_sync(const struct gp_advisor *advisor, const struct gp_call *call)
{
	return gp_advisor_class(advisor, call) == GP_API_SYNC;
}

static void count_all(struct gp_advisor *advisor, struct gp_tally *tally)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t i = 0; i < model->call_count; i++)
		if (is_sync(advisor, &model->calls[i]))
			++*count_calls(advisor, tally, &model->calls[i]);
	if (tally->error < 0)
		advisor->error = tally->error;
}

/* One more wait; a case of several sites has the one that could save most at once. */
static void take_call(struct gp_advisor *advisor, const struct gp_call *call, bool in_loop)
{
	struct gp_lull *lull;
	uint64_t saves_ns = gp_advisor_wait_saves_ns(advisor, call, &lull);
	uint64_t api = gp_advisor_text(advisor, gp_model_api(advisor->model, call->api).name);
	uint32_t site = gp_advisor_site(advisor, call);
	struct gp_case *found;

	if (saves_ns == 0)
		return;
	found = gp_advisor_case(advisor, in_loop ? site : GP_NO_SITE, api, 0);
	gp_advisor_add(advisor, found, call->duration_ns, saves_ns, lull);
	if (saves_ns > found->extra) {
		found->extra = saves_ns;
		found->site = site;
	}
}

static void look(struct gp_advisor *advisor, bool in_loop)
{
	const struct gp_model *model = advisor->model;
	struct gp_tally tally = {0};

	count_all(advisor, &tally);
	for (uint32_t i = 0; i < model->call_count && advisor->error == 0; i++)
		if (is_sync(advisor, &model->calls[i]) &&
		    (*count_calls(advisor, &tally, &model->calls[i]) >= LOOP_CALLS) == in_loop)
			take_call(advisor, &model->calls[i], in_loop);
	gp_tally_free(&tally);
}

static void look_in_loops(struct gp_advisor *advisor)
{
	look(advisor, true);
}

static void look_elsewhere(struct gp_advisor *advisor)
{
	look(advisor, false);
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	fprintf(out, "%s %s for the GPU %s times, %s in all, and then the GPU waits for the host",
		gp_advisor_text_of(advisor, found->detail),
		found->site == GP_NO_SITE ? "waits at several places" : "waits",
		gp_format_count(found->count).text, gp_format_ns(found->time_ns).text);
}

static void advise_in_loop(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	(void)found;
	fputs("wait once behind the loop, or launch the next iteration before waiting for this one",
	      out);
}

static void advise_elsewhere(const struct gp_advisor *advisor, const struct gp_case *found,
			     FILE *out)
{
	(void)advisor;
	(void)found;
	fputs("leave out waits whose results the host does not read; order streams by events", out);
}

const struct gp_rule gp_rule_sync_in_loop = {
	.id = "sync-in-loop",
	.title = "the host waits for the GPU in each iteration of a loop",
	.meaning = "A line of the program waits for the GPU again and again, and each time the GPU "
		   "has "
		   "nothing to do until the host has come back and launched the next kernel: they "
		   "take "
		   "turns. The most that can be saved is what the GPU waited then, but no more "
		   "than the "
		   "calls took.",
	.change = "Launches are asynchronous and stay in order within a stream: no wait is needed "
		  "between kernels. Wait once behind the loop, or, where the host needs results, "
		  "launch the next iteration first (two buffers, cudaEventSynchronize). Where "
		  "streams "
		  "depend on each other, cudaStreamWaitEvent.",
	.ignore = "The loop is there to measure each iteration, or the next iteration depends on "
		  "what the host makes of this one's result.",
	.threshold = {.saves_percent = 5, .saves_ns = 200000, .count = LOOP_CALLS},
	.look = look_in_loops,
	.tell = tell,
	.advise = advise_in_loop,
};

const struct gp_rule gp_rule_sync_calls = {
	.id = "sync-calls",
	.title = "calls that wait for the GPU, at several places",
	.meaning =
		"cudaDeviceSynchronize, cudaStreamSynchronize, cudaEventSynchronize and their "
		"relatives of the driver API wait for the GPU, which has nothing to do then until "
		"the "
		"host has launched something else. The most that can be saved is what it waited, "
		"but no "
		"more than the calls took. `gpuprof summary --by stack-api` shows where they are.",
	.change = "Leave out the waits that are not needed for correctness: operations of a stream "
		  "stay in order, streams wait for each other by events.",
	.ignore = "The host needs what was computed, or the program measures times.",
	.threshold = {.saves_percent = 10, .saves_ns = 1000000, .count = 4},
	.look = look_elsewhere,
	.tell = tell,
	.advise = advise_elsewhere,
};
