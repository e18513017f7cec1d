/* What passed before the first operation and after the last one, where that is a notable part of the time. */
#include "report/summary_part.h"

#include <stdbool.h>
#include <stdio.h>

#include "report/answers/ends.h"
#include "report/format.h"
#include "report/text.h"

#define LEAST_NS        100000000u /* of an end */
#define LEAST_PERCENT   5
#define LEAST_UNKNOWN   10         /* percent */
#define LEAST_BEFORE_NS 500000000u /* before the first call, which is in no other sum */
#define LEAST_PART_NS   10000000u

static uint64_t wall_ns(const struct gp_summary *summary)
{
	return summary->window.end_unix_ns - summary->window.start_unix_ns;
}

static bool is_notable(const struct gp_summary *summary, uint64_t ns, uint64_t least_ns)
{
	return ns >= least_ns && ns * 100 >= LEAST_PERCENT * wall_ns(summary);
}

/* "NCCL's ncclCommInitRank 512.3ms, making contexts 113.6ms" */
static void print_parts(FILE *out, const struct gp_end *end)
{
	const char *separator = ": ";

	for (enum gp_end_part part = 0; part < GP_END_PARTS; part++) {
		if (end->part_ns[part] < LEAST_PART_NS)
			continue;
		fprintf(out, "%s%s", separator, gp_end_part_name(part));
		if (part == GP_END_NCCL && end->nccl) {
			fputs(" (", out);
			gp_text_print(out, end->nccl);
			fputs(")", out);
		}
		fprintf(out, " %s", gp_format_ns(end->part_ns[part]).text);
		separator = ", ";
	}
}

static void print_end(const struct gp_summary *summary, const struct gp_end *end, const char *what)
{
	fprintf(summary->out, "%s (%s %%) %s", gp_format_ns(end->ns).text,
		gp_format_percent((double)end->ns, (double)wall_ns(summary)).text, what);
	print_parts(summary->out, end);
}

/* Of several processes, whose it is. */
static void print_whose(const struct gp_summary *summary, const struct gp_model *model)
{
	if (summary->model_count > 1)
		fprintf(summary->out, " (pid %u, the longest)", model->pid);
}

/* Communicators that were made between operations. */
static uint64_t later_nccl_ns(const struct gp_ends *ends)
{
	uint64_t before_ns = ends->first.part_ns[GP_END_NCCL];

	return ends->nccl_make_ns > before_ns ? ends->nccl_make_ns - before_ns : 0;
}

/* An end of which most is known; of a process alone, also one that is long: others may be at work meanwhile. */
static bool is_told(const struct gp_summary *summary, const struct gp_end *end)
{
	uint64_t known_ns = 0;

	for (enum gp_end_part part = 0; part < GP_END_PARTS; part++)
		known_ns += end->part_ns[part];
	return known_ns * 2 >= end->ns ||
	       (summary->model_count == 1 && end->ns * 100 >= LEAST_UNKNOWN * wall_ns(summary));
}

/* Of one kind of time, the process that took longest. */
struct longest {
	uint64_t ns;
	struct gp_ends ends;
	const struct gp_model *model;
};

static void compare(struct longest *longest, uint64_t ns, const struct gp_ends *ends,
		    const struct gp_model *model)
{
	if (ns > longest->ns)
		*longest = (struct longest){ns, *ends, model};
}

struct start {
	struct longest before, first, later;
};

/* Each of these may be another process's. */
static void print_start(const struct gp_summary *summary, const struct start *start)
{
	bool before = is_notable(summary, start->before.ns, LEAST_BEFORE_NS);
	bool first = is_notable(summary, start->first.ns, LEAST_NS);
	bool later = is_notable(summary, start->later.ns, LEAST_NS);
	const char *separator = "";

	if (!before && !first && !later)
		return;
	fputs("  start     ", summary->out);
	if (first) {
		print_end(summary, &start->first.ends.first, "until the first operation");
		print_whose(summary, start->first.model);
		separator = "; ";
	}
	if (later) {
		fprintf(summary->out, "%sNCCL (", separator);
		gp_text_print(summary->out, start->later.ends.nccl_make);
		fprintf(summary->out, ") %s (%s %%) after the first operation",
			gp_format_ns(start->later.ns).text,
			gp_format_percent((double)start->later.ns, (double)wall_ns(summary)).text);
		print_whose(summary, start->later.model);
		separator = "; ";
	}
	if (before) {
		fprintf(summary->out, "%sthe process began %s before its first call", separator,
			gp_format_ns(start->before.ns).text);
		print_whose(summary, start->before.model);
	}
	fputs("\n", summary->out);
}

int gp_summary_print_ends(const struct gp_summary *summary)
{
	struct start start = {0};
	struct longest last = {0};
	struct gp_ends ends;

	for (size_t i = 0; i < summary->model_count; i++) {
		const struct gp_model *model = summary->models[i];
		int result = gp_ends_of(&ends, model);

		if (result < 0)
			return result;
		compare(&start.before, ends.before_ns, &ends, model);
		compare(&start.first, ends.first.ns, &ends, model);
		compare(&start.later, later_nccl_ns(&ends), &ends, model);
		compare(&last, ends.last.ns, &ends, model);
	}
	print_start(summary, &start);
	if (is_notable(summary, last.ns, LEAST_NS) && is_told(summary, &last.ends.last)) {
		fputs("  end       ", summary->out);
		print_end(summary, &last.ends.last, "after the last operation");
		print_whose(summary, last.model);
		fputs("\n", summary->out);
	}
	return 0;
}
