/* The time before the first operation and after the last one, if it is a notable part of all. */
#include "report/summary/part.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/advice/advice.h"
#include "report/analysis/idle/startup_shutdown.h"
#include "report/base/text/format.h"
#include "report/tables/host_work.h"
#include "report/base/text/text.h"
#include "report/model/process_name.h"

#define LEAST_NS      100000000u /* of an end; of its time in no call, if parts are shown */
#define LEAST_PERCENT 5
#define LEAST_UNKNOWN 10 /* percent */
#define LEAST_SHORT_NS                                                                             \
	20000000u         /* of the end of a short run; of time in no call, if no part is shown */
#define LEAST_OF_SHORT 10 /* percent */
#define LEAST_PART_NS  10000000u
#define LEAST_WORK     10 /* percent of an end spent in Python, or in no call */
#define MOST_FUNCTIONS 2

/*
 * The time in which GPUs could have worked, as in their busy lines: without the time in which no
 * process ran.
 */
static uint64_t wall_ns(const struct gp_summary *summary)
{
	uint64_t most_ns = 0;

	for (size_t i = 0; i < summary->devices.count; i++)
		if (summary->busy[i].possible_ns > most_ns)
			most_ns = summary->busy[i].possible_ns;
	return most_ns;
}

static bool is_notable(const struct gp_summary *summary, uint64_t ns, uint64_t least_ns)
{
	return ns >= least_ns && ns * 100 >= LEAST_PERCENT * wall_ns(summary);
}

static bool is_notable_last(const struct gp_summary *summary, uint64_t ns)
{
	return is_notable(summary, ns, LEAST_NS) ||
	       (ns >= LEAST_SHORT_NS && ns * 100 >= LEAST_OF_SHORT * wall_ns(summary));
}

static uint64_t known_ns(const struct gp_end *end)
{
	uint64_t sum_ns = 0;

	for (enum gp_end_part part = 0; part < GP_END_PARTS; part++)
		sum_ns += end->part_ns[part];
	return sum_ns;
}

/* Whether stack samples explain more of an end than its calls do. */
static bool use_samples(const struct gp_end *end, const struct gp_model *model)
{
	return model->sample_count > 0 && known_ns(end) * 2 < end->ns;
}

/*
 * "NCCL's ncclCommInitRank 512.3ms, making contexts 113.6ms, outside recorded CUDA calls 80.00ms"
 */
static void print_parts(FILE *out, const struct gp_end *end, const struct gp_model *model)
{
	const char *separator = ": ";
	uint64_t least_ns = LEAST_SHORT_NS;

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
		least_ns = LEAST_NS;
	}
	if (!use_samples(end, model) && end->own_ns >= least_ns &&
	    end->own_ns * 100 >= LEAST_WORK * end->ns)
		fprintf(out, "%soutside recorded CUDA calls %s", separator,
			gp_format_ns(end->own_ns).text);
}

static void print_functions(FILE *out, const struct gp_end *end, const struct gp_tally *tally,
			    const struct gp_host_places *places)
{
	uint32_t count;
	struct gp_host_function *functions = gp_host_work_functions(tally, 0, places, &count);

	for (uint32_t i = 0; i < count && i < MOST_FUNCTIONS; i++) {
		if (functions[i].total_ns * 100 < LEAST_WORK * end->ns)
			break;
		fputs(i == 0 ? "; Python was " : ", ", out);
		gp_host_function_print_time(out, places, &functions[i]);
	}
	free(functions);
}

/*
 * "; Python was importing torch._dynamo at load (train.py:80) for 3.694s": the main thread's work
 * by stack samples, if nothing else explains most of the time.  Returns 0 or -errno.
 */
static void print_work(FILE *out, const struct gp_end *end, const struct gp_model *model)
{
	struct gp_tally tally = {0};
	struct gp_host_window window = {.tally = &tally,
					.model = model,
					.start_ns = end->start_ns,
					.end_ns = end->start_ns + end->ns};

	if (!use_samples(end, model))
		return;
	window.places = gp_host_places_new();
	if (gp_host_work_add(&window, model->pid))
		print_functions(out, end, &tally, window.places);
	gp_tally_free(&tally);
	gp_host_places_free(window.places);
}

static void print_end(const struct gp_summary *summary, const struct gp_end *end,
		      const struct gp_model *model, const char *what)
{
	/* an operation may end after the last recorded call */
	uint64_t within_ns = end->ns < wall_ns(summary) ? end->ns : wall_ns(summary);

	fprintf(summary->out, "%s (%s %%) %s", gp_format_ns(end->ns).text,
		gp_format_percent((double)within_ns, (double)wall_ns(summary)).text, what);
	print_parts(summary->out, end, model);
	print_work(summary->out, end, model);
}

/* The process, if there are several; and a hint where to find more ("" = none). */
static void print_process_of(const struct gp_summary *summary, const struct gp_model *model,
			     const char *more)
{
	if (summary->model_count > 1)
		fprintf(summary->out, " (%s, the longest%s%s)", gp_process_name(model).text,
			*more ? "; " : "", more);
	else if (*more)
		fprintf(summary->out, " (%s)", more);
}

/* Time spent creating communicators after the first operation. */
static uint64_t later_nccl_ns(const struct gp_startup_shutdown *ends)
{
	uint64_t before_ns = ends->first.part_ns[GP_END_NCCL];

	return ends->nccl_make_ns > before_ns ? ends->nccl_make_ns - before_ns : 0;
}

/*
 * An end that is mostly explained.  A long one too if there is one process only: of several, others
 * may have worked meanwhile.
 */
static bool is_shown(const struct gp_summary *summary, const struct gp_end *end)
{
	return known_ns(end) * 2 >= end->ns ||
	       (summary->model_count == 1 && end->ns * 100 >= LEAST_UNKNOWN * wall_ns(summary));
}

/* The process with the longest time of one kind. */
struct longest {
	uint64_t ns;
	struct gp_startup_shutdown ends;
	const struct gp_model *model;
};

static void compare(struct longest *longest, uint64_t ns, const struct gp_startup_shutdown *ends,
		    const struct gp_model *model)
{
	if (ns > longest->ns)
		*longest = (struct longest){ns, *ends, model};
}

struct start {
	struct longest before, first, later;
};

/* Whether the advice has the time before the first call among the one-time costs. */
static bool is_told_as_cost(const struct gp_summary *summary)
{
	return summary->basis && gp_summary_advice(summary)->before.ns > 0;
}

/* The three times may be of different processes. */
static void print_start(const struct gp_summary *summary, const struct start *start)
{
	bool before = is_notable(summary, start->before.ns, GP_LEAST_BEFORE_NS) &&
		      !is_told_as_cost(summary);
	bool first = is_notable(summary, start->first.ns, LEAST_NS);
	bool later = is_notable(summary, start->later.ns, LEAST_NS);
	const char *separator = "";

	if (!before && !first && !later)
		return;
	fputs("  start     ", summary->out);
	if (first) {
		print_end(summary, &start->first.ends.first, start->first.model,
			  "before the first operation");
		print_process_of(summary, start->first.model, "");
		separator = "; ";
	}
	if (later) {
		fprintf(summary->out, "%sNCCL (", separator);
		gp_text_print(summary->out, start->later.ends.nccl_make);
		fprintf(summary->out, ") %s (%s %%) after the first operation",
			gp_format_ns(start->later.ns).text,
			gp_format_percent((double)start->later.ns, (double)wall_ns(summary)).text);
		print_process_of(summary, start->later.model, "");
		separator = "; ";
	}
	if (before) {
		fprintf(summary->out, "%sthe process started %s before its first CUDA call",
			separator, gp_format_ns(start->before.ns).text);
		print_process_of(summary, start->before.model,
				 start->before.model->sample_count > 0
					 ? "python3 -X importtime lists imports"
					 : "");
	}
	fputs("\n", summary->out);
}

/* Of a single process that had no operation: how it spent its time. */
static void print_whole(const struct gp_summary *summary, const struct gp_startup_shutdown *ends)
{
	if (summary->model_count != 1 || !is_notable(summary, ends->whole.ns, LEAST_NS))
		return;
	fputs("  host      ", summary->out);
	print_end(summary, &ends->whole, summary->models[0], "without any GPU operation");
	fputs("\n", summary->out);
}

int gp_summary_print_ends(const struct gp_summary *summary)
{
	struct start start = {0};
	struct longest last = {0};
	struct gp_startup_shutdown ends = {0};

	for (size_t i = 0; i < summary->model_count; i++) {
		const struct gp_model *model = summary->models[i];

		gp_startup_shutdown_of(&ends, model);
		compare(&start.before, ends.before_ns, &ends, model);
		compare(&start.first, ends.first.ns, &ends, model);
		compare(&start.later, later_nccl_ns(&ends), &ends, model);
		compare(&last, ends.last.ns, &ends, model);
	}
	print_whole(summary, &ends); /* used for a single process only */
	print_start(summary, &start);
	if (is_notable_last(summary, last.ns) && is_shown(summary, &last.ends.last)) {
		fputs("  end       ", summary->out);
		print_end(summary, &last.ends.last, last.model, "after the last operation");
		print_process_of(summary, last.model, "");
		fputs("\n", summary->out);
	}
	return 0;
}
