#include "report/advice/rules/step_calls.h"

#include "report/advice/rules/host_time.h"
#include "report/base/stats.h"

/* Keys of a row: the call, or the calls around a pause; and its sums. */
enum { SITE, API, AFTER_SITE, AFTER_API };
enum { NS, LONGEST_NS, CALL, AFTER, STEP, USUAL_NS };
#define NO_API UINT64_MAX /* after a call: it is no pause */

/* Adds the time of a call (after: NULL), or the time between two calls. */
static void add(struct gp_advisor *advisor, struct gp_tally *tally, const struct gp_call *call,
		const struct gp_call *after, uint64_t ns)
{
	const uint64_t key[GP_TALLY_KEYS] = {[SITE] = gp_advisor_site(advisor, call),
					     [API] = call->api,
					     [AFTER_SITE] = after ? gp_advisor_site(advisor, after)
								  : GP_NO_SITE,
					     [AFTER_API] = after ? after->api : NO_API};
	struct gp_tally_row *row = gp_tally_find(tally, key);

	row->count++;
	row->sums[NS] += ns;
	if (ns < row->sums[LONGEST_NS])
		return;
	row->sums[LONGEST_NS] = ns;
	row->sums[CALL] = (uint64_t)(call - advisor->model->calls);
	row->sums[AFTER] = after ? (uint64_t)(after - advisor->model->calls) : GP_NONE;
}

static uint64_t part_in(const struct gp_interval *step, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t from_ns = start_ns > step->start_ns ? start_ns : step->start_ns;
	uint64_t to_ns = end_ns < step->end_ns ? end_ns : step->end_ns;

	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* The calls of a step, and the parts of the pauses between calls that lie in it. */
static void add_step(struct gp_advisor *advisor, struct gp_tally *tally,
		     const struct gp_step_time *time)
{
	const struct gp_model *model = advisor->model;
	uint32_t at = gp_host_first_call(model, time->thread, time->step.start_ns);
	const struct gp_call *before = at > 0 && model->calls[at - 1].thread_id == time->thread
					       ? &model->calls[at - 1]
					       : NULL;

	for (; at < model->call_count && model->calls[at].thread_id == time->thread; at++) {
		const struct gp_call *call = &model->calls[at];
		uint64_t end_ns = before ? gp_call_end_ns(before) : 0;
		uint64_t pause_ns;

		if (call->start_ns < end_ns)
			continue; /* nested */
		pause_ns = part_in(&time->step, end_ns, call->start_ns);
		if (before && pause_ns > 0)
			add(advisor, tally, before, call, pause_ns);
		if (call->start_ns >= time->step.end_ns)
			break;
		add(advisor, tally, call, NULL, call->duration_ns);
		before = call;
	}
	if (tally->error < 0)
		advisor->error = tally->error;
}

void gp_usual_calls_add(struct gp_usual_calls *usual, struct gp_advisor *advisor,
			const struct gp_step_time *time)
{
	struct gp_tally step = {0};

	add_step(advisor, &step, time);
	usual->steps++;
	for (uint32_t i = 0; i < step.count; i++) {
		struct gp_tally_row *row = gp_tally_find(&usual->calls, step.rows[i].key);

		gp_tally_value(&usual->calls, row, 0, step.rows[i].sums[NS]);
	}
	if (usual->calls.error < 0)
		advisor->error = usual->calls.error;
	gp_tally_free(&step);
}

void gp_usual_calls_end(struct gp_usual_calls *usual)
{
	for (uint32_t i = 0; i < usual->calls.count; i++) {
		struct gp_tally_row *row = &usual->calls.rows[i];
		const struct gp_tally_series *steps = &row->series[0];
		uint64_t without = usual->steps - steps->count, rank = usual->steps / 2;

		if (rank >= without && rank - without < steps->count)
			row->sums[USUAL_NS] =
				gp_stats_select(steps->values, steps->count, rank - without);
	}
}

void gp_longer_calls_each(struct gp_advisor *advisor, struct gp_usual_calls *usual,
			  const struct gp_step_time *time, gp_longer_call_take *take, void *context)
{
	const struct gp_call *calls = advisor->model->calls;
	struct gp_tally step = {0};

	add_step(advisor, &step, time);
	for (uint32_t i = 0; i < step.count && advisor->error == 0; i++) {
		const uint64_t *sums = step.rows[i].sums;
		uint64_t usual_ns = gp_tally_find(&usual->calls, step.rows[i].key)->sums[USUAL_NS];
		const struct gp_longer_call longer = {
			.call = &calls[sums[CALL]],
			.after = sums[AFTER] == GP_NONE ? NULL : &calls[sums[AFTER]],
			.longest_ns = sums[LONGEST_NS],
			.more_ns = sums[NS] > usual_ns ? sums[NS] - usual_ns : 0};

		if (longer.more_ns > 0)
			take(advisor, &longer, context);
	}
	gp_tally_free(&step);
}

static void take_most(struct gp_advisor *advisor, const struct gp_longer_call *longer,
		      void *context)
{
	struct gp_longer_call *most = context;

	(void)advisor;
	if (longer->more_ns > most->more_ns)
		*most = *longer;
}

static void keep_call(struct gp_step_calls *calls, struct gp_advisor *advisor,
		      const struct gp_longer_call *most)
{
	if (most->longest_ns <= calls->call_ns)
		return;
	calls->call_ns = most->longest_ns;
	calls->call = gp_advisor_api(advisor, most->call);
	calls->call_site = gp_advisor_site(advisor, most->call);
}

static void keep_pause(struct gp_step_calls *calls, struct gp_advisor *advisor,
		       const struct gp_longer_call *most)
{
	if (most->longest_ns <= calls->pause_ns)
		return;
	calls->pause_ns = most->longest_ns;
	calls->before = gp_advisor_api(advisor, most->call);
	calls->after = gp_advisor_api(advisor, most->after);
	calls->before_site = gp_advisor_site(advisor, most->call);
	calls->after_site = gp_advisor_site(advisor, most->after);
}

void gp_step_calls_keep(struct gp_step_calls *calls, struct gp_advisor *advisor,
			struct gp_case *found, struct gp_usual_calls *usual,
			const struct gp_step_time *time, uint64_t least_ns)
{
	struct gp_longer_call most = {0};

	gp_longer_calls_each(advisor, usual, time, take_most, &most);
	if (!most.call || most.more_ns < least_ns)
		return;
	gp_advisor_vote(found, gp_advisor_site(advisor, most.call), most.more_ns);
	if (most.after)
		keep_pause(calls, advisor, &most);
	else
		keep_call(calls, advisor, &most);
}

void gp_step_calls_add_values(const struct gp_step_calls *calls, const struct gp_advisor *advisor,
			      struct gp_document *values)
{
	if (calls->pause_ns > calls->call_ns) {
		gp_document_add_number(values, "pause_ns", GP_UNIT_NS, calls->pause_ns);
		gp_advisor_add_text(advisor, values, "before", calls->before);
		gp_advisor_add_place(advisor, values, "before_place", calls->before_site);
		gp_advisor_add_text(advisor, values, "after", calls->after);
		gp_advisor_add_place(advisor, values, "after_place", calls->after_site);
	} else if (calls->call_ns > 0) {
		gp_document_add_number(values, "call_ns", GP_UNIT_NS, calls->call_ns);
		gp_advisor_add_text(advisor, values, "call", calls->call);
		gp_advisor_add_place(advisor, values, "call_place", calls->call_site);
	}
}
