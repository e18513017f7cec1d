/*
 * Long idle times.  Speaks, by the call after them, of those of 100 ms and more, with those of 10
 * ms and more between the same two operations, and of those of 200 us and more that are a habit,
 * where they take 5 % of the recorded time and 100 ms in all, or 25 % and 10 ms, and no other rule
 * has said why.  A habit comes 16 times between the same two operations, and every fourth time at
 * least that the GPU is idle between these: else the system may have taken the processor from the
 * host, which matters not where the operation after it had been launched and did not begin: such
 * need be no habit.
 */
#include "report/advice/rules/rules.h"

#include "report/advice/rules/advisor.h"
#include "report/advice/rules/dependency.h"
#include "report/advice/rules/gaps.h"

#define LEAST_NS       100000000u
#define LEAST_LIKE_NS  10000000u /* where another one between such operations has LEAST_NS */
#define LEAST_HABIT_NS 200000u
#define HABIT_TIMES    16u
#define HABIT_SHARE    4u /* a quarter of those between such operations */

/* ---- habits: idle times of 200 us and more that come again and again ---- */

static bool may_be_habit(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	return gp_idle_gap_ns(at->idle_gap) < LEAST_NS && gp_advisor_waits_for_host(advisor, at);
}

/*
 * In a pair's count, all idle times between such operations; in its sums, those that may be a
 * habit, and those that are told by themselves.
 */
enum { MAYBE_HABIT, LONG };

static void count_short(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	gp_gaps_pair(advisor, at->before, at->after)->sums[MAYBE_HABIT]++;
}

static void count_long(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	gp_gaps_pair(advisor, at->before, at->after)->sums[LONG]++;
}

static void count_all(struct gp_advisor *advisor)
{
	struct gp_model *const *models = advisor->scope.models;

	for (size_t i = 0; i < advisor->basis->idle_gaps.device_count; i++) {
		const struct gp_device_idle_gaps *device = &advisor->basis->idle_gaps.devices[i];

		for (uint32_t k = 0; k < device->count; k++) {
			const struct gp_idle_gap *idle_gap = &device->idle_gaps[k];

			if (gp_idle_gap_is_between(idle_gap) &&
			    idle_gap->after.model == advisor->process)
				gp_gaps_pair(advisor, gp_op_of(models, idle_gap->before),
					     gp_op_of(models, idle_gap->after))
					->count++;
		}
	}
}

/* Where there are some; else nobody need look at each of millions of short ones. */
static void find_habits(struct gp_advisor *advisor)
{
	uint32_t known = advisor->habits.count;

	gp_advisor_idle_gaps(advisor, LEAST_NS, NULL, count_long);
	gp_advisor_idle_gaps(advisor, LEAST_HABIT_NS, may_be_habit, count_short);
	for (uint32_t i = known; i < advisor->habits.count; i++)
		if (advisor->habits.rows[i].sums[MAYBE_HABIT] >= HABIT_TIMES) {
			count_all(advisor);
			break;
		}
	if (advisor->habits.error < 0)
		advisor->error = advisor->habits.error;
}

/*
 * Whether one that may be a habit is, or is like one that is told by itself.  Where launches of a
 * loop wait now and then, at no place of their own, the system had taken the processor.
 */
static bool comes_again(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	const struct gp_tally_row *pair = gp_gaps_pair(advisor, at->before, at->after);

	return (pair->sums[LONG] > 0 && gp_idle_gap_ns(at->idle_gap) >= LEAST_LIKE_NS) ||
	       (pair->sums[MAYBE_HABIT] >= HABIT_TIMES &&
		pair->sums[MAYBE_HABIT] * HABIT_SHARE >= pair->count);
}

/* ---- all that is told ---- */

/* Where other programs have the GPU, it matters not what they keep waiting. */
static struct gp_case *case_of(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	struct gp_api after = gp_model_api(advisor->model, at->call_after->api);
	bool is_outside = at->idle_gap->cause == GP_IDLE_DEPENDENCY && advisor->waits_outside;
	struct gp_case *found = gp_advisor_case(
		advisor, is_outside ? GP_NO_SITE : gp_advisor_site(advisor, at->call_after),
		gp_advisor_text(advisor, is_outside ? "" : after.name), at->idle_gap->cause);

	((struct gp_gaps *)found->own)->is_outside = is_outside;
	return found;
}

static void take_idle_gap(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	uint64_t idle_ns = gp_idle_gap_ns(at->idle_gap);
	struct gp_case *found;

	if (idle_ns < LEAST_NS && at->idle_gap->cause != GP_IDLE_DEPENDENCY &&
	    !(may_be_habit(advisor, at) && comes_again(advisor, at)))
		return;
	found = case_of(advisor, at);
	/* what the host did meanwhile others could not have left out */
	gp_gaps_add(advisor, found, at,
		    ((const struct gp_gaps *)found->own)->is_outside
			    ? gp_idle_gap_cause_ns(at->idle_gap, GP_IDLE_DEPENDENCY)
			    : idle_ns);
}

static void look(struct gp_advisor *advisor)
{
	find_habits(advisor);
	advisor->waits_outside = gp_dependency_is_outside(advisor->model);
	gp_advisor_idle_gaps(advisor, LEAST_HABIT_NS, NULL, take_idle_gap);
}

const struct gp_rule gp_rule_gpu_gaps = {
	.id = "gpu-gaps",
	.title = "the GPU has long idle gaps",
	.meaning =
		"Between two operations the GPU was idle for 100 ms or more; or for 10 ms or more repeatedly between the same two operations; or for 200 us or more, 16 times and in at least a quarter of the gaps between the same two operations. A gap of any number also counts if the next operation had been launched, nothing of the process blocked it, and no record is missing: then other programs used the GPU. No other rule explains the gap. The cause is the host's activity in most of that time, as in `gpuprof summary --by gap`. For startup and allocation the finding names the longest call and its line. It names the compiler at work (from the call stacks, or the NVTX ranges of XLA), and the innermost NVTX range that covers nearly all of the time. Stack samples (--host-samples) show what Python did: the functions of the program with most of the time, and the line with at least half of it. With several GPUs the finding names the waiting GPU, and whether another GPU had more work.",
	.change =
		"host-bound: move the host work elsewhere, or run it while the GPU works. Without stack samples, use a sampling profiler (py-spy record, perf record). Compiler: call each function once for each shape before the work, and keep the compiler's cache. startup: create the objects before the work; create the contexts of several GPUs in parallel.",
	.ignore =
		"The gap is the start or end of the program, or the program waits for an external event.",
	.threshold = {.saves_percent = 5,
		      .saves_ns = LEAST_NS,
		      .count = 1,
		      .or_percent = 25,
		      .or_ns = 10000000},
	.own_bytes = sizeof(struct gp_gaps),
	.at = "ending at",
	.look = look,
	.tell = gp_gaps_tell,
	.advise = gp_gaps_advise,
	.names_place = gp_gaps_names_place,
};
