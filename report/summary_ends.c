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
static void end_line(const struct gp_summary *summary, const struct gp_model *model)
{
	if (summary->model_count > 1)
		fprintf(summary->out, " (pid %u, the longest)", model->pid);
	fputs("\n", summary->out);
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

static void print_start(const struct gp_summary *summary, const struct gp_ends *ends,
			const struct gp_model *model)
{
	bool before = is_notable(summary, ends->before_ns, LEAST_BEFORE_NS);
	bool first = is_notable(summary, ends->first.ns, LEAST_NS);
	uint64_t later_ns = later_nccl_ns(ends);
	bool later = is_notable(summary, later_ns, LEAST_NS);
	const char *separator = "";

	if (!before && !first && !later)
		return;
	fputs("  start     ", summary->out);
	if (first) {
		print_end(summary, &ends->first, "until the first operation");
		separator = "; ";
	}
	if (later) {
		fprintf(summary->out, "%sNCCL (", separator);
		gp_text_print(summary->out, ends->nccl_make);
		fprintf(summary->out, ") %s (%s %%) after it", gp_format_ns(later_ns).text,
			gp_format_percent((double)later_ns, (double)wall_ns(summary)).text);
		separator = "; ";
	}
	if (before)
		fprintf(summary->out, "%sthe process began %s before its first call", separator,
			gp_format_ns(ends->before_ns).text);
	end_line(summary, model);
}

int gp_summary_print_ends(const struct gp_summary *summary)
{
	const struct gp_model *first_of = NULL, *last_of = NULL;
	struct gp_ends first = {0}, last = {0}, ends;

	for (size_t i = 0; i < summary->model_count; i++) {
		int result = gp_ends_of(&ends, summary->models[i]);

		if (result < 0)
			return result;
		if (!first_of || ends.first.ns > first.first.ns) {
			first = ends;
			first_of = summary->models[i];
		}
		if (!last_of || ends.last.ns > last.last.ns) {
			last = ends;
			last_of = summary->models[i];
		}
	}
	if (first_of)
		print_start(summary, &first, first_of);
	if (last_of && is_notable(summary, last.last.ns, LEAST_NS) &&
	    is_told(summary, &last.last)) {
		fputs("  end       ", summary->out);
		print_end(summary, &last.last, "after the last operation");
		end_line(summary, last_of);
	}
	return 0;
}
