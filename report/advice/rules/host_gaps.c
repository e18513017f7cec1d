/*
 * A program that computes on the host between operations, wherever that is.  Speaks of idle times
 * of 200 us and more in which the host was mostly in no call of CUDA's and of which no other rule
 * has spoken, where they take 10 % of the recorded time and 100 ms in all, or 20 % and 20 ms. Not
 * of those between operations that mostly follow each other without, unless they take 50 ms: there
 * the system may have taken the processor from the host.
 */
#include "report/advice/rules/rules.h"

#include "report/advice/rules/advisor.h"
#include "report/advice/rules/gaps.h"

#define LEAST_NS 200000u

/* For so long the system takes the processor from nobody. */
#define LONG_NS 50000000u

static bool is_host_bound(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	(void)advisor;
	return at->idle_gap->cause == GP_IDLE_HOST;
}

/*
 * In a pair's count, how often these follow each other in a stream; in its sum, how often with a
 * long idle time between.
 */
static void count_long(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	struct gp_tally_row *pair = gp_gaps_pair(advisor, at->before, at->after);

	pair->sums[0]++;
	advisor->host_gaps_ns += gp_idle_gap_ns(at->idle_gap);
}

static void count_all(struct gp_advisor *advisor)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t first = 0, end; first < model->op_count; first = end) {
		end = gp_model_stream_end(model, first);
		for (uint32_t i = first + 1; i < end; i++)
			gp_gaps_pair(advisor, &model->ops[i - 1], &model->ops[i])->count++;
	}
	if (advisor->habits.error < 0)
		advisor->error = advisor->habits.error;
}

/* Where they mostly follow each other without, the system had taken the processor from the host. */
static bool is_habit(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	const struct gp_tally_row *pair = gp_gaps_pair(advisor, at->before, at->after);

	return gp_idle_gap_ns(at->idle_gap) >= LONG_NS || 2 * pair->sums[0] >= pair->count;
}

/* In its sum, how long idle times are that end at that site. */
static struct gp_tally_row *place_of(struct gp_advisor *advisor, uint32_t site)
{
	const uint64_t key[GP_TALLY_KEYS] = {advisor->process, UINT64_MAX, UINT64_MAX, site,
					     advisor->rule};

	return gp_tally_find(&advisor->habits, key);
}

/* Of several GPUs that wait for the host at once each moment counts once. */
static void take_idle_gap(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	uint64_t base_ns = advisor->model->base_unix_ns, idle_ns = gp_idle_gap_ns(at->idle_gap);
	struct gp_case *found;
	uint32_t site;

	if (!is_habit(advisor, at))
		return;
	found = gp_advisor_case(advisor, GP_NO_SITE, 0, GP_IDLE_HOST);
	gp_gaps_add(advisor, found, at, 0);
	site = gp_advisor_site(advisor, at->call_after);
	gp_advisor_vote(found, site, idle_ns);
	place_of(advisor, site)->sums[0] += idle_ns;
	gp_advisor_stretch(
		advisor, found, at->idle_gap->start_ns - base_ns, at->idle_gap->end_ns - base_ns,
		(double)gp_idle_gap_cause_ns(at->idle_gap, GP_IDLE_HOST) / (double)idle_ns);
}

/* The vote is won where no site has half, too: then the case is of none. */
static void judge_place(struct gp_advisor *advisor)
{
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, 0, GP_IDLE_HOST);

	if (advisor->error == 0 && found->site != GP_NO_SITE &&
	    place_of(advisor, found->site)->sums[0] * 2 < found->time_ns)
		found->site = GP_NO_SITE;
	if (advisor->habits.error < 0)
		advisor->error = advisor->habits.error;
}

/*
 * Operations are only counted where it may matter, of a few steps of a loop, too: there may be
 * millions.
 */
static void look(struct gp_advisor *advisor)
{
	advisor->host_gaps_ns = 0;
	gp_advisor_idle_gaps(advisor, LEAST_NS, is_host_bound, count_long);
	if (advisor->host_gaps_ns < gp_rule_host_gaps.threshold.or_ns / 10)
		return;
	count_all(advisor);
	gp_advisor_idle_gaps(advisor, LEAST_NS, is_host_bound, take_idle_gap);
	gp_advisor_save_once(advisor);
	judge_place(advisor);
}

const struct gp_rule gp_rule_host_gaps = {
	.id = "host-gaps",
	.title = "the GPU waits while the host computes between operations",
	.meaning =
		"The GPU was idle because the program was outside of CUDA: it computed, read or wrote. No single place is long enough for gpu-gaps, and the gaps are not frequent enough for low-utilization, but their sum is large. A gap below 50 ms does not count between operations that mostly follow without a gap: the system may have preempted the thread. The finding names the longest gap, and what Python did in all gaps according to the stack samples (--host-samples). Its place is the place of the calls that end at least half of the time, else of the longest gap.",
	.change =
		"Do this work while the GPU works: launch the next operations before the host reads results, use another thread, or compute on the GPU. A sampling profiler shows the host's work (perf record, py-spy record).",
	.ignore = "The program checks the results of the GPU, as tests and benchmarks do.",
	.threshold = {.saves_percent = 10,
		      .saves_ns = 100000000,
		      .count = 1,
		      .or_percent = 20,
		      .or_ns = 20000000},
	.own_bytes = sizeof(struct gp_gaps),
	.at = "ending at",
	.look = look,
	.tell = gp_gaps_tell,
	.advise = gp_gaps_advise,
	.names_place = gp_gaps_names_place,
};
