#include "report/advice/rules/step_calls.h"

#include "report/advice/rules/host_time.h"

void gp_step_calls_each(struct gp_advisor *advisor, uint32_t thread, const struct gp_interval *time,
			gp_step_calls_take *take, void *context)
{
	const struct gp_model *model = advisor->model;
	uint64_t reached_ns = time->start_ns;
	uint32_t at = gp_host_first_call(model, thread, time->start_ns);

	for (; at < model->call_count && model->calls[at].thread_id == thread &&
	       model->calls[at].start_ns < time->end_ns;
	     at++) {
		if (model->calls[at].start_ns < reached_ns)
			continue;
		reached_ns = gp_call_end_ns(&model->calls[at]);
		take(advisor, &model->calls[at], context);
	}
}

static void take_longest(struct gp_advisor *advisor, const struct gp_call *call, void *context)
{
	const struct gp_call **longest = context;

	(void)advisor;
	if (!*longest || call->duration_ns > (*longest)->duration_ns)
		*longest = call;
}

static void keep_call(struct gp_step_calls *calls, struct gp_advisor *advisor,
		      struct gp_case *found, const struct gp_step_time *time)
{
	const struct gp_call *call = NULL;

	gp_step_calls_each(advisor, time->thread, &time->step, take_longest, &call);
	if (!call || call->duration_ns < time->least_ns)
		return;
	gp_advisor_vote(found, gp_advisor_site(advisor, call), call->duration_ns);
	if (call->duration_ns <= calls->call_ns)
		return;
	calls->call_ns = call->duration_ns;
	calls->call = gp_advisor_api(advisor, call);
	calls->call_site = gp_advisor_site(advisor, call);
}

void gp_step_calls_keep(struct gp_step_calls *calls, struct gp_advisor *advisor,
			struct gp_case *found, const struct gp_step_time *time)
{
	const struct gp_host_pause pause = gp_host_pause_of(
		advisor->model, time->thread, time->longer.start_ns, time->longer.end_ns);
	uint64_t pause_ns = pause.end_ns - pause.start_ns;

	if (!pause.before || !pause.after || pause_ns < time->least_ns) {
		keep_call(calls, advisor, found, time);
		return;
	}
	gp_advisor_vote(found, gp_advisor_site(advisor, pause.before), pause_ns);
	if (pause_ns <= calls->pause_ns)
		return;
	calls->pause_ns = pause_ns;
	calls->before = gp_advisor_api(advisor, pause.before);
	calls->after = gp_advisor_api(advisor, pause.after);
	calls->before_site = gp_advisor_site(advisor, pause.before);
	calls->after_site = gp_advisor_site(advisor, pause.after);
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
