#include "report/advice/rules/waits.h"

/* The number of calls of a thread with one site and function. */
static uint64_t *count_calls(struct gp_advisor *advisor, struct gp_tally *tally,
			     const struct gp_call *call)
{
	struct gp_tally_row *row =
		gp_tally_find(tally, (uint64_t[GP_TALLY_KEYS]){gp_advisor_site(advisor, call),
							       call->api, call->thread_id});

	return &row->count;
}

static void count_all(struct gp_advisor *advisor, struct gp_tally *tally)
{
	const struct gp_call_list *syncs = gp_advisor_calls(advisor, GP_API_SYNC);

	for (uint32_t i = 0; i < syncs->count; i++)
		++*count_calls(advisor, tally, gp_advisor_call(advisor, syncs, i));
	if (tally->error < 0)
		advisor->error = tally->error;
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

		if (idle_gap->told != GP_NONE || idle_gap->cause == GP_IDLE_UNKNOWN ||
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

static void take_call(struct gp_advisor *advisor, const struct gp_call_list *syncs, uint32_t at,
		      bool in_loop)
{
	const struct gp_call *call = gp_advisor_call(advisor, syncs, at);
	uint32_t site = gp_advisor_site(advisor, call);
	struct gp_case *found = gp_advisor_case(advisor, in_loop ? site : GP_NO_SITE,
						gp_advisor_api(advisor, call), 0);
	struct gp_idle_gap *idle_gap, *after = gp_advisor_idle_gap_after(advisor, call);
	uint64_t saves_ns = gp_advisor_wait_saves_ns(advisor, call, UINT64_MAX, &idle_gap);
	struct gp_waits *own = found->own;

	follow(own, call, at);
	if (saves_ns == 0)
		return;
	own->ahead_ns += gp_advisor_waited_ns(advisor, call) - saves_ns;
	gp_advisor_add(advisor, found, call->start_ns, call->duration_ns, saves_ns, idle_gap);
	gp_advisor_save(advisor, found, call->start_ns,
			save_behind(advisor, found, after, next_wait_ns(advisor, syncs, at)));
	gp_advisor_show(advisor, found, call);
	gp_next_wait_add(advisor, &own->next, call, saves_ns);
	if (saves_ns > own->most_ns) {
		own->most_ns = saves_ns;
		found->site = site;
	}
}

void gp_waits_look(struct gp_advisor *advisor, bool in_loop)
{
	const struct gp_call_list *syncs = gp_advisor_calls(advisor, GP_API_SYNC);
	struct gp_tally tally = {0};

	count_all(advisor, &tally);
	for (uint32_t i = 0; i < syncs->count && advisor->error == 0; i++) {
		const struct gp_call *call = gp_advisor_call(advisor, syncs, i);

		if ((*count_calls(advisor, &tally, call) >= GP_LOOP_CALLS) == in_loop)
			take_call(advisor, syncs, i, in_loop);
	}
	gp_tally_free(&tally);
}

void gp_waits_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
			 struct gp_document *values)
{
	const struct gp_waits *own = found->own;

	gp_advisor_add_text(advisor, values, "function", found->detail);
	gp_document_add_flag(values, "is_spread", found->site == GP_NO_SITE);
	gp_next_wait_add_values(advisor, found, &own->next, values);
}
