#include "report/advice/rules/waits.h"

#include <stdio.h>

#include "report/advice/rules/launch_places.h"

/* The state of a look. */
struct look {
	/* by site, API function and thread: the number of calls, and ... */
	struct gp_tally calls;
	struct gp_tally sites; /* by case and site: the saving */
};
enum { FUNCTIONS }; /* ... the text of gp_launch_places_functions() of the site */

static struct gp_tally_row *row_of(struct gp_advisor *advisor, struct gp_tally *calls,
				   const struct gp_call *call)
{
	return gp_tally_find(calls, (uint64_t[GP_TALLY_KEYS]){gp_advisor_site(advisor, call),
							      call->api, call->thread_id});
}

static void count_all(struct gp_advisor *advisor, struct gp_tally *calls)
{
	const struct gp_call_list *syncs = gp_advisor_calls(advisor, GP_API_SYNC);

	for (uint32_t i = 0; i < syncs->count; i++) {
		const struct gp_call *call = gp_advisor_call(advisor, syncs, i);
		struct gp_tally_row *row = row_of(advisor, calls, call);

		if (row->count++ == 0)
			row->sums[FUNCTIONS] =
				gp_launch_places_functions(advisor, gp_advisor_site(advisor, call));
	}
	if (calls->error < 0)
		advisor->error = calls->error;
}

/* When the thread waits next. */
static uint64_t next_wait_ns(const struct gp_advisor *advisor, const struct gp_call_list *syncs,
			     uint32_t at)
{
	const struct gp_call *call = gp_advisor_call(advisor, syncs, at), *next;

	if (at + 1 == syncs->count)
		return UINT64_MAX;
	next = gp_advisor_call(advisor, syncs, at + 1);
	return next->thread_id == call->thread_id ? next->start_ns + advisor->model->base_unix_ns
						  : UINT64_MAX;
}

/* Whether another rule explains it: of its own ones a part can be left. */
static bool is_of_other_rule(const struct gp_advisor *advisor, const struct gp_idle_gap *idle_gap)
{
	return idle_gap->told != GP_NONE && advisor->cases[idle_gap->told].rule != advisor->rule;
}

/*
 * Without its waits the host launches earlier by the time that it did not wait: that saves idle time
 * from the gap after a wait on, until the thread waits again.
 */
static uint64_t save_behind(struct gp_advisor *advisor, const struct gp_case *found,
			    struct gp_idle_gap *idle_gap, uint64_t until_ns)
{
	struct gp_waits *own = found->own;
	uint64_t saves_ns = 0;

	for (; own->ahead_ns > 0 && idle_gap && idle_gap->start_ns < until_ns;
	     idle_gap = gp_advisor_next_idle_gap(advisor, idle_gap)) {
		uint64_t most_ns = gp_advisor_host_part_ns(idle_gap), ns;

		if (is_of_other_rule(advisor, idle_gap) || idle_gap->cause == GP_IDLE_UNKNOWN ||
		    !gp_idle_gap_is_between(idle_gap))
			continue;
		ns = gp_advisor_take(advisor, idle_gap,
				     most_ns < own->ahead_ns ? most_ns : own->ahead_ns);
		own->ahead_ns -= ns;
		saves_ns += ns;
		if (2 * ns >= gp_idle_gap_ns(idle_gap))
			gp_advisor_tell(advisor, found, idle_gap);
	}
	return saves_ns;
}

/* What the host would be ahead by ends where the thread waits elsewhere. */
static void follow(struct gp_waits *own, const struct gp_call *call, uint32_t at)
{
	if (own->last + 1 != at || own->thread_id != call->thread_id)
		own->ahead_ns = 0;
	own->last = at;
	own->thread_id = call->thread_id;
}

/*
 * The saving of one wait.  The launches after it count, too: without the wait the host makes them
 * while the GPU works.
 */
static uint64_t take_gap(struct gp_advisor *advisor, const struct gp_call *call,
			 struct gp_idle_gap *after, struct gp_idle_gap **idle_gap)
{
	uint64_t saves_ns = gp_advisor_wait_saves_ns(advisor, call, UINT64_MAX, idle_gap);

	if (saves_ns == 0)
		return 0;
	saves_ns += gp_advisor_take(advisor, after, gp_idle_gap_cause_ns(after, GP_IDLE_LAUNCH));
	if (2 * saves_ns >= gp_idle_gap_ns(after))
		*idle_gap = after;
	return saves_ns;
}

/* Waits of one function at several lines share their saving: they are one case. */
static struct gp_case *case_of(struct gp_advisor *advisor, const struct gp_call *call,
			       uint64_t functions, bool in_loop)
{
	return gp_advisor_case(advisor, GP_NO_SITE, gp_advisor_api(advisor, call),
			       in_loop ? functions : 0);
}

static void take_call(struct gp_advisor *advisor, const struct gp_call_list *syncs, uint32_t at,
		      struct gp_case *found)
{
	struct look *look = advisor->state;
	const struct gp_call *call = gp_advisor_call(advisor, syncs, at);
	struct gp_idle_gap *idle_gap, *after = gp_advisor_idle_gap_after(advisor, call);
	uint64_t saves_ns = take_gap(advisor, call, after, &idle_gap), waited_ns, more_ns;
	uint64_t key[GP_TALLY_KEYS] = {(uint64_t)(found - advisor->cases),
				       gp_advisor_site(advisor, call)};
	struct gp_waits *own = found->own;

	follow(own, call, at);
	if (saves_ns == 0)
		return;
	waited_ns = gp_advisor_waited_ns(advisor, call);
	own->ahead_ns += waited_ns > saves_ns ? waited_ns - saves_ns : 0;
	gp_advisor_add(advisor, found, call->start_ns, call->duration_ns, saves_ns, idle_gap);
	more_ns = save_behind(advisor, found, after, next_wait_ns(advisor, syncs, at));
	gp_advisor_save(advisor, found, call->start_ns, more_ns);
	gp_advisor_show_wait(advisor, found, call, after, saves_ns);
	gp_next_wait_add(advisor, &own->next, call, saves_ns);
	gp_tally_find(&look->sites, key)->sums[0] += saves_ns + more_ns;
}

/* The places of a case: its site becomes theirs. */
static void put_places(struct gp_advisor *advisor, const struct look *look, struct gp_case *found)
{
	struct gp_launch_places places = {0};
	struct gp_waits *own = found->own;
	const struct gp_tally_row *most = NULL;

	for (uint32_t i = 0; i < look->sites.count; i++) {
		const struct gp_tally_row *row = &look->sites.rows[i];

		if (row->key[0] != (uint64_t)(found - advisor->cases))
			continue;
		gp_launch_places_add(&places, (uint32_t)row->key[1], row->sums[0]);
		if (!most || row->sums[0] > most->sums[0])
			most = row;
	}
	if (most)
		found->site = (uint32_t)most->key[1];
	gp_launch_places_put(advisor, &places, found, "wait", &own->places);
	gp_launch_places_free(&places);
}

void gp_waits_look(struct gp_advisor *advisor, bool in_loop)
{
	const struct gp_call_list *syncs = gp_advisor_calls(advisor, GP_API_SYNC);
	struct look look = {0};
	struct gp_case *found;

	advisor->state = &look;
	count_all(advisor, &look.calls);
	for (uint32_t i = 0; i < syncs->count && advisor->error == 0; i++) {
		const struct gp_call *call = gp_advisor_call(advisor, syncs, i);
		const struct gp_tally_row *row = row_of(advisor, &look.calls, call);

		if ((row->count >= GP_LOOP_CALLS) == in_loop)
			take_call(advisor, syncs, i,
				  case_of(advisor, call, row->sums[FUNCTIONS], in_loop));
	}
	if (look.sites.error < 0)
		advisor->error = look.sites.error;
	for (uint32_t i = 0; (found = gp_advisor_next_case(advisor, &i));)
		if (gp_advisor_is_worth(advisor, found))
			put_places(advisor, &look, found);
	gp_tally_free(&look.calls);
	gp_tally_free(&look.sites);
}

void gp_waits_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
			 struct gp_document *values)
{
	const struct gp_waits *own = found->own;

	gp_advisor_add_text(advisor, values, "function", found->detail);
	if (*gp_advisor_text_of(advisor, own->places))
		gp_advisor_add_text(advisor, values, "places", own->places);
	gp_next_wait_add_values(advisor, found, &own->next, values);
}
