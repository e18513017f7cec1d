/*
 * Where the time of a GPU went, in a few lines: `gpuprof summary --by time,idle,gap,kind` has the
 * details.
 */
#include "report/summary/part.h"

#include <stdlib.h>

#include "report/analysis/analysis.h"
#include "report/symbols/call_site.h"
#include "report/base/text/format.h"
#include "report/symbols/names.h"
#include "report/base/text/text.h"

#define SHOWN           4    /* causes, kinds */
#define SHOWN_IN_A_LINE 2    /* idle causes of one of several devices */
#define DEVICES_IN_FULL 2    /* with more devices, each has its idle causes only */
#define NOT_OTHERS      0.05 /* a cause with this share is never one of the "others" */
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

void gp_summary_print_causes(FILE *out, const uint64_t *state_ns, size_t shown)
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
	char label[GP_ACTIVITY_LABEL_BYTES];
	const char *name = label;

	if (op->kind != GP_OP_KERNEL)
		gp_activity_label(label, op);
	else
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
	fprintf(summary->out, ", at %s", gp_call_site_mark(call));
	gp_text_print(summary->out,
		      gp_call_sites_at(sites, gp_call_sites_find(sites, model, call)).place);
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
		gp_summary_print_causes(summary->out, where->state_ns, SHOWN_IN_A_LINE);
	} else {
		fputs("\n", summary->out);
	}
	if (!busy)
		return;
	if (in_full && is_more_than_computing(summary, where))
		print_classes(summary->out, where);
	if (idle && !in_a_line) {
		fputs(all_known ? "    idle    " : "    idle    at most: ", summary->out);
		gp_summary_print_causes(summary->out, where->state_ns, SHOWN);
	}
	if (in_full && !summary->options->brief)
		print_longest(summary, where);
}

/* ---- kinds of kernels ---- */

static uint64_t sum_kinds(const struct gp_summary *summary, struct part parts[],
			  uint64_t *separate_ns)
{
	struct gp_names *names = gp_names_new();
	uint64_t total_ns = 0;

	for (uint32_t i = 0; i < gp_kinds_count(summary->kinds); i++)
		parts[i] = (struct part){gp_kinds_name(summary->kinds, i), 0};
	for (uint32_t i = 0; i < summary->activity.operations.count; i++) {
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
