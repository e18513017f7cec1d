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

static void take_call(struct gp_advisor *advisor, const struct gp_call *call, bool in_loop)
{
	struct gp_idle_gap *idle_gap;
	uint64_t saves_ns = gp_advisor_wait_saves_ns(advisor, call, UINT64_MAX, &idle_gap);
	uint64_t api = gp_advisor_api(advisor, call);
	uint32_t site = gp_advisor_site(advisor, call);
	struct gp_case *found;
	struct gp_waits *own;

	if (saves_ns == 0)
		return;
	found = gp_advisor_case(advisor, in_loop ? site : GP_NO_SITE, api, 0);
	gp_advisor_add(advisor, found, call->start_ns, call->duration_ns, saves_ns, idle_gap);
	gp_advisor_show(advisor, found, call);
	own = found->own;
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
			take_call(advisor, call, in_loop);
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
