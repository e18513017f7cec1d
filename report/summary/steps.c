/* The steps of the main loop, and the parts of the run around them. */
#include "report/summary/part.h"

#include <stdlib.h>

#include "gpuprof/count.h"

#include "report/analysis/analysis.h"
#include "report/base/interval.h"
#include "report/base/text/format.h"
#include "report/base/text/text.h"
#include "report/model/process_name.h"
#include "report/model/recorded.h"

#define SHOWN       4   /* idle causes */
#define FAR_PERCENT 105 /* of the median: an average that is worth a mention */
#define WHY_PERCENT 110 /* of the median: an average with its reason, if slow steps are one */
#define COPY_PART   10  /* of the steady state: copies that "busy" must not hide */

/* The process whose loop is shown: the longest. */
struct shown {
	size_t process;
	uint32_t loops; /* processes that have one */
	const struct gp_steps *steps;
	const struct gp_iterations *iterations;
	bool all_known; /* no operation is missing */
};

static struct shown choose(const struct gp_summary *summary)
{
	struct shown shown = {.process = summary->basis ? gp_analysis_main_process(summary->basis)
							: SIZE_MAX};

	if (shown.process == SIZE_MAX)
		return shown;
	for (size_t i = 0; i < summary->model_count; i++)
		shown.loops += summary->basis->steps[i].count > 0;
	shown.steps = &summary->basis->steps[shown.process];
	shown.iterations = &summary->basis->iterations[shown.process];
	shown.all_known = !gp_recorded_why_not_all(summary->models[shown.process]);
	for (size_t i = 0; i < summary->devices.count; i++)
		shown.all_known &=
			summary->basis->owners[i] != shown.process || summary->busy[i].more_ns == 0;
	return shown;
}

static uint64_t busy_in_ns(const struct gp_summary *summary, const struct shown *shown,
			   enum gp_run_part part)
{
	uint64_t state_ns[GP_STATES] = {0};

	gp_analysis_add_part(summary->basis, shown->process, part, state_ns);
	return gp_state_busy_ns(state_ns);
}

/* The share of the GPU's work that the steps have: how sure it is that they are the main loop. */
static struct gp_value share_of_work(const struct gp_summary *summary, const struct shown *shown)
{
	uint64_t busy_ns = 0, all_ns = 0;

	for (unsigned part = 0; part < GP_RUN_PARTS; part++) {
		uint64_t ns = busy_in_ns(summary, shown, part);

		all_ns += ns;
		busy_ns += part == GP_RUN_WARM_UP || shown->steps->recurs[part] ? ns : 0;
	}
	return gp_value_percent((double)busy_ns, (double)all_ns);
}

/* The number of the longest slow step, from 1; 0 = there is none. */
static uint32_t find_longest(const struct shown *shown, uint64_t *longest_ns)
{
	uint32_t number = 0;

	*longest_ns = 0;
	for (uint32_t i = 0; i < shown->steps->count; i++) {
		const struct gp_iteration *row = &shown->iterations->rows[i];

		if (shown->steps->parts[i] != GP_RUN_SLOW ||
		    row->end_ns - row->start_ns <= *longest_ns)
			continue;
		*longest_ns = row->end_ns - row->start_ns;
		number = i + 1;
	}
	return number;
}

/* The shortest and the longest step after the warm-up; of the warm-up alone, if there is no other. */
static struct gp_interval range_of(const struct shown *shown)
{
	bool has_others = gp_steps_recurring(shown->steps) > 0;
	struct gp_interval range = {.start_ns = UINT64_MAX};

	for (uint32_t i = 0; i < shown->steps->count; i++) {
		const struct gp_iteration *row = &shown->iterations->rows[i];
		uint64_t ns = row->end_ns - row->start_ns;

		if (has_others && shown->steps->parts[i] == GP_RUN_WARM_UP)
			continue;
		range.start_ns = ns < range.start_ns ? ns : range.start_ns;
		range.end_ns = ns > range.end_ns ? ns : range.end_ns;
	}
	return range;
}

/* ---- as text ---- */

/*
 * "of 6.936ms (median; 11.22ms on average after the warm-up: the average has the slow steps)"; of a
 * few steps their range.
 */
static void print_length(FILE *out, const struct shown *shown)
{
	const struct gp_steps *steps = shown->steps;
	const struct gp_interval range = range_of(shown);

	if (!gp_steps_have_median(steps)) {
		fprintf(out, " of %s", gp_format_ns(range.start_ns).text);
		if (range.end_ns > range.start_ns)
			fprintf(out, " to %s", gp_format_ns(range.end_ns).text);
		fputs(" (too few for a median)", out);
		return;
	}
	fprintf(out, " of %s (median", gp_format_ns(steps->median_ns).text);
	if (gp_steps_mean_ns(steps) * 100 > steps->median_ns * FAR_PERCENT)
		fprintf(out, "; %s on average after the warm-up%s",
			gp_format_ns(gp_steps_mean_ns(steps)).text,
			steps->counts[GP_RUN_SLOW] > 0 && gp_steps_mean_ns(steps) * 100 >
								  steps->median_ns * WHY_PERCENT
				? ": the average has the slow steps"
				: "");
	fputs(")", out);
}

static void print_title(const struct gp_summary *summary, const struct shown *shown)
{
	const struct gp_iterations *all = shown->iterations;
	FILE *out = summary->out;

	fprintf(out, "\nSteps: %s", gp_format_count(shown->steps->count).text);
	print_length(out, shown);
	if (summary->model_count > 1)
		fprintf(out, ", of %s", gp_process_name(summary->models[shown->process]).text);
	if (shown->loops > 1)
		fprintf(out, " (one of %s processes with steps)",
			gp_format_count(shown->loops).text);
	if (all->threads > 1)
		fprintf(out, ", in one of %s threads", gp_format_count(all->threads).text);
	if (all->streams > 1)
		fprintf(out, ", in one of %s streams", gp_format_count(all->streams).text);
	if (all->passes > 0)
		fprintf(out, ", each repeating its operations %s times",
			gp_format_count(all->passes).text);
	if (all->by_range) {
		fputs(", marked by ranges ", out);
		gp_text_print(out, all->name);
	} else {
		const struct gp_value share = share_of_work(summary, shown);
		char *figure = share.kind != GP_VALUE_NONE
				       ? gp_value_figure(&share, GP_UNIT_PERCENT)
				       : NULL; /* several processes use the GPU */

		fputs(", found by repeating operations", out);
		if (figure)
			fprintf(out, "; they have %s %% of the GPU work", figure);
		free(figure);
	}
	fputs("\n", out);
}

/* "startup" is a cause of idle time, and no name for a time.  Of a few steps none is known as steady. */
static const char *part_name(const struct shown *shown, enum gp_run_part part)
{
	static const char *const names[GP_RUN_PARTS] = {
		[GP_RUN_STARTUP] = "before the steps", [GP_RUN_WARM_UP] = "warm-up",
		[GP_RUN_STEADY] = "steady state",      [GP_RUN_SLOW] = "slow steps",
		[GP_RUN_BETWEEN] = "between steps",    [GP_RUN_SHUTDOWN] = "after the steps",
	};

	return part == GP_RUN_STEADY && !gp_steps_have_median(shown->steps) ? "steps" : names[part];
}

static void print_parts(const struct gp_summary *summary, const struct shown *shown)
{
	const struct gp_steps *steps = shown->steps;
	const char *separator = "  parts     ";
	uint64_t longest_ns;
	uint32_t longest = find_longest(shown, &longest_ns);

	for (unsigned part = 0; part < GP_RUN_PARTS; part++) {
		if (steps->ns[part] == 0)
			continue;
		fprintf(summary->out, "%s%s %s", separator,
			part_name(shown, (enum gp_run_part)part),
			gp_format_ns(steps->ns[part]).text);
		separator = ", ";
		if (steps->counts[part] > 0)
			fprintf(summary->out, " (%s", gp_format_count(steps->counts[part]).text);
		if (part == GP_RUN_SLOW)
			fprintf(summary->out, ", the longest %s: number %s",
				gp_format_ns(longest_ns).text, gp_format_count(longest).text);
		if (steps->counts[part] > 0)
			fputs(")", summary->out);
	}
	fputs("\n", summary->out);
}

/* " (computes 2.0 %, only copies 88.6 %)" if it only copies for a notable time: that is no work. */
static void print_copying(FILE *out, const uint64_t *state_ns)
{
	uint64_t copy_ns = gp_state_only_ns(state_ns, GP_STATE_COPY);
	double wall_ns = (double)gp_state_wall_ns(state_ns);

	if ((double)copy_ns * COPY_PART < wall_ns)
		return;
	fprintf(out, " (computes %s %%, only copies %s %%)",
		gp_format_percent((double)gp_state_any_ns(state_ns, GP_STATE_COMPUTE), wall_ns)
			.text,
		gp_format_percent((double)copy_ns, wall_ns).text);
}

static void print_steady(const struct gp_summary *summary, const struct shown *shown)
{
	uint64_t state_ns[GP_STATES] = {0};

	gp_analysis_add_part(summary->basis, shown->process, GP_RUN_STEADY, state_ns);
	if (gp_state_busy_ns(state_ns) == 0)
		return;
	fprintf(summary->out, "  %-9s GPU %s%s %% busy",
		gp_steps_have_median(shown->steps) ? "steady" : "steps",
		shown->all_known ? "" : "at least ",
		gp_format_percent((double)gp_state_busy_ns(state_ns),
				  (double)gp_state_wall_ns(state_ns))
			.text);
	print_copying(summary->out, state_ns);
	if (gp_state_idle_ns(state_ns) == 0) {
		fputs("\n", summary->out);
		return;
	}
	fputs(shown->all_known ? "; idle: " : "; idle at most: ", summary->out);
	gp_summary_print_causes(summary->out, state_ns, SHOWN);
}

bool gp_summary_has_steps(const struct gp_summary *summary)
{
	return choose(summary).steps != NULL;
}

/* ---- phases ---- */

static const struct gp_table_column phase_columns[] = {
	{"Host", GP_UNIT_NS},        {"GPU", GP_UNIT_NS},     {"Idle", GP_UNIT_NS},
	{"Steps", GP_UNIT_COUNT},    {"Phase", GP_UNIT_TEXT}, {"Idle by", GP_UNIT_TEXT},
	{"Mostly in", GP_UNIT_TEXT},
};

static const struct gp_table_head phase_head = {"phase", NULL, phase_columns, COUNT(phase_columns)};

static void put_phase(struct gp_table *table, const struct gp_phases *phases, uint32_t number)
{
	const struct gp_phase *phase = &phases->rows[number];
	uint64_t idle_ns;
	enum gp_idle_cause cause = gp_phase_idle_cause(phase, &idle_ns);

	for (unsigned i = 0; i < GP_PHASE_MEASURES; i++)
		gp_table_put_whole(table,
				   gp_phases_step_ns(phases, (enum gp_phase_measure)i, number));
	if (gp_phases_step_ns(phases, GP_PHASE_IDLE, number) == 0)
		idle_ns = 0; /* in the usual step */
	gp_table_put_whole(table, phase->steps);
	gp_table_put_text(table, phase->name);
	gp_table_put_text(table, idle_ns > 0 ? gp_idle_cause_words(cause) : "");
	gp_table_put_text(table, phase->place);
}

/* Of the host or of the GPU, which work beside each other. */
static uint64_t larger_ns(const struct gp_phase *phase)
{
	return phase->host_ns > phase->gpu_ns ? phase->host_ns : phase->gpu_ns;
}

/* The next phase of any step by time, after one; GP_PHASE_KINDS: there is none. */
static uint32_t next_phase(const struct gp_phases *phases, uint32_t after)
{
	uint32_t next = GP_PHASE_KINDS;

	for (uint32_t i = 0; i < GP_PHASE_KINDS; i++) {
		uint64_t ns = larger_ns(&phases->rows[i]);
		uint64_t most_ns =
			after < GP_PHASE_KINDS ? larger_ns(&phases->rows[after]) : UINT64_MAX;
		bool is_left = ns < most_ns || (ns == most_ns && i > after);

		if (phases->rows[i].name && phases->rows[i].steps > 0 && is_left &&
		    (next == GP_PHASE_KINDS || ns > larger_ns(&phases->rows[next])))
			next = i;
	}
	return next;
}

static void print_rest(const struct gp_summary *summary, const struct gp_phases *phases,
		       uint32_t next)
{
	uint32_t count = 0;

	for (; next < GP_PHASE_KINDS; next = next_phase(phases, next))
		count++;
	if (count > 0)
		fprintf(summary->out, "  ... %u more: gpuprof summary --by phase FILE\n", count);
}

static int print_phases(const struct gp_summary *summary, const struct gp_phases *phases)
{
	size_t rows = summary->rows.phases > 0 ? summary->rows.phases : GP_PHASE_KINDS;
	uint32_t next = next_phase(phases, GP_PHASE_KINDS);
	struct gp_table table;
	int result;

	/* Without stacks they are too rough for a screen: --by phase has them. */
	if (phases->time_count == 0 || phases->with_stack * 2 < phases->launches)
		return 0;
	fputs("  phases    medians of host, GPU and idle time, over the steps that have the phase\n",
	      summary->out);
	gp_table_open(&table, &phase_head);
	for (; next < GP_PHASE_KINDS && rows > 0; next = next_phase(phases, next), rows--)
		put_phase(&table, phases, next);
	result = gp_table_print(&table, summary->out, gp_summary_columns(summary));
	gp_table_close(&table);
	print_rest(summary, phases, next);
	return result;
}

int gp_summary_print_phases(const struct gp_summary *summary)
{
	const struct shown shown = choose(summary);

	return shown.steps ? print_phases(summary, &summary->basis->phases[shown.process]) : 0;
}

int gp_summary_print_steps(const struct gp_summary *summary)
{
	const struct shown shown = choose(summary);

	if (!shown.steps)
		return 0;
	print_title(summary, &shown);
	print_parts(summary, &shown);
	print_steady(summary, &shown);
	return 0;
}

/* ---- as data ---- */

static void add_parts(const struct gp_summary *summary, const struct shown *shown,
		      struct gp_document *document)
{
	gp_document_add_section(document, "parts");
	for (unsigned part = 0; part < GP_RUN_PARTS; part++) {
		uint64_t state_ns[GP_STATES] = {0};

		gp_analysis_add_part(summary->basis, shown->process, part, state_ns);
		gp_document_add_row(document);
		gp_document_add_text(document, "part", gp_run_part_id(part));
		gp_document_add_number(document, "time_ns", GP_UNIT_NS, shown->steps->ns[part]);
		gp_document_add_number(document, "step_count", GP_UNIT_COUNT,
				       shown->steps->counts[part]);
		gp_document_add_number(document, "busy_ns", GP_UNIT_NS, gp_state_busy_ns(state_ns));
		gp_document_add_number(document, "compute_ns", GP_UNIT_NS,
				       gp_state_any_ns(state_ns, GP_STATE_COMPUTE));
		gp_document_add_number(document, "only_copy_ns", GP_UNIT_NS,
				       gp_state_only_ns(state_ns, GP_STATE_COPY));
	}
}

void gp_summary_add_steps(const struct gp_summary *summary, struct gp_document *document)
{
	const struct shown shown = choose(summary);
	const struct gp_iterations *all = shown.iterations;

	if (!shown.steps)
		return;
	gp_document_add_section(document, "steps");
	gp_document_add_row(document);
	gp_document_add_text(document, "found_by", all->by_range ? "ranges" : "operations");
	gp_document_add_number(document, "pid", GP_UNIT_NUMBER,
			       summary->models[shown.process]->pid);
	if (summary->models[shown.process]->info[GP_INFO_RANK])
		gp_document_add_text(document, "rank",
				     summary->models[shown.process]->info[GP_INFO_RANK]);
	gp_document_add_number(document, "step_count", GP_UNIT_COUNT, shown.steps->count);
	if (gp_steps_have_median(shown.steps))
		gp_document_add_number(document, "median_ns", GP_UNIT_NS, shown.steps->median_ns);
	else
		gp_document_add_unknown(document, "median_ns");
	gp_document_add_number(document, "shortest_ns", GP_UNIT_NS, range_of(&shown).start_ns);
	gp_document_add_number(document, "longest_ns", GP_UNIT_NS, range_of(&shown).end_ns);
	gp_document_add_number(document, "mean_ns", GP_UNIT_NS, gp_steps_mean_ns(shown.steps));
	gp_document_add(document, "work_share", GP_UNIT_PERCENT, share_of_work(summary, &shown));
	add_parts(summary, &shown, document);
}
