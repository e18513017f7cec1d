/*
 * What is left of a GPU's idle time: of one cause, however long each time is, and of which no other
 * rule has spoken.  Speaks where that is 25 % of the recorded time and 20 ms, of the device of the
 * process that worked most; another one may be idle because all work is there.  It names the
 * function, and its place, in which the host was for most of that time.  Not of times that another
 * rule is about whatever they come to: those in which the host was in no call for 200 us and more,
 * where the system may have taken the processor from it (host-gaps), those in which it copied
 * (pageable-async, sync-copy, tiny-copies, hidden-wait), and what a profiler takes.
 */
#include "report/advice/rules/rules.h"

#include "report/analysis/idle/call_cause.h"
#include "report/base/text/format.h"
#include "report/model/recorded.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/gaps.h"
#include "report/advice/rules/idle_gap_calls.h"

#define MOST_HOST_NS 200000u

/*
 * A cause with less of the recorded time is not gone through: a quarter of the least that a main
 * loop counts as.
 */
#define LEAST_PART 80u

/* Of a few steps of a loop, which stand for all, that part of it is worth a word. */
#define SAMPLE_PART 10u

struct own {
	struct gp_gaps gaps; /* first: it is what report/advice/rules/gaps.h knows */
	struct gp_most_called most;
};

/* The one of the present process that worked most; device_count: none did. */
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

/* The causes of which as much may be left as is worth a word. */
static uint32_t much_left(const struct gp_advisor *advisor,
			  const struct gp_device_idle_gaps *device)
{
	uint64_t left_ns[GP_IDLE_CAUSES] = {0};
	uint64_t least_ns = gp_rule_idle_rest.threshold.saves_ns /
			    (gp_recorded_few_steps(advisor->model) ? SAMPLE_PART : 1);
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
	return at->idle_gap->device == advisor->rest_device &&
	       (advisor->rest_causes & 1u << at->idle_gap->cause) && is_of_rule(at->idle_gap) &&
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
		&advisor->basis->idle_gaps.devices[advisor->rest_device];
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
	uint32_t known = advisor->case_count;

	advisor->rest_device = busiest_device(advisor);
	if (advisor->rest_device == advisor->basis->idle_gaps.device_count)
		return;
	advisor->rest_causes =
		much_left(advisor, &advisor->basis->idle_gaps.devices[advisor->rest_device]);
	if (advisor->rest_causes == 0)
		return;
	gp_advisor_idle_gaps(advisor, 0, is_rest, take_idle_gap);
	for (uint32_t i = known; i < advisor->case_count && advisor->error == 0; i++)
		if (gp_advisor_is_worth(advisor, &advisor->cases[i]))
			find_function(advisor, i);
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	if (own->most.ns == 0) {
		gp_gaps_tell(advisor, found, out);
		return;
	}
	fprintf(out, "%s times the GPU is idle, for %s on average, %s at most: %s",
		gp_format_count(found->count).text,
		gp_format_ns(found->time_ns / found->count).text,
		gp_format_ns(own->gaps.longest_ns).text,
		gp_idle_cause_words((enum gp_idle_cause)found->other_detail));
	gp_most_called_tell(advisor, &own->most, found->time_ns, out);
}

const struct gp_rule gp_rule_idle_rest = {
	.id = "idle-rest",
	.title = "idle time outside of all other findings is a quarter of the run",
	.meaning =
		"Each gap is too short for gpu-gaps, or the gaps are at too many places or too rare for the other rules. Together the gaps of one cause are at least 25 % of the time (`gpuprof summary --by idle`; `gpuprof explain CAUSE` describes the cause). The finding names the function in which the thread that launched the next operation spent most of that time, and its main call site. With several GPUs it is the one that worked most.",
	.change =
		"Depends on the cause: allocate and initialize before the work. Do not wait if the host reads no result. Launch more work per call.",
	.ignore = "The run is short, and these gaps are not part of the measurement.",
	.threshold = {.saves_percent = 25, .saves_ns = 20000000, .count = 1},
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = gp_gaps_advise,
};
