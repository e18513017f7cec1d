#include "report/advice/rules/rules.h"

#include "report/advice/rules/advisor.h"
#include "report/advice/rules/dependency.h"
#include "report/advice/rules/gaps.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(LEAST_NS, 100000000, NS, "a gap that counts by itself")                              \
	LIMIT(LEAST_LIKE_NS, 10000000, NS, "a gap between the operations of such a gap")           \
	LIMIT(HABIT_NS, 200000, NS, "a gap that counts if it is frequent")                         \
	LIMIT(HABIT_TIMES, 16, COUNT, "such gaps between two operations are frequent ...")         \
	LIMIT(HABIT_PART, 4, COUNT, "... if they are this part of all gaps there; else preemption")
GP_LIMITS(LIMITS);

/* ---- frequent gaps ---- */

static bool may_be_habit(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	return gp_idle_gap_ns(at->idle_gap) < LEAST_NS && gp_advisor_waits_for_host(advisor, at);
}

/* The state of a look. */
struct state {
	/* by pairs of operations: the number of gaps, of those that may be frequent, and of long ones */
	struct gp_tally habits;
	bool is_outside; /* gp_dependency_is_outside() */
};
enum { MAYBE_HABIT, LONG };

static struct gp_tally_row *pair_of(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	return gp_gaps_pair(advisor, &((struct state *)advisor->state)->habits, at->before,
			    at->after);
}

static void count_short(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	pair_of(advisor, at)->sums[MAYBE_HABIT]++;
}

static void count_long(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	pair_of(advisor, at)->sums[LONG]++;
}

static void count_all(struct gp_advisor *advisor, struct gp_tally *habits)
{
	struct gp_model *const *models = advisor->scope.models;

	for (size_t i = 0; i < advisor->basis->idle_gaps.device_count; i++) {
		const struct gp_device_idle_gaps *device = &advisor->basis->idle_gaps.devices[i];

		for (uint32_t k = 0; k < device->count; k++) {
			const struct gp_idle_gap *idle_gap = &device->idle_gaps[k];

			if (gp_idle_gap_is_between(idle_gap) &&
			    idle_gap->after.model == advisor->process)
				gp_gaps_pair(advisor, habits, gp_op_of(models, idle_gap->before),
					     gp_op_of(models, idle_gap->after))
					->count++;
		}
	}
}

/* Counts millions of short gaps only if some may be frequent. */
static void find_habits(struct gp_advisor *advisor, struct gp_tally *habits)
{
	gp_advisor_idle_gaps(advisor, LEAST_NS, NULL, count_long);
	gp_advisor_idle_gaps(advisor, HABIT_NS, may_be_habit, count_short);
	for (uint32_t i = 0; i < habits->count; i++)
		if (habits->rows[i].sums[MAYBE_HABIT] >= HABIT_TIMES) {
			count_all(advisor, habits);
			break;
		}
}

static bool comes_again(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	const struct gp_tally_row *pair = pair_of(advisor, at);

	return (pair->sums[LONG] > 0 && gp_idle_gap_ns(at->idle_gap) >= LEAST_LIKE_NS) ||
	       (pair->sums[MAYBE_HABIT] >= HABIT_TIMES &&
		pair->sums[MAYBE_HABIT] * HABIT_PART >= pair->count);
}

/* ---- cases ---- */

/* If other programs have the GPU, the place that waits does not matter. */
static struct gp_case *case_of(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	bool is_outside = at->idle_gap->cause == GP_IDLE_DEPENDENCY &&
			  ((const struct state *)advisor->state)->is_outside;
	struct gp_case *found = gp_advisor_case(
		advisor, is_outside ? GP_NO_SITE : gp_advisor_site(advisor, at->call_after),
		gp_advisor_api(advisor, is_outside ? NULL : at->call_after), at->idle_gap->cause);

	((struct gp_gaps *)found->own)->is_outside = is_outside;
	return found;
}

/*
 * Reading hardware counters, or the trace within the program, is part of the recording: without it
 * this time does not exist.
 */
static bool is_of_reading(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	return at->idle_gap->cause == GP_IDLE_PROFILER &&
	       (advisor->model->hw_window_count > 0 || advisor->model->own_work_count > 0);
}

static void take_idle_gap(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	uint64_t idle_ns = gp_idle_gap_ns(at->idle_gap);
	struct gp_case *found;

	if (is_of_reading(advisor, at))
		return;
	if (idle_ns < LEAST_NS && at->idle_gap->cause != GP_IDLE_DEPENDENCY &&
	    !(may_be_habit(advisor, at) && comes_again(advisor, at)))
		return;
	found = case_of(advisor, at);
	/* other programs cannot save the host's part */
	gp_gaps_add(advisor, found, at,
		    ((const struct gp_gaps *)found->own)->is_outside
			    ? gp_idle_gap_cause_ns(at->idle_gap, GP_IDLE_DEPENDENCY)
			    : idle_ns);
}

static void look(struct gp_advisor *advisor)
{
	struct state state = {.is_outside = gp_dependency_is_outside(advisor->model)};

	advisor->state = &state;
	find_habits(advisor, &state.habits);
	gp_advisor_idle_gaps(advisor, HABIT_NS, NULL, take_idle_gap);
	gp_gaps_join(advisor);
	if (state.habits.error < 0)
		advisor->error = state.habits.error;
	gp_tally_free(&state.habits);
}

const struct gp_rule gp_rule_gpu_gaps = {
	.id = "gpu-gaps",
	.title = "the GPU has long idle gaps",
	.found = GP_GAPS_FOUND,
	.change = GP_GAPS_CHANGE,
	.meaning =
		"Between two operations the GPU was idle for {LEAST_NS} or more; or for {LEAST_LIKE_NS} or more repeatedly between the same two operations; or for {HABIT_NS} or more, {HABIT_TIMES} times and in at least 1/{HABIT_PART} of the gaps between the same two operations. Gaps of {HABIT_NS} and more also count, however few they are, if the next operation had been launched, nothing in the process blocked it, and no record is missing: then other programs used the GPU. No other rule explains the gaps. The cause is the host's activity in most of that time, as in `gpuprof summary --by gap`. Host-bound gaps that end at several places are one finding if stack samples found the host mostly at the same work. For startup and allocation the finding names the longest call and its line. It names the compiler at work (from the call stacks, or the NVTX ranges of XLA), and the innermost NVTX range that covers nearly all of the time. Stack samples (--host-samples) show what Python did: the functions of the program with most of the time, and the line with at least half of it. With several GPUs the finding names the waiting GPU, and whether another GPU had more work.",
	.remedy =
		"host-bound: move the host work elsewhere, or run it while the GPU works. Without stack samples, use a sampling profiler (py-spy record, perf record). Compiler: call each function once for each shape before the work, and keep the compiler's cache. startup: create the objects before the work; create the contexts of several GPUs in parallel.",
	.ignore =
		"The gap is the start or end of the program, or the program waits for an external event.",
	.threshold = {.saves_percent = 5,
		      .saves_ns = LEAST_NS,
		      .count = 1,
		      .or_percent = 25,
		      .or_ns = 10000000,
		      .reason = "A shorter gap is usual, as at the start of a loop"},
	.limits = limits,
	.own_bytes = sizeof(struct gp_gaps),
	.at = "ending at",
	.look = look,
	.add_values = gp_gaps_add_values,
	.names_place = gp_gaps_names_place,
};
