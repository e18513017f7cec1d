#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/answers/call_cause.h"
#include "report/cuda_names.h"
#include "report/format.h"
#include "report/own_cost.h"
#include "report/paragraph.h"
#include "report/summary_part.h"

/* Share of the time from which an overhead that CUPTI reports is shown. */
#define LEAST_OVERHEAD 0.01

/* ---- ours ---- */

/* Each thread from its first to its last call, all together; that of one thread is its process's. */
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

/* "of the time above", which is one thread's, or "of its 4 threads' time". */
static void print_share(const struct gp_summary *summary, double cost_ns)
{
	size_t threads;
	double time_ns = threads_time(summary, &threads);

	fprintf(summary->out, ", %s %% of ", gp_format_percent(cost_ns, time_ns).text);
	if (threads <= 1)
		fputs("the time above", summary->out);
	else
		fprintf(summary->out, "%s %s threads' time%s",
			summary->model_count > 1 ? "their" : "its", gp_format_count(threads).text,
			summary->options->brief ? "" : "\n ");
}

static void print_kinds_of_cost(FILE *out, const struct gp_own_cost *cost)
{
	fprintf(out, " (hooks %s, CUPTI callbacks %s, GPU records %s)",
		cost->hooks_unknown ? "not measured" : gp_format_ns_about(cost->hooks_ns).text,
		gp_format_ns_about(cost->callbacks_ns).text,
		gp_format_ns_about(cost->records_ns).text);
}

/* Whether any of it was recorded by gpuprof. */
static bool has_own_trace(const struct gp_summary *summary)
{
	for (size_t i = 0; i < summary->model_count; i++)
		if (!summary->models[i]->recorder)
			return true;
	return false;
}

void gp_summary_print_cost(const struct gp_summary *summary)
{
	struct gp_own_cost cost = gp_own_cost_of(summary->models, summary->model_count);
	bool brief = summary->options->brief;

	if (!has_own_trace(summary))
		return;
	fprintf(summary->out, "%sgpuprof's own cost: about %s", brief ? "  " : "\n",
		gp_format_ns_about(gp_own_cost_total_ns(&cost)).text);
	print_share(summary, gp_own_cost_total_ns(&cost));
	if (!brief)
		print_kinds_of_cost(summary->out, &cost);
	fputs("\n", summary->out);
}

/* ---- what CUPTI says ---- */

static int gather_overheads(struct gp_groups *groups, const struct gp_model *model)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < model->overhead_count; i++) {
		const struct gp_overhead *overhead = &model->overheads[i];
		uint32_t row;

		if (!gp_overhead_holds_up(model, overhead))
			continue;
		row = gp_groups_find(groups, gp_overhead_name(overhead->overhead_kind));
		if (row == UINT32_MAX)
			return -ENOMEM;
		result = gp_groups_add(groups, row, overhead->end_ns - overhead->start_ns);
	}
	return result;
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

int gp_summary_print_overheads(const struct gp_summary *summary)
{
	struct gp_paragraph paragraph = {.out = summary->out,
					 .columns = gp_summary_columns(summary),
					 .lead = "CUPTI reports: "};
	struct gp_groups groups = {0};
	uint32_t *order;
	int result = 0;

	for (size_t m = 0; m < summary->model_count; m++)
		result = result < 0 ? result : gather_overheads(&groups, summary->models[m]);
	order = gp_groups_by_time(&groups);
	for (uint32_t i = 0; order && i < groups.count; i++) {
		const struct gp_group *group = &groups.rows[order[i]];
		char text[160];

		if (summary->options->row_limit != 0 &&
		    (double)group->total_ns < LEAST_OVERHEAD * process_time(summary))
			continue;

		snprintf(text, sizeof(text), "%s x %s %s", gp_format_count(group->count).text,
			 group->key, gp_format_ns(group->total_ns).text);
		gp_paragraph_add(&paragraph, text);
	}
	gp_paragraph_end(&paragraph);
	result = order ? result : -ENOMEM;
	free(order);
	gp_groups_free(&groups);
	return result;
}
