#include <stdio.h>
#include <stdlib.h>

#include "report/analysis/analysis.h"
#include "report/analysis/idle/call_cause.h"
#include "report/trace/cuda_names.h"
#include "report/base/text/format.h"
#include "report/analysis/host/own_overhead.h"
#include "report/base/text/paragraph.h"
#include "report/summary/part.h"

/* An overhead that CUPTI reports is shown from this share of the time on. */
#define LEAST_OVERHEAD 0.01

/* ---- gpuprof's own cost ---- */

/* The sum, over all threads, of the time from first to last call. */
static double threads_time(const struct gp_summary *summary, size_t *threads)
{
	double total_ns = 0;

	*threads = 0;
	for (size_t m = 0; m < summary->model_count; m++) {
		const struct gp_model *model = summary->models[m];

		for (uint32_t i = 0, first = 0; i < model->call_count; i++) {
			const struct gp_call *call = &model->calls[i];

			if (i + 1 < model->call_count && call[1].thread_id == call->thread_id)
				continue;
			total_ns += (double)(call->start_ns + call->duration_ns -
					     model->calls[first].start_ns);
			first = i + 1;
			++*threads;
		}
	}
	return total_ns;
}

/* "of the time above" for one thread, else "of its 4 threads' time". */
static void print_share(const struct gp_summary *summary, double cost_ns)
{
	size_t threads;
	double time_ns = threads_time(summary, &threads);

	fprintf(summary->out, ", %s %% of ", gp_format_percent(cost_ns, time_ns).text);
	if (threads <= 1)
		fputs("the time above", summary->out);
	else
		fprintf(summary->out, "%s %s threads' time",
			summary->model_count > 1 ? "their" : "its", gp_format_count(threads).text);
}

static void print_kinds_of_cost(FILE *out, const struct gp_own_overhead *cost)
{
	fprintf(out, "\n  hooks %s, CUPTI callbacks %s, GPU records %s",
		cost->hooks_unknown ? "not measured" : gp_format_ns_about(cost->hooks_ns).text,
		gp_format_ns_about(cost->callbacks_ns).text,
		gp_format_ns_about(cost->records_ns).text);
	if (cost->setup_ns > 0)
		fprintf(out, ", setup of hardware counters %s",
			gp_format_ns_about(cost->setup_ns).text);
}

/* Whether gpuprof recorded at least one of the processes. */
static bool has_own_trace(const struct gp_summary *summary)
{
	for (size_t i = 0; i < summary->model_count; i++)
		if (!summary->models[i]->recorder)
			return true;
	return false;
}

/*
 * What the process of the main loop pays in each step that recurs, on average; its operations have
 * their share of the cost.  0: there are no steps.
 */
static double step_cost_ns(const struct gp_summary *summary, uint64_t *step_ns)
{
	const struct gp_analysis *basis = summary->basis;
	size_t process = basis ? gp_analysis_main_process(basis) : SIZE_MAX;
	struct gp_model *model = process == SIZE_MAX ? NULL : summary->models[process];
	struct gp_own_overhead cost;
	uint64_t operations = 0;

	if (!model || model->recorder || model->op_count == 0)
		return 0;
	for (uint32_t i = 0; i < basis->steps[process].count; i++)
		if (basis->steps[process].recurs[basis->steps[process].parts[i]])
			operations += basis->iterations[process].rows[i].op_count;
	cost = gp_own_overhead_of(&model, 1);
	*step_ns = gp_steps_mean_ns(&basis->steps[process]);
	return (gp_own_overhead_total_ns(&cost) - cost.setup_ns) * (double)operations /
	       (double)model->op_count / gp_steps_recurring(&basis->steps[process]);
}

/* The part of a step, which startup does not dilute; else that of the whole time. */
static void print_part(const struct gp_summary *summary, double cost_ns)
{
	uint64_t step_ns = 0;
	double in_step_ns = step_cost_ns(summary, &step_ns);

	if (in_step_ns > 0)
		fprintf(summary->out, " of host time, in each step %s, %s %%",
			gp_format_ns_about(in_step_ns).text,
			gp_format_percent(in_step_ns, (double)step_ns).text);
	else
		print_share(summary, cost_ns);
	if (in_step_ns > 0)
		cost_ns = in_step_ns;
	fprintf(summary->out, " (an estimate: %s to %s)",
		gp_format_ns_about(cost_ns / GP_OWN_OVERHEAD_MOST_PART).text,
		gp_format_ns_about(cost_ns / GP_OWN_OVERHEAD_LEAST_PART).text);
}

void gp_summary_print_cost(const struct gp_summary *summary)
{
	struct gp_own_overhead cost = gp_own_overhead_of(summary->models, summary->model_count);
	bool brief = summary->options->brief;

	if (!has_own_trace(summary))
		return;
	fprintf(summary->out, "%sgpuprof's own cost: about %s", brief ? "  " : "\n",
		gp_format_ns_about(gp_own_overhead_total_ns(&cost)).text);
	print_part(summary, gp_own_overhead_total_ns(&cost));
	if (!brief)
		print_kinds_of_cost(summary->out, &cost);
	fputs("\n", summary->out);
}

static void add_estimate(struct gp_document *document, const char *id, double cost_ns)
{
	gp_document_add_row(document);
	gp_document_add_text(document, "id", id);
	gp_document_add(document, "estimate_ns", GP_UNIT_NS, gp_value_real(cost_ns));
	gp_document_add(document, "least_ns", GP_UNIT_NS,
			gp_value_real(cost_ns / GP_OWN_OVERHEAD_MOST_PART));
	gp_document_add(document, "most_ns", GP_UNIT_NS,
			gp_value_real(cost_ns / GP_OWN_OVERHEAD_LEAST_PART));
}

int gp_summary_add_cost(const struct gp_summary *summary, struct gp_document *document)
{
	struct gp_own_overhead cost = gp_own_overhead_of(summary->models, summary->model_count);
	uint64_t step_ns = 0;
	double in_step_ns = step_cost_ns(summary, &step_ns);

	if (!has_own_trace(summary))
		return 0;
	gp_document_add_section(document, "cost");
	add_estimate(document, "all", gp_own_overhead_total_ns(&cost));
	if (cost.hooks_unknown)
		gp_document_add_unknown(document, "hooks_ns");
	else
		gp_document_add(document, "hooks_ns", GP_UNIT_NS, gp_value_real(cost.hooks_ns));
	gp_document_add(document, "callbacks_ns", GP_UNIT_NS, gp_value_real(cost.callbacks_ns));
	gp_document_add(document, "records_ns", GP_UNIT_NS, gp_value_real(cost.records_ns));
	gp_document_add(document, "setup_ns", GP_UNIT_NS, gp_value_real(cost.setup_ns));
	if (in_step_ns > 0) {
		add_estimate(document, "step", in_step_ns);
		gp_document_add_number(document, "step_ns", GP_UNIT_NS, step_ns);
	}
	return 0;
}

/* ---- overhead that CUPTI reports ---- */

struct overheads {
	struct gp_groups kinds;     /* of CUPTI */
	struct gp_groups of_driver; /* which a program has without gpuprof, too */
	uint64_t beyond_ns;         /* before the first call and after the last */
};

static void gather_overheads(struct overheads *all, struct gp_model *model)
{
	struct gp_window window = gp_busy_window(&model, 1);

	for (uint32_t i = 0; i < model->overhead_count; i++) {
		const struct gp_overhead *overhead = &model->overheads[i];
		uint64_t within_ns = gp_summary_overhead_within_ns(model, overhead, window);
		struct gp_groups *kinds = gp_overhead_is_of_profiler(overhead->overhead_kind)
						  ? &all->kinds
						  : &all->of_driver;
		uint32_t row;

		if (gp_overhead_holds_up(model, overhead))
			all->beyond_ns += overhead->end_ns - overhead->start_ns - within_ns;
		if (within_ns == 0)
			continue;
		row = gp_groups_find(kinds, gp_overhead_is_of_queue(overhead->overhead_kind)
						    ? "wait for space in a full launch queue"
						    : gp_overhead_name(overhead->overhead_kind));
		gp_groups_add(kinds, row, within_ns);
	}
}

static double process_time(const struct gp_summary *summary)
{
	double total_ns = 0;

	for (size_t i = 0; i < summary->model_count; i++) {
		struct gp_window window = gp_busy_window(&summary->models[i], 1);

		total_ns += (double)(window.end_unix_ns - window.start_unix_ns);
	}
	return total_ns;
}

static bool is_shown(const struct gp_summary *summary, uint64_t ns)
{
	return summary->options->row_limit == 0
		       ? ns > 0
		       : (double)ns >= LEAST_OVERHEAD * process_time(summary);
}

static void print_kinds(const struct gp_summary *summary, const struct gp_groups *kinds,
			struct gp_paragraph *paragraph)
{
	uint32_t *order = gp_groups_by_time(kinds);

	for (uint32_t i = 0; i < kinds->count; i++) {
		const struct gp_group *group = &kinds->rows[order[i]];
		char text[160];

		if (!is_shown(summary, group->total_ns))
			continue;
		snprintf(text, sizeof(text), "%s x %s %s", gp_format_count(group->count).text,
			 group->key, gp_format_ns(group->total_ns).text);
		gp_paragraph_add(paragraph, text);
	}
	free(order);
}

static void print_of_driver(const struct gp_summary *summary, const struct gp_groups *kinds)
{
	struct gp_paragraph paragraph = {.out = summary->out,
					 .columns = gp_summary_columns(summary),
					 .lead = "the driver, also without a profiler: "};

	print_kinds(summary, kinds, &paragraph);
	gp_paragraph_end(&paragraph);
}

int gp_summary_print_overheads(const struct gp_summary *summary)
{
	struct gp_paragraph paragraph = {.out = summary->out,
					 .columns = gp_summary_columns(summary),
					 .lead = has_own_trace(summary)
							 ? "profiler overhead, not included above: "
							 : "profiler overhead: "};
	struct overheads all = {.beyond_ns = 0};
	char text[80];

	for (size_t m = 0; m < summary->model_count; m++)
		gather_overheads(&all, summary->models[m]);
	print_kinds(summary, &all.kinds, &paragraph);
	if (is_shown(summary, all.beyond_ns)) {
		snprintf(text, sizeof(text), "%s before the first call or after the last",
			 gp_format_ns(all.beyond_ns).text);
		gp_paragraph_add(&paragraph, text);
	}
	gp_paragraph_end(&paragraph);
	print_of_driver(summary, &all.of_driver);
	gp_groups_free(&all.kinds);
	gp_groups_free(&all.of_driver);
	return 0;
}
