#include "report/advice/rules/rules.h"

#include "report/analysis/idle/call_cause.h"
#include "report/model/recorded.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/gaps.h"
#include "report/advice/rules/idle_gap_calls.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(MOST_HOST_NS, 200000, NS, "a longer host-bound gap belongs to host-gaps")            \
	LIMIT(LEAST_PART, 80, COUNT, "of the run: a cause with less idle time is skipped")
GP_LIMITS(LIMITS);

struct own {
	struct gp_gaps gaps; /* first: gp_gaps_add() uses it */
	struct gp_most_called most;
};

/* The state of a look. */
struct state {
	uint32_t causes; /* bits by enum gp_idle_cause */
	size_t device;
};

/* The device of the process that worked most; device_count: none did. */
static size_t busiest_device(const struct gp_advisor *advisor)
{
	const struct gp_idle_gaps *idle_gaps = &advisor->basis->idle_gaps;
	size_t busiest = idle_gaps->device_count;
	uint64_t most_ns = 0;

	for (uint32_t i = 0; i < GP_DEVICE_LIMIT; i++) {
		size_t device = advisor->devices[i];
		uint64_t busy_ns = device == SIZE_MAX
					   ? 0
					   : gp_idle_gaps_busy_ns(idle_gaps, device, 0, UINT64_MAX);

		if (busy_ns <= most_ns)
			continue;
		most_ns = busy_ns;
		busiest = device;
	}
	return busiest;
}

static bool is_of_rule(const struct gp_idle_gap *idle_gap)
{
	switch ((enum gp_idle_cause)idle_gap->cause) {
	case GP_IDLE_COPY:
	case GP_IDLE_PROFILER:
	case GP_IDLE_UNUSED:
	case GP_IDLE_UNKNOWN:
		return false;
	case GP_IDLE_HOST:
		return gp_idle_gap_ns(idle_gap) < MOST_HOST_NS;
	default:
		return true;
	}
}

/* The causes whose unexplained gaps may reach the threshold. */
static uint32_t much_left(const struct gp_advisor *advisor,
			  const struct gp_device_idle_gaps *device)
{
	uint64_t left_ns[GP_IDLE_CAUSES] = {0};
	uint64_t least_ns = gp_rule_idle_rest.threshold.saves_ns /
			    (gp_recorded_few_steps(advisor->model) ? GP_SAMPLE_PART : 1);
	uint32_t much = 0;

	for (uint32_t i = 0; i < device->count; i++)
		if (device->idle_gaps[i].told == GP_NONE && is_of_rule(&device->idle_gaps[i]))
			left_ns[device->idle_gaps[i].cause] +=
				gp_idle_gap_ns(&device->idle_gaps[i]);
	for (uint32_t i = 0; i < GP_IDLE_CAUSES; i++)
		if (left_ns[i] >= least_ns && left_ns[i] >= advisor->span_ns / LEAST_PART)
			much |= 1u << i;
	return much;
}

static bool is_rest(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	const struct state *state = advisor->state;

	return at->idle_gap->device == state->device &&
	       (state->causes & 1u << at->idle_gap->cause) && is_of_rule(at->idle_gap) &&
	       !gp_advisor_tunes(advisor, at->call_after);
}

static void take_idle_gap(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	gp_gaps_add(advisor, gp_advisor_case(advisor, GP_NO_SITE, 0, at->idle_gap->cause), at,
		    gp_idle_gap_cause_ns(at->idle_gap, (enum gp_idle_cause)at->idle_gap->cause));
}

static bool counts(const struct gp_advisor *advisor, const struct gp_idle_gap *idle_gap,
		   const struct gp_call *call)
{
	return gp_call_cause(advisor->model, call) == idle_gap->cause;
}

static void find_function(struct gp_advisor *advisor, uint32_t number)
{
	const struct gp_device_idle_gaps *device =
		&advisor->basis->idle_gaps.devices[((const struct state *)advisor->state)->device];
	struct own *own = advisor->cases[number].own;
	struct gp_idle_gap_calls calls = {0};

	for (uint32_t i = 0; i < device->count; i++)
		if (device->idle_gaps[i].told == number)
			gp_idle_gap_calls_add(advisor, &calls, &device->idle_gaps[i], counts);
	own->most = gp_idle_gap_calls_most(advisor, &calls, advisor->cases[number].time_ns);
	if (own->most.ns > 0)
		advisor->cases[number].site = own->most.site;
	gp_idle_gap_calls_free(&calls);
}

static void look(struct gp_advisor *advisor)
{
	struct state state = {.device = busiest_device(advisor)};
	uint32_t known = advisor->case_count;

	if (state.device == advisor->basis->idle_gaps.device_count)
		return;
	advisor->state = &state;
	state.causes = much_left(advisor, &advisor->basis->idle_gaps.devices[state.device]);
	if (state.causes == 0)
		return;
	gp_advisor_idle_gaps(advisor, 0, is_rest, take_idle_gap);
	for (uint32_t i = known; i < advisor->case_count; i++)
		if (gp_advisor_is_worth(advisor, &advisor->cases[i]))
			find_function(advisor, i);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;

	gp_gaps_add_values(advisor, found, values);
	gp_most_called_add_values(advisor, &own->most, found->time_ns, values);
}

const struct gp_rule gp_rule_idle_rest = {
	.id = "idle-rest",
	.title = "idle time that no other finding covers is a quarter of the run",
	.found =
		"[{?function}the GPU is idle {count} times, for {mean_ns} on average, {longest_ns} at most: {cause}" GP_MOST_CALLED_FOUND
		"|" GP_GAPS_FOUND "]",
	.change = GP_GAPS_CHANGE,
	.meaning =
		"Each gap is too short for gpu-gaps, or the gaps are at too many places or too rare for the other rules. Together the gaps of one cause are at least 25 % of the time (`gpuprof summary --by idle`; `gpuprof explain CAUSE` describes the cause). The finding names the function in which the thread that launched the next operation spent most of that time, and its main call site. With several GPUs, the finding is about the one that worked most.",
	.remedy =
		"Depends on the cause: allocate and initialize before the work. Do not wait if the host reads no result. Launch more work per call.",
	.ignore = "The run is short, and these gaps are not part of the measurement.",
	.threshold = {.saves_percent = 25,
		      .saves_ns = 20000000,
		      .count = 1,
		      .reason = "Less idle time of one cause is usual"},
	.limits = limits,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
