/*
 * A GPU that hardly works.  Speaks where idle times that no other rule is about, at least 100 of
 * them, take 30 % of the recorded time and 20 ms, and names where what ended them was launched, or
 * without stacks what Python was seen to do meanwhile. Those that are ten times as long as the
 * median count for nothing: they are no habit.  Nor do those in which the host copied, allocated or
 * made something, of which other rules speak where they matter.
 */
#include "report/advice/rules/rules.h"

#include "report/analysis/idle/gpu_sweep.h"
#include "report/base/text/format.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/dependency.h"
#include "report/advice/rules/launch_places.h"
#include "report/advice/rules/meanwhile.h"

struct own {
	uint64_t cause_ns[GP_IDLE_CAUSES]; /* of the idle time */
	uint64_t places;                   /* the text of where launches are made */
	bool has_places;
};

static void take_idle_gap(struct gp_advisor *advisor, const struct gp_idle_gap_at *at)
{
	uint64_t idle_ns = gp_idle_gap_ns(at->idle_gap);
	struct gp_case *found = gp_advisor_case(advisor, GP_NO_SITE, at->idle_gap->device, 0);
	struct own *own = found->own;

	gp_advisor_add(advisor, found, at->after->start_ns, idle_ns, idle_ns, at->idle_gap);
	gp_advisor_show_idle_gap(found, at->idle_gap);
	for (uint32_t i = 0; i < GP_IDLE_CAUSES; i++)
		own->cause_ns[i] += gp_idle_gap_cause_ns(at->idle_gap, (enum gp_idle_cause)i);
	gp_advisor_vote(found, gp_advisor_site(advisor, at->call_after), idle_ns);
	gp_launch_places_add(advisor, &advisor->launch_places,
			     gp_advisor_site(advisor, at->call_after), idle_ns);
	gp_meanwhile_add(advisor, found, at, at->idle_gap->end_ns);
}

static void put_places(struct gp_advisor *advisor, struct gp_case *found)
{
	char text[GP_LAUNCH_PLACES_BYTES];
	uint32_t site = gp_launch_places_sum(advisor, &advisor->launch_places, text);
	struct own *own = found->own;

	if (site == GP_NO_SITE)
		return;
	found->site = site;
	own->has_places = true;
	own->places = gp_advisor_text(advisor, text);
}

/* The places are those of all GPUs of the process: of several, none is told of one. */
static void look(struct gp_advisor *advisor)
{
	struct gp_case *found;

	gp_advisor_usual_idle_gaps(advisor, 0, gp_advisor_waits_for_host, take_idle_gap);
	found = gp_advisor_case(advisor, GP_NO_SITE, 0, 0);
	if (advisor->error == 0 && advisor->basis->idle_gaps.device_count == 1 &&
	    gp_advisor_is_worth(advisor, found))
		put_places(advisor, found);
	gp_launch_places_free(&advisor->launch_places);
}

static enum gp_idle_cause top_cause(const struct own *own)
{
	uint32_t top = 0;

	for (uint32_t i = 1; i < GP_IDLE_CAUSES; i++)
		if (own->cause_ns[i] > own->cause_ns[top])
			top = i;
	return (enum gp_idle_cause)top;
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;
	enum gp_idle_cause cause = top_cause(own);

	fprintf(out, "GPU %u was idle %s times, for %s on average; %s %% of that time was %s",
		advisor->scope.devices.entries[found->detail].number,
		gp_format_count(found->count).text,
		gp_format_ns(found->time_ns / found->count).text,
		gp_format_percent((double)own->cause_ns[cause], (double)found->time_ns).text,
		gp_idle_cause_words(cause));
	if (!gp_advisor_knows(advisor, found->site))
		gp_meanwhile_tell(advisor, found, out);
	else if (own->has_places && *gp_advisor_text_of(advisor, own->places))
		fprintf(out, "; operations come then, and %s",
			gp_advisor_text_of(advisor, own->places));
	else
		fputs("; most of it was before what is launched here", out);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	if (top_cause(found->own) == GP_IDLE_DEPENDENCY) {
		gp_dependency_advise(advisor, found, out);
		return;
	}
	fputs("launch ahead of the GPU, and give it more work at a time: gpuprof summary --by idle,gap says what it waits for",
	      out);
}

const struct gp_rule gp_rule_low_utilization = {
	.id = "low-utilization",
	.title = "the GPU is idle repeatedly",
	.meaning =
		"Between its first and last operation the GPU was idle repeatedly, for at least 30 % of the recorded time, and no other rule explains it: the host does not launch work fast enough. The finding names the launches that ended the gaps. Without call stacks it names the Python functions that stack samples found meanwhile (--host-samples).",
	.change =
		"Look at the host's activity in the gaps (`gpuprof summary --by idle,gap`, the timeline). Launch ahead, use larger batches, and do less host work between launches.",
	.ignore = "The program uses the GPU only occasionally on purpose.",
	.threshold = {.saves_percent = 30, .saves_ns = 20000000, .count = 100},
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = advise,
};
