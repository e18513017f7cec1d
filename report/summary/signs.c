/*
 * Hints where the time goes, for processes with totals only (report/model/sums/totals.h): in which
 * calls threads spend it, whether kernels are as short as their launches, and copies of pageable
 * memory.  The rules of advice need every call, so these lines name possible problems and the rules
 * that would confirm them.
 */
#include "report/summary/part.h"

#include <string.h>

#include "report/base/text/format.h"
#include "report/model/sums/totals.h"

#define LEAST_PERCENT 5     /* of the time: the least that gets a line */
#define MANY_KERNELS  200   /* as in the rule short-kernels */
#define SHORT_NS      20000 /* what a launch costs a framework */
#define IDLE_PERCENT  20

enum work { WAITING, COPYING, MEMSET, ALLOCATING, LOADING, STARTUP, LAUNCHING, WORKS };

static const struct {
	const char *call, *calls, *rules;
} works[WORKS] = {
	[WAITING] = {"call that waits for the GPU", "calls that wait for the GPU",
		     "sync-in-loop, sync-calls"},
	[COPYING] = {"call that copies", "calls that copy",
		     "hidden-wait, sync-copy, pageable-async, tiny-copies"},
	[MEMSET] = {"memset call", "memset calls", "sync-memset"},
	[ALLOCATING] = {"call that allocates or frees memory",
			"calls that allocate and free memory", "alloc-in-loop"},
	[LOADING] = {"call that loads code", "calls that load code", "first-use, jit-compile"},
	[STARTUP] = {"call that creates contexts, streams or graphs",
		     "calls that create contexts, streams and graphs", "start-up"},
	[LAUNCHING] = {"call that launches", "calls that launch", "short-kernels"},
};

/* The sums of all processes. */
struct signs {
	struct {
		uint64_t count;
		double ns, most_ns;
		const char *most; /* the function with most of that time */
	} works[WORKS];
	struct gp_histogram launches; /* calls, in ns */
	struct gp_histogram kernels;
	uint64_t pageable, pageable_bytes, pageable_timed_bytes, pageable_ns;
};

static enum work work_of(uint8_t class)
{
	switch (class) {
	case GP_API_SYNC:
		return WAITING;
	case GP_API_COPY:
		return COPYING;
	case GP_API_MEMSET:
		return MEMSET;
	case GP_API_ALLOC:
	case GP_API_FREE:
		return ALLOCATING;
	case GP_API_MODULE:
		return LOADING;
	case GP_API_CONTROL:
		return STARTUP;
	case GP_API_LAUNCH:
	case GP_API_GRAPH_LAUNCH:
		return LAUNCHING;
	default:
		return WORKS;
	}
}

static void add_calls(struct signs *signs, const struct gp_model *model, const struct gp_sum *sum)
{
	struct gp_api api = gp_model_api(model, sum->first.call.api);
	double ns = (double)sum->histogram.total_ns * model->ns_per_tick;
	enum work work = work_of(api.class);

	if (api.class == GP_API_LAUNCH)
		gp_histogram_join_scaled(&signs->launches, &sum->histogram, model->ns_per_tick);
	if (work == WORKS)
		return;
	signs->works[work].count += sum->histogram.count;
	signs->works[work].ns += ns;
	if (ns <= signs->works[work].most_ns)
		return;
	signs->works[work].most_ns = ns;
	signs->works[work].most = api.name;
}

static void add_copies(struct signs *signs, const struct gp_sum *sum)
{
	const struct gp_record_copy *copy = &sum->first.copy;

	if (copy->source_kind != GP_COPY_PAGEABLE && copy->destination_kind != GP_COPY_PAGEABLE)
		return;
	signs->pageable += sum->histogram.count + sum->untimed;
	signs->pageable_bytes += sum->bytes;
	signs->pageable_timed_bytes += sum->timed_bytes;
	signs->pageable_ns += sum->histogram.total_ns;
}

static void gather(const struct gp_summary *summary, struct signs *signs)
{
	*signs = (struct signs){0};
	for (size_t i = 0; i < summary->model_count; i++) {
		const struct gp_model *model = summary->models[i];
		const struct gp_sums *sums = &gp_totals_of(model)->sums;

		for (uint32_t k = 0; k < sums->count; k++) {
			const struct gp_sum *sum = sums->sums[k];

			if (sum->kind == GP_SUM_CALL)
				add_calls(signs, model, sum);
			else if (sum->kind == GP_SUM_COPY)
				add_copies(signs, sum);
			else if (sum->kind == GP_SUM_KERNEL)
				gp_histogram_join(&signs->kernels, &sum->histogram);
		}
	}
}

static void begin_line(const struct gp_summary *summary, uint64_t *lines, uint64_t span_ns)
{
	if (++*lines == 1)
		fprintf(summary->out,
			"\nSigns in the totals, of %s: where time may go, and the rules of gpuprof advice that would explain it\n",
			gp_format_ns(span_ns).text);
}

/* The times of all threads are summed, which may exceed the elapsed time. */
static void print_works(const struct gp_summary *summary, const struct signs *signs,
			uint64_t *lines, uint64_t span_ns)
{
	for (enum work i = 0; i < WORKS; i++) {
		if (signs->works[i].ns * 100 < LEAST_PERCENT * (double)span_ns)
			continue;
		begin_line(summary, lines, span_ns);
		fprintf(summary->out, "  %8s %5s %%  in %s %s, %s%s: %s\n",
			gp_format_ns((uint64_t)signs->works[i].ns).text,
			gp_format_percent(signs->works[i].ns, (double)span_ns).text,
			gp_format_count(signs->works[i].count).text,
			signs->works[i].count == 1 ? works[i].call : works[i].calls,
			signs->works[i].count == 1 ? "" : "most of it in ", signs->works[i].most,
			works[i].rules);
	}
}

/* The idle share of the busiest GPU, in percent. */
static double idle_percent(const struct gp_summary *summary)
{
	double least = 100;

	for (size_t i = 0; i < summary->devices.count; i++) {
		const struct gp_busy *busy = &summary->busy[i];
		double idle = (double)(busy->possible_ns - busy->inside_ns) * 100;

		if (busy->possible_ns > 0 && idle < least * (double)busy->possible_ns)
			least = idle / (double)busy->possible_ns;
	}
	return least;
}

/* If the GPU is idle, and copies and waits do not explain it. */
static void print_short_kernels(const struct gp_summary *summary, const struct signs *signs,
				uint64_t *lines, uint64_t span_ns)
{
	double idle = idle_percent(summary);
	double others_ns = signs->works[WAITING].ns + signs->works[COPYING].ns;
	struct gp_stats launches = gp_histogram_stats(&signs->launches);
	struct gp_stats kernels = gp_histogram_stats(&signs->kernels);
	uint32_t step = gp_histogram_step((uint64_t)launches.median);
	uint64_t shorter = 0;

	if (kernels.count < MANY_KERNELS || kernels.mean > SHORT_NS || idle < IDLE_PERCENT ||
	    others_ns * 2 > (double)span_ns)
		return;
	for (uint32_t i = 0; i < step; i++)
		shorter += signs->kernels.counts[i];
	begin_line(summary, lines, span_ns);
	fprintf(summary->out,
		"  the GPU is idle %.1f %% of the time, and kernels run for %s on average", idle,
		gp_format_ns_mean(kernels.mean).text);
	if (shorter > 0)
		fprintf(summary->out, ", %s %% of them for less than a launch call takes (%s)",
			gp_format_percent((double)shorter, (double)kernels.count).text,
			gp_format_ns_mean(launches.median).text);
	fputs(": short-kernels\n", summary->out);
}

static void print_pageable(const struct gp_summary *summary, const struct signs *signs,
			   uint64_t *lines, uint64_t span_ns)
{
	if (signs->pageable_ns * 100 < LEAST_PERCENT * span_ns)
		return;
	begin_line(summary, lines, span_ns);
	fprintf(summary->out,
		"  %8s %5s %%  of %s copies of pageable memory: %s at %s GB/s: pageable-async, sync-copy\n",
		gp_format_ns(signs->pageable_ns).text,
		gp_format_percent((double)signs->pageable_ns, (double)span_ns).text,
		gp_format_count(signs->pageable).text, gp_format_bytes(signs->pageable_bytes).text,
		gp_format_gb_per_s(signs->pageable_timed_bytes, signs->pageable_ns).text);
}

int gp_summary_print_signs(const struct gp_summary *summary)
{
	struct signs signs;
	uint64_t span_ns, lines = 0;

	gp_busy_recorded_ns(&span_ns, summary->models, summary->model_count);
	if (span_ns == 0)
		return 0;
	gather(summary, &signs);
	print_works(summary, &signs, &lines, span_ns);
	print_short_kernels(summary, &signs, &lines, span_ns);
	print_pageable(summary, &signs, &lines, span_ns);
	return 0;
}
