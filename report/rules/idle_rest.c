/*
 * What is left of a GPU's idle time: of one cause, however long each time is, and of which no other rule has spoken.  Speaks where that is 25 % of the
 * recorded time and 20 ms, of the device of the process that worked most; another one may be idle because all work is there.  It names the function, and its
 * place, in which the host was for most of that time.  Not of times that another rule is about whatever they come to: those in which the host was in no
 * call for 200 us and more, where the system may have taken the processor from it (host-gaps), those in which it copied (pageable-async, sync-copy,
 * tiny-copies, hidden-wait), and what a profiler takes.
 */
#include "report/rules/rules.h"

#include <errno.h>

#include "report/answers/call_cause.h"
#include "report/format.h"
#include "report/rules/advisor.h"
#include "report/rules/gaps.h"

#define MOST_HOST_NS 200000u

/* What is less of all causes is not gone through again. */
#define LEAST_NS 2000000u

/* Less is not due to one function, or place. */
#define LEAST_SHARE 0.1

struct own {
	struct gp_gaps gaps; /* first: it is what report/rules/gaps.h knows */
	uint64_t call;       /* the text of the function with most of the time, ... */
	uint64_t calls;      /* ... so many calls of it, ... */
	uint64_t places;     /* ... at so many places, ... */
	uint64_t call_ns;    /* ... that took so much of it; 0 = there is none */
};

/* The one of the present process that worked most; device_count: none did. */
static size_t busiest_device(const struct gp_advisor *advisor)
{
	const struct gp_lulls *lulls = &advisor->basis->lulls;
	size_t busiest = lulls->device_count;
	uint64_t most_ns = 0;

	for (uint32_t i = 0; i < GP_DEVICE_LIMIT; i++) {
		size_t device = advisor->devices[i];
		uint64_t busy_ns =
			device == SIZE_MAX ? 0 : gp_lulls_busy_ns(lulls, device, 0, UINT64_MAX);

		if (busy_ns <= most_ns)
			continue;
		most_ns = busy_ns;
		busiest = device;
	}
	return busiest;
}

static bool is_rest(const struct gp_advisor *advisor, const struct gp_lull_at *at)
{
	switch ((enum gp_idle_cause)at->lull->cause) {
	case GP_IDLE_COPY:
	case GP_IDLE_PROFILER:
	case GP_IDLE_UNUSED:
	case GP_IDLE_UNKNOWN:
		return false;
	case GP_IDLE_HOST:
		return gp_lull_ns(at->lull) < MOST_HOST_NS &&
		       at->lull->device == advisor->rest_device;
	default:
		return at->lull->device == advisor->rest_device &&
		       !gp_advisor_tunes(advisor, at->call_after);
	}
}

static void sum_lull(struct gp_advisor *advisor, const struct gp_lull_at *at)
{
	advisor->rest_ns += gp_lull_ns(at->lull);
}

static void take_lull(struct gp_advisor *advisor, const struct gp_lull_at *at)
{
	gp_gaps_add(advisor, gp_advisor_case(advisor, GP_NO_SITE, 0, at->lull->cause), at,
		    gp_lull_cause_ns(at->lull, (enum gp_idle_cause)at->lull->cause));
}

/* ---- what the host was in ---- */

/* Of calls: how many, and in their sum for how long. */
struct sums {
	struct gp_tally functions; /* by number */
	struct gp_tally places;    /* by number and site */
};
enum { TIME };

static void add(struct gp_tally_row *row, uint64_t ns)
{
	row->count++;
	row->sums[TIME] += ns;
}

/* The calls of the thread that ended such an idle time, back to its start: what they took of it. */
static void sum_calls(struct gp_advisor *advisor, const struct gp_lull *lull, struct sums *sums)
{
	const struct gp_model *model = advisor->model;
	uint64_t base_ns = model->base_unix_ns, end_ns = lull->end_ns - base_ns;
	uint64_t start_ns = lull->start_ns > base_ns ? lull->start_ns - base_ns : 0;
	uint32_t last = gp_op_of(advisor->scope.models, lull->after)->call;

	for (uint32_t i = last + 1; i-- > 0;) {
		const struct gp_call *call = &model->calls[i];
		uint64_t from_ns = call->start_ns > start_ns ? call->start_ns : start_ns;
		uint64_t to_ns = gp_call_end_ns(call) < end_ns ? gp_call_end_ns(call) : end_ns;

		if (call->thread_id != model->calls[last].thread_id || to_ns <= start_ns)
			return;
		if (to_ns <= from_ns || gp_call_cause(model, call) != lull->cause)
			continue;
		add(gp_tally_find(&sums->functions, (uint64_t[GP_TALLY_KEYS]){call->api}),
		    to_ns - from_ns);
		add(gp_tally_find(
			    &sums->places,
			    (uint64_t[GP_TALLY_KEYS]){call->api, gp_advisor_site(advisor, call)}),
		    to_ns - from_ns);
	}
}

static const struct gp_tally_row *with_most(const struct gp_tally *tally)
{
	const struct gp_tally_row *most = NULL;

	for (uint32_t i = 0; i < tally->count; i++)
		if (!most || tally->rows[i].sums[TIME] > most->sums[TIME])
			most = &tally->rows[i];
	return most;
}

/* Of all its places together; then of these the one with most, if it has much of it. */
static void put_function(struct gp_advisor *advisor, struct gp_case *found, const struct sums *sums)
{
	const struct gp_tally_row *most = with_most(&sums->functions), *place = NULL;
	struct own *own = found->own;

	if (!most || (double)most->sums[TIME] < LEAST_SHARE * (double)found->time_ns)
		return;
	own->call =
		gp_advisor_text(advisor, gp_model_api(advisor->model, (uint16_t)most->key[0]).name);
	own->calls = most->count;
	own->call_ns = most->sums[TIME];
	for (uint32_t i = 0; i < sums->places.count; i++) {
		const struct gp_tally_row *row = &sums->places.rows[i];

		if (row->key[0] != most->key[0])
			continue;
		own->places++;
		if (!place || row->sums[TIME] > place->sums[TIME])
			place = row;
	}
	if (place && (double)place->sums[TIME] >= LEAST_SHARE * (double)own->call_ns)
		found->site = (uint32_t)place->key[1];
}

static void find_function(struct gp_advisor *advisor, uint32_t number)
{
	const struct gp_device_lulls *device = &advisor->basis->lulls.devices[advisor->rest_device];
	struct sums sums = {0};

	for (uint32_t i = 0; i < device->count; i++)
		if (device->lulls[i].told == number)
			sum_calls(advisor, &device->lulls[i], &sums);
	if (sums.functions.error < 0 || sums.places.error < 0)
		advisor->error = -ENOMEM;
	else
		put_function(advisor, &advisor->cases[number], &sums);
	gp_tally_free(&sums.functions);
	gp_tally_free(&sums.places);
}

static void look(struct gp_advisor *advisor)
{
	uint32_t known = advisor->case_count;

	advisor->rest_device = busiest_device(advisor);
	advisor->rest_ns = 0;
	gp_advisor_lulls(advisor, 0, is_rest, sum_lull);
	if (advisor->rest_ns < LEAST_NS)
		return;
	gp_advisor_lulls(advisor, 0, is_rest, take_lull);
	for (uint32_t i = known; i < advisor->case_count && advisor->error == 0; i++)
		if (gp_advisor_is_worth(advisor, &advisor->cases[i]))
			find_function(advisor, i);
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	if (own->call_ns == 0) {
		gp_gaps_tell(advisor, found, out);
		return;
	}
	fprintf(out, "%s times the GPU has nothing to do, for %s on average, %s at most: %s",
		gp_format_count(found->count).text,
		gp_format_ns(found->time_ns / found->count).text,
		gp_format_ns(own->gaps.longest_ns).text,
		gp_idle_cause_name((enum gp_idle_cause)found->other_detail));
	fprintf(out, "; %s %% of that is %s, in %s call%s",
		gp_format_percent((double)own->call_ns, (double)found->time_ns).text,
		gp_advisor_text_of(advisor, own->call), gp_format_count(own->calls).text,
		own->calls == 1 ? "" : "s");
	if (own->places > 1)
		fprintf(out, " at %s places%s", gp_format_count(own->places).text,
			found->site == GP_NO_SITE ? "" : ", the most of it here");
}

const struct gp_rule gp_rule_idle_rest = {
	.id = "idle-rest",
	.title = "idle times that no other rule is about make up a quarter of the run",
	.meaning =
		"Each of them is too short for gpu-gaps, or they come at too many places, or too "
		"seldom, for the other rules, but together they are 25 % of the time: the GPU had "
		"nothing to do, of one cause (`gpuprof summary --by idle`; `gpuprof explain CAUSE` "
		"says what it means). Told is the function in which the thread that gave the GPU "
		"the next work was for most of that time, and where most of that was called. Of "
		"several GPUs it is the one that worked most.",
	.change = "By the cause: allocate and set up before the work begins; do not wait where the "
		  "host reads no result; launch more at a time.",
	.ignore = "The run is short, and what it measures is not in these times.",
	.threshold = {.saves_percent = 25, .saves_ns = 20000000, .count = 1},
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = gp_gaps_advise,
};
