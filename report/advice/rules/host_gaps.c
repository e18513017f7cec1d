#include "report/advice/rules/rules.h"

#include "report/advice/rules/advisor.h"
#include "report/advice/rules/gaps.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(LEAST_NS, 200000, NS, "a shorter gap can be the launch itself")                      \
	LIMIT(LONG_NS, 50000000, NS, "preemption is shorter")
GP_LIMITS(LIMITS);

/* The state of a look. */
struct state {
	struct gp_tally habits; /* how often operations follow each other, and with a gap ... */
	struct gp_tally sites;  /* ... and the time of the gaps that end at a site */
	uint64_t gaps_ns;
};

static bool is_host_bound(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	(void)advisor;
	return at->idle_gap->cause == GP_IDLE_HOST;
}

static struct gp_tally_row *pair_of(struct gp_advisor *advisor, const struct gp_op *before,
				    const struct gp_op *after)
{
	return gp_gaps_pair(advisor, &((struct state *)advisor->state)->habits, before, after);
}

static void count_long(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	pair_of(advisor, at->before, at->after)->sums[0]++;
	((struct state *)advisor->state)->gaps_ns += gp_idle_gap_ns(at->idle_gap);
}

static void count_all(struct gp_advisor *advisor)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t first = 0, end; first < model->op_count; first = end) {
		end = gp_model_stream_end(model, first);
		for (uint32_t i = first + 1; i < end; i++)
			pair_of(advisor, &model->ops[i - 1], &model->ops[i])->count++;
	}
}

/* If operations mostly follow each other without a gap, a short gap is preemption. */
static bool is_habit(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	const struct gp_tally_row *pair = pair_of(advisor, at->before, at->after);

	return gp_idle_gap_ns(at->idle_gap) >= LONG_NS || 2 * pair->sums[0] >= pair->count;
}

static uint64_t *site_ns(struct gp_advisor *advisor, uint32_t site)
{
	return &gp_tally_find(&((struct state *)advisor->state)->sites,
			      (uint64_t[GP_TALLY_KEYS]){site})
			->sums[0];
}

/* Several GPUs that wait for the host at once count once. */
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
	*site_ns(advisor, site) += idle_ns;
	gp_advisor_stretch(
		advisor, found, at->idle_gap->start_ns - base_ns, at->idle_gap->end_ns - base_ns,
		(double)gp_idle_gap_cause_ns(at->idle_gap, GP_IDLE_HOST) / (double)idle_ns);
}

/* A site can win the vote without half of the time: then the case has none. */
static void judge_place(struct gp_advisor *advisor)
{
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, 0, GP_IDLE_HOST);

	if (found->site != GP_NO_SITE && *site_ns(advisor, found->site) * 2 < found->time_ns)
		found->site = GP_NO_SITE;
}

/* Counts the operations, which can be millions, only if the gaps may reach a threshold. */
static void look(struct gp_advisor *advisor)
{
	struct state state = {.gaps_ns = 0};

	advisor->state = &state;
	gp_advisor_idle_gaps(advisor, LEAST_NS, is_host_bound, count_long);
	if (state.gaps_ns >= gp_rule_host_gaps.threshold.or_ns / GP_SAMPLE_PART) {
		count_all(advisor);
		gp_advisor_idle_gaps(advisor, LEAST_NS, is_host_bound, take_idle_gap);
		gp_advisor_save_once(advisor);
		judge_place(advisor);
	}
	gp_tally_free(&state.habits);
	gp_tally_free(&state.sites);
}

const struct gp_rule gp_rule_host_gaps = {
	.id = "host-gaps",
	.title = "the GPU waits while the host computes between operations",
	.found = GP_GAPS_FOUND,
	.change = GP_GAPS_CHANGE,
	.meaning =
		"The GPU was idle for {LEAST_NS} or more because the program was outside of CUDA: it computed, read or wrote. No single place is long enough for gpu-gaps, and the gaps are not frequent enough for low-utilization, but their sum is large. A gap below {LONG_NS} does not count between operations that mostly follow without a gap: the system may have preempted the thread. The finding names the longest gap, and what Python did in all gaps according to the stack samples (--host-samples). Its place is the place of the calls that end at least half of the time, else of the longest gap.",
	.remedy =
		"Do this work while the GPU works: launch the next operations before the host reads results, use another thread, or compute on the GPU. A sampling profiler shows the host's work (perf record, py-spy record).",
	.ignore = "The program checks the results of the GPU, as tests and benchmarks do.",
	.threshold = {.saves_percent = 10,
		      .saves_ns = 100000000,
		      .count = 1,
		      .or_percent = 20,
		      .or_ns = 20000000,
		      .reason = "Less host time is usual around input and output"},
	.limits = limits,
	.own_bytes = sizeof(struct gp_gaps),
	.at = "ending at",
	.look = look,
	.add_values = gp_gaps_add_values,
	.names_place = gp_gaps_names_place,
};
