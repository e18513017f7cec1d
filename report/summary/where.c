/*
 * Where the time of a GPU went, in a few lines: `gpuprof summary --by time,idle,gap,kind` has the
 * details.
 */
#include "report/summary/part.h"

#include <errno.h>
#include <stdlib.h>

#include "report/analysis/analysis.h"
#include "report/symbols/call_site.h"
#include "report/base/text/format.h"
#include "report/symbols/names.h"
#include "report/base/stats.h"
#include "report/base/text/text.h"

#define SHOWN           4    /* causes, kinds */
#define SHOWN_IN_LOOP   3    /* idle causes of the loop, on one screen */
#define SHOWN_IN_A_LINE 2    /* idle causes of one of several devices */
#define DEVICES_IN_FULL 2    /* with more devices, each has its idle causes only */
#define NOT_OTHERS      0.05 /* a cause with this share is never one of the "others" */
#define LARGER          1.5  /* times the usual operation count of an iteration */
#define FAR_FROM        1.5  /* times the median: an average that is worth a mention */
#define LEAST_SHARE     0.01
#define NAME_COLUMNS    48

/* One part of a whole. */
struct part {
	const char *name;
	uint64_t ns;
};

static int compare_parts(const void *a, const void *b)
{
	const struct part *left = a, *right = b;

	if (left->ns != right->ns)
		return left->ns > right->ns ? -1 : 1;
	return 0;
}

/* "host-bound 32.6 %, launch-bound 19.7 %, 3 others 4.0 %"; the parts come sorted. */
static void print_parts(FILE *out, const struct part *parts, size_t count, uint64_t whole_ns,
			size_t shown)
{
	uint64_t rest_ns = 0;
	size_t others = 0;

	for (size_t i = 0; i < count && parts[i].ns > 0; i++) {
		if (i < shown) {
			fprintf(out, "%s%s %s %%", i > 0 ? ", " : "", parts[i].name,
				gp_format_percent((double)parts[i].ns, (double)whole_ns).text);
			continue;
		}
		others++;
		rest_ns += parts[i].ns;
	}
	if (others > 0)
		fprintf(out, ", %zu other%s %s %%", others, others > 1 ? "s" : "",
			gp_format_percent((double)rest_ns, (double)whole_ns).text);
	fputs("\n", out);
}

static void print_classes(FILE *out, const struct gp_where *where)
{
	const uint64_t *ns = where->state_ns;
	struct part parts[] = {
		{"computing", gp_state_any_ns(ns, GP_STATE_COMPUTE)},
		{"communicating", gp_state_any_ns(ns, GP_STATE_COMMUNICATION)},
		{"copying", gp_state_any_ns(ns, GP_STATE_COPY)},
	};
	uint64_t sum_ns = parts[0].ns + parts[1].ns + parts[2].ns;
	uint64_t wall_ns = gp_state_wall_ns(ns), busy_ns = gp_state_busy_ns(ns);
	const char *separator = "    busy    ";

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].ns == 0)
			continue;
		fprintf(out, "%s%s %s %%", separator, parts[i].name,
			gp_format_percent((double)parts[i].ns, (double)wall_ns).text);
		separator = ", ";
	}
	if (sum_ns > busy_ns)
		fprintf(out, "; overlapped %s %%",
			gp_format_percent((double)(busy_ns - ns[GP_STATE_COMPUTE] -
						   ns[GP_STATE_COMMUNICATION] - ns[GP_STATE_COPY]),
					  (double)wall_ns)
				.text);
	fputs("\n", out);
}

static void print_causes(FILE *out, const uint64_t state_ns[GP_STATES], size_t shown)
{
	struct part parts[GP_IDLE_CAUSES];
	uint64_t wall_ns = gp_state_wall_ns(state_ns);

	for (enum gp_idle_cause i = 0; i < GP_IDLE_CAUSES; i++)
		parts[i] = (struct part){gp_idle_cause_words(i), state_ns[GP_STATE_IDLE + i]};
	qsort(parts, GP_IDLE_CAUSES, sizeof(*parts), compare_parts);
	while (shown < GP_IDLE_CAUSES && (double)parts[shown].ns >= NOT_OTHERS * (double)wall_ns)
		shown++;
	print_parts(out, parts, GP_IDLE_CAUSES, wall_ns, shown);
}

/* ---- the longest gap between two operations ---- */

void gp_summary_print_op(FILE *out, const struct gp_model *model, const struct gp_op *op)
{
	struct gp_names *names = gp_names_new();
	char label[GP_ACTIVITY_LABEL_BYTES] = "(no memory)";
	const char *name = label;

	if (op->kind != GP_OP_KERNEL)
		gp_activity_label(label, op);
	else if (names)
		name = gp_names_short(names, gp_model_kernel_name(model, op));
	gp_text_print_fit(out, name, NAME_COLUMNS);
	gp_names_free(names);
}

static void print_op(const struct gp_summary *summary, struct gp_op_at at)
{
	gp_summary_print_op(summary->out, summary->models[at.model], gp_op_of(summary->models, at));
}

/* Where the operation was launched, if that is known. */
static void print_site(const struct gp_summary *summary, struct gp_op_at at)
{
	const struct gp_model *model = summary->models[at.model];
	const struct gp_call *call = gp_model_op_cause(model, gp_op_of(summary->models, at));
	struct gp_call_sites *sites;

	if (!call || call->stack == GP_NONE)
		return;
	sites = gp_call_sites_new();
	if (sites) {
		fprintf(summary->out, ", at %s", gp_call_site_mark(call));
		gp_text_print(
			summary->out,
			gp_call_sites_at(sites, gp_call_sites_find(sites, model, call)).place);
	}
	gp_call_sites_free(sites);
}

static const struct gp_gap *longest_inside(const struct gp_where *where)
{
	for (size_t i = 0; i < where->gaps_kept; i++)
		if (where->gaps[i].before.op != GP_NONE && where->gaps[i].after.op != GP_NONE)
			return &where->gaps[i];
	return NULL;
}

static void print_longest(const struct gp_summary *summary, const struct gp_where *where)
{
	const struct gp_gap *gap = longest_inside(where);

	if (!gap)
		return;
	fprintf(summary->out, "    longest gap between operations %s, %s: from ",
		gp_format_ns(gap->end_ns - gap->start_ns).text, gp_idle_cause_words(gap->cause));
	print_op(summary, gap->before);
	fputs(" to ", summary->out);
	print_op(summary, gap->after);
	print_site(summary, gap->after);
	fputs("\n", summary->out);
}

/* Whether it did anything but computing; on one screen, for a notable time. */
static bool is_more_than_computing(const struct gp_summary *summary, const struct gp_where *where)
{
	uint64_t computing_ns = gp_state_any_ns(where->state_ns, GP_STATE_COMPUTE);
	uint64_t others_ns = gp_state_busy_ns(where->state_ns) - computing_ns;
	double least = summary->options->brief ? LEAST_SHARE : 0;

	return others_ns > 0 &&
	       (double)others_ns >= least * (double)gp_state_wall_ns(where->state_ns);
}

void gp_summary_print_where(const struct gp_summary *summary, size_t device, bool all_known)
{
	const struct gp_where *where = &summary->basis->wheres.devices[device];
	bool in_full = summary->devices.count <= DEVICES_IN_FULL;
	bool in_a_line = summary->options->brief && summary->devices.count > 1;
	bool busy = gp_state_busy_ns(where->state_ns) > 0;
	bool idle = gp_state_idle_ns(where->state_ns) > 0;

	if (busy && idle && in_a_line) {
		fputs(all_known ? "; " : "; idle at most: ", summary->out);
		print_causes(summary->out, where->state_ns, SHOWN_IN_A_LINE);
	} else {
		fputs("\n", summary->out);
	}
	if (!busy)
		return;
	if (in_full && is_more_than_computing(summary, where))
		print_classes(summary->out, where);
	if (idle && !in_a_line) {
		fputs(all_known ? "    idle    " : "    idle    at most: ", summary->out);
		print_causes(summary->out, where->state_ns, SHOWN);
	}
	if (in_full && !summary->options->brief)
		print_longest(summary, where);
}

/* ---- the main loop ---- */

static uint64_t duration_of(const struct gp_iteration *row)
{
	return row->end_ns - row->start_ns;
}

static uint64_t operations_of(const struct gp_iteration *row)
{
	return row->op_count;
}

struct longest {
	uint32_t number, count; /* count: iterations considered, 0 = none */
	uint64_t ns;
};

/* The longest iteration among those with more operations than usual, and among the others. */
static void find_longest(const struct gp_iterations *all, double usual_operations,
			 struct longest *larger, struct longest *other)
{
	*larger = *other = (struct longest){0};
	for (uint32_t i = 0; i < all->count; i++) {
		const struct gp_iteration *row = &all->rows[i];
		bool is_larger = (double)operations_of(row) > LARGER * usual_operations;
		struct longest *found = is_larger ? larger : other;

		found->count++;
		if (duration_of(row) > found->ns) {
			found->number = i + 1;
			found->ns = duration_of(row);
		}
	}
}

/* Returns 0 or -ENOMEM. */
static int find_median(const struct gp_iterations *all,
		       uint64_t (*figure_of)(const struct gp_iteration *row), double *median)
{
	uint64_t *figures = malloc(((size_t)all->count + 1) * sizeof(*figures));

	if (!figures)
		return -ENOMEM;
	for (uint32_t i = 0; i < all->count; i++)
		figures[i] = figure_of(&all->rows[i]);
	*median = gp_stats_of(figures, all->count).median;
	free(figures);
	return 0;
}

/* How the iterations were found. */
static void print_origin(FILE *out, const struct gp_iterations *all)
{
	fputs(all->by_range ? "; found by ranges " : "; found by repeating operations", out);
	if (all->by_range)
		gp_text_print(out, all->name);
}

/* The loop's share of the time, on the device with the longest possible time. */
static struct gp_figure share_of_loop(const struct gp_summary *summary)
{
	size_t device = 0;

	for (size_t i = 1; i < summary->devices.count; i++)
		if (summary->busy[i].possible_ns > summary->busy[device].possible_ns)
			device = i;
	return gp_format_percent((double)gp_state_wall_ns(summary->basis->in_loop_ns[device]),
				 (double)summary->busy[device].possible_ns);
}

/* ", in 3 stretches, up to 417.0ms apart" */
static void print_stretches(FILE *out, const struct gp_iterations *all)
{
	uint64_t separate_ns = 0;

	for (uint32_t i = 1; i < all->stretch_count; i++) {
		uint64_t ns = all->stretches[i].start_ns - all->stretches[i - 1].end_ns;

		separate_ns = ns > separate_ns ? ns : separate_ns;
	}
	if (all->stretch_count > 1)
		fprintf(out, ", in %s stretches, %s%s apart",
			gp_format_count(all->stretch_count).text,
			all->stretch_count > 2 ? "up to " : "", gp_format_ns(separate_ns).text);
}

/* "longest 417.0ms (number 1, with more operations), of the others 123.1ms (number 16)" */
static void print_longest_iteration(FILE *out, const struct longest *larger,
				    const struct longest *other)
{
	bool is_larger = larger->ns > other->ns;

	if (is_larger) {
		fprintf(out, ", longest %s (number %u, ", gp_format_ns(larger->ns).text,
			larger->number);
		if (larger->count > 1)
			fprintf(out, "one of %s ", gp_format_count(larger->count).text);
		fputs("with more operations)", out);
	}
	if (other->ns > 0)
		fprintf(out, ", %s %s (number %u)", is_larger ? "of the others" : "longest",
			gp_format_ns(other->ns).text, other->number);
}

/*
 * ", 1.033ms on average": if the iterations other than the longest, which is printed as well, are
 * far from the median on average.
 */
static void print_average(FILE *out, const struct gp_iterations *all, double median_ns,
			  uint64_t longest_ns)
{
	uint64_t total_ns = 0;
	double others_ns;

	if (all->count < 2)
		return;
	for (uint32_t i = 0; i < all->count; i++)
		total_ns += duration_of(&all->rows[i]);
	others_ns = (double)(total_ns - longest_ns) / (all->count - 1);
	if (others_ns > FAR_FROM * median_ns || FAR_FROM * others_ns < median_ns)
		fprintf(out, ", %s on average", gp_format_ns(total_ns / all->count).text);
}

static void print_iterations(const struct gp_summary *summary, const struct gp_iterations *all)
{
	double median_ns, usual;
	struct longest larger, other;

	if (find_median(all, duration_of, &median_ns) < 0 ||
	    find_median(all, operations_of, &usual) < 0)
		return;
	find_longest(all, usual, &larger, &other);
	fprintf(summary->out, "  loop      %s iterations of %s (median",
		gp_format_count(all->count).text, gp_format_ns((uint64_t)median_ns).text);
	print_average(summary->out, all, median_ns, larger.ns > other.ns ? larger.ns : other.ns);
	fputs(")", summary->out);
	if (all->threads > 1)
		fprintf(summary->out, " in one of %s threads", gp_format_count(all->threads).text);
	if (all->streams > 1)
		fprintf(summary->out, " in one of %s streams", gp_format_count(all->streams).text);
	if (all->passes > 0)
		fprintf(summary->out, ", each repeating its operations %s times",
			gp_format_count(all->passes).text);
	print_stretches(summary->out, all);
	fprintf(summary->out, ", %s %% of the time", share_of_loop(summary).text);
	print_longest_iteration(summary->out, &larger, &other);
	if (!summary->options->brief)
		print_origin(summary->out, all);
	fputs("\n", summary->out);
}

/* The states of the devices that worked in the loop, summed over all iterations. */
static void sum_loop(const struct gp_summary *summary, uint64_t state_ns[GP_STATES])
{
	for (size_t i = 0; i < summary->devices.count; i++) {
		const uint64_t *own_ns = summary->basis->in_loop_ns[i];

		for (unsigned s = 0; gp_state_busy_ns(own_ns) > 0 && s < GP_STATES; s++)
			state_ns[s] += own_ns[s];
	}
}

/*
 * " (25.8 % including the time between stretches)": a loop that stalls regularly, for a checkpoint or for
 * data, looks like several loops, and the figure within them hides the stalls.  Not printed if
 * recording paused: the work in between is unknown.
 */
static void print_with_between(const struct gp_summary *summary, bool all_known)
{
	const struct gp_iterations *all = summary->basis->iterations;
	uint64_t base_ns = summary->models[0]->base_unix_ns, busy_ns = 0, wall_ns = 0;

	if (all->stretch_count <= 2 || summary->models[0]->gate_count > 0)
		return;
	for (size_t i = 0; i < summary->devices.count; i++) {
		uint64_t start_ns = base_ns + all->stretches[0].start_ns;
		uint64_t end_ns = base_ns + all->stretches[all->stretch_count - 1].end_ns;

		if (gp_state_busy_ns(summary->basis->in_loop_ns[i]) == 0)
			continue;
		busy_ns += gp_idle_gaps_busy_ns(&summary->basis->idle_gaps, i, start_ns, end_ns);
		wall_ns += end_ns - start_ns;
	}
	if (wall_ns > 0)
		fprintf(summary->out, " (%s%s %% including the time between stretches)",
			all_known ? "" : "at least ",
			gp_format_percent((double)busy_ns, (double)wall_ns).text);
}

static void print_inside(const struct gp_summary *summary, bool all_known)
{
	uint64_t state_ns[GP_STATES] = {0};

	sum_loop(summary, state_ns);
	if (gp_state_busy_ns(state_ns) == 0)
		return;
	fprintf(summary->out, "    steady  %s%s %% busy", all_known ? "" : "at least ",
		gp_format_percent((double)gp_state_busy_ns(state_ns),
				  (double)gp_state_wall_ns(state_ns))
			.text);
	print_with_between(summary, all_known);
	if (gp_state_idle_ns(state_ns) > 0)
		fputs(all_known ? "; idle: " : "; idle at most: ", summary->out);
	print_causes(summary->out, state_ns, summary->options->brief ? SHOWN_IN_LOOP : SHOWN);
}

void gp_summary_print_loop(const struct gp_summary *summary, bool all_known)
{
	const struct gp_iterations *all = summary->basis->iterations;

	if (summary->model_count != 1 || all->count == 0)
		return;
	print_iterations(summary, all);
	print_inside(summary, all_known);
}

/* ---- kinds of kernels ---- */

static uint64_t sum_kinds(const struct gp_summary *summary, struct part parts[],
			  uint64_t *separate_ns)
{
	struct gp_names *names = gp_names_new();
	uint64_t total_ns = 0;

	for (uint32_t i = 0; i < gp_kinds_count(summary->kinds); i++)
		parts[i] = (struct part){gp_kinds_name(summary->kinds, i), 0};
	for (uint32_t i = 0; names && i < summary->activity.operations.count; i++) {
		const struct gp_group *row = &summary->activity.operations.rows[i];

		if (row->key[0] != GP_ACTIVITY_KERNEL)
			continue;
		parts[gp_kinds_find(summary->kinds, gp_names_full(names, row->key + 1))].ns +=
			row->total_ns - row->separate_ns;
		total_ns += row->total_ns - row->separate_ns;
		*separate_ns += row->separate_ns;
	}
	gp_names_free(names);
	return total_ns;
}

void gp_summary_print_kinds(const struct gp_summary *summary)
{
	struct part parts[GP_KINDS_LIMIT] = {{NULL, 0}};
	uint64_t separate_ns = 0, total_ns = sum_kinds(summary, parts, &separate_ns);

	if (parts[GP_KIND_UNKNOWN].ns * 2 >= total_ns)
		return;
	fprintf(summary->out, "  kernels   %s", separate_ns > 0 ? "without tuning: " : "");
	qsort(parts, gp_kinds_count(summary->kinds), sizeof(*parts), compare_parts);
	print_parts(summary->out, parts, gp_kinds_count(summary->kinds), total_ns, SHOWN);
}
