/* The page of processes with totals only (report/model/sums/totals.h). */
#include "report/summary/part.h"

#include <errno.h>
#include <stdlib.h>

#include "report/base/text/format.h"
#include "report/model/sums/totals.h"

/* The cost of a full summary on one core, from docs/design/performance.md. */
#define NS_A_BYTE    70
#define MEMORY_TIMES 13

static void print_ranges(const struct gp_summary *summary)
{
	uint64_t ranges = 0, marks = 0;

	for (size_t i = 0; i < summary->model_count; i++) {
		const struct gp_totals *totals = gp_totals_of(summary->models[i]);

		ranges += totals->sums.ranges;
		marks += totals->sums.marks;
	}
	if (ranges + marks == 0)
		return;
	fprintf(summary->out, "  program ranges: %s", gp_format_count(ranges).text);
	if (marks > 0)
		fprintf(summary->out, ", marks: %s", gp_format_count(marks).text);
	fputc('\n', summary->out);
}

static void print_more_busy(const struct gp_summary *summary)
{
	uint64_t late_ns = 0, more_ns = 0;

	for (size_t i = 0; i < summary->model_count; i++) {
		const struct gp_totals *totals = gp_totals_of(summary->models[i]);

		for (uint32_t j = 0; j < totals->cover.device_count; j++)
			late_ns += totals->cover.devices[j].late_ns;
	}
	for (size_t i = 0; i < summary->devices.count; i++)
		more_ns += summary->busy[i].more_ns;
	if (late_ns > 0)
		fprintf(summary->out,
			"  GPUs were busy for up to %s more: records of that time came late\n",
			gp_format_ns(late_ns).text);
	if (more_ns > late_ns)
		fprintf(summary->out,
			"  GPUs were busy for up to %s more: several processes used the same GPU, and only totals are kept for the earlier part\n",
			gp_format_ns(more_ns - late_ns).text);
}

int gp_summary_print_one_pass(const struct gp_summary *summary)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < summary->model_count; i++)
		bytes += gp_totals_of(summary->models[i])->file_bytes;
	print_more_busy(summary);
	print_ranges(summary);
	fprintf(summary->out, "\nRead in one pass: %s; medians are within 6 %%\n",
		gp_format_bytes(bytes).text);
	fputs("  not computed: advice, the main loop, idle causes, GPU time of ranges, where calls failed, leaks, gpuprof's own cost\n",
	      summary->out);
	fprintf(summary->out,
		"  for these: gpuprof summary --full FILE (about %s of CPU time, %s of memory or disk)\n",
		gp_format_ns(bytes * NS_A_BYTE).text, gp_format_bytes(bytes * MEMORY_TIMES).text);
	return 0;
}
