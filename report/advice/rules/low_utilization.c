#include "report/advice/rules/rules.h"

#include "report/analysis/idle/gpu_sweep.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/dependency.h"
#include "report/advice/rules/launch_places.h"
#include "report/advice/rules/host_samples.h"

struct own {
	uint64_t cause_ns[GP_IDLE_CAUSES]; /* of the idle time */
	uint64_t places;                   /* the text of the places that launch */
	bool has_places;
};

static void take_idle_gap(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	uint64_t idle_ns = gp_idle_gap_ns(at->idle_gap);
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, at->idle_gap->device, 0);
	struct own *own = found->own;

	gp_advisor_add(advisor, found, at->after->start_ns, idle_ns, idle_ns, at->idle_gap);
	gp_advisor_show_idle_gap(advisor, found, at->idle_gap);
	for (uint32_t i = 0; i < GP_IDLE_CAUSES; i++)
		own->cause_ns[i] += gp_idle_gap_cause_ns(at->idle_gap, (enum gp_idle_cause)i);
	gp_advisor_vote(found, gp_advisor_site(advisor, at->call_after), idle_ns);
	gp_launch_places_add(advisor->state, gp_advisor_site(advisor, at->call_after), idle_ns);
	gp_host_samples_add(advisor, found, at, at->idle_gap->end_ns);
}

/* The places are those of all GPUs: with several, they are not named for one of them. */
static void look(struct gp_advisor *advisor)
{
	struct gp_launch_places places = {0};
	struct gp_case *found;
	struct own *own;

	advisor->state = &places;
	gp_advisor_usual_idle_gaps(advisor, 0, gp_advisor_waits_for_host, take_idle_gap);
	found = gp_advisor_case(advisor, GP_NO_SITE, 0, 0);
	if (advisor->basis->idle_gaps.device_count == 1 && gp_advisor_is_worth(advisor, found)) {
		own = found->own;
		own->has_places = true;
		gp_launch_places_put(advisor, &places, found, "launch them", &own->places);
	}
	gp_launch_places_free(&places);
}

static enum gp_idle_cause top_cause(const struct own *own)
{
	uint32_t top = 0;

	for (uint32_t i = 1; i < GP_IDLE_CAUSES; i++)
		if (own->cause_ns[i] > own->cause_ns[top])
			top = i;
	return (enum gp_idle_cause)top;
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;
	enum gp_idle_cause cause = top_cause(own);

	gp_document_add_number(values, "gpu", GP_UNIT_NUMBER,
			       advisor->scope.devices.entries[found->detail].number);
	gp_document_add_text(values, "cause", gp_idle_cause_words(cause));
	gp_document_add(values, "cause_percent", GP_UNIT_PERCENT,
			gp_value_percent((double)own->cause_ns[cause], (double)found->time_ns));
	gp_document_add_flag(values, "is_place_known", gp_advisor_knows(advisor, found->site));
	if (!gp_advisor_knows(advisor, found->site))
		gp_host_samples_add_values(advisor, found, GP_SAMPLE_TIMES, values);
	else if (own->has_places)
		gp_advisor_add_text(advisor, values, "places", own->places);
	if (cause == GP_IDLE_DEPENDENCY)
		gp_dependency_add_values(advisor, found, values);
}

const struct gp_rule gp_rule_low_utilization = {
	.id = "low-utilization",
	.title = "the GPU is idle repeatedly",
	.found =
		"GPU {gpu} was idle {count} times, for {mean_ns} on average; {cause_percent} % of that time was {cause}[{?is_place_known}; operations end the gaps, and {places}|{?is_place_known}; most of it was before the launch here|{samples}]",
	.change =
		"[" GP_DEPENDENCY_CHANGE
		"|launch ahead of the GPU, and launch more work at a time: gpuprof summary --by idle,gap shows the causes]",
	.meaning =
		"Between its first and last operation the GPU was idle repeatedly, for at least 30 % of the recorded time, and no other rule explains it: the host does not launch work fast enough. The finding names the launches that ended the gaps. Without call stacks it names the Python functions that stack samples found meanwhile (--host-samples).",
	.remedy =
		"Look at the host's activity in the gaps (`gpuprof summary --by idle,gap`, the timeline). Launch ahead, use larger batches, and do less host work between launches.",
	.ignore = "The program uses the GPU only occasionally on purpose.",
	.threshold = {.saves_percent = 30,
		      .saves_ns = 20000000,
		      .count = 100,
		      .reason = "Less idle time is usual around input and output"},
	.at = "mostly at",
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
