/* How busy the GPUs were. */
#include "report/summary/part.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "report/base/text/format.h"
#include "report/model/recorded.h"

#define SMALL_PART 2000.0 /* a whole longer than this many times the part gets no percentage */

/*
 * Why operations are missing: the reason of the first process that certainly lost some, else of
 * the first that may have.
 */
static const char *why_not_all(const struct gp_summary *summary)
{
	const char *why = NULL;

	for (size_t i = 0; i < summary->model_count; i++) {
		const char *one = gp_recorded_why_not_all(summary->models[i]);

		if (one && (!why || strstr(one, "are missing")))
			why = one;
	}
	return why;
}

/* If operations are missing, busy times are lower bounds.  The caller ends the line. */
static void print_device(const struct gp_summary *summary, size_t device, bool all)
{
	const struct gp_busy *busy = &summary->busy[device];
	double possible_ns = (double)busy->possible_ns;
	FILE *out = summary->out;

	all = all && busy->more_ns == 0;
	fprintf(out, "  GPU %-4u  ", summary->devices.entries[device].number);
	if (busy->possible_ns == 0 || (busy->inside_ns == 0 && !all)) {
		fputs("not known", out);
	} else if (all) {
		fprintf(out, "%s %% busy, %s %% idle: %s of %s",
			gp_format_percent((double)busy->inside_ns, possible_ns).text,
			gp_format_percent((double)(busy->possible_ns - busy->inside_ns),
					  possible_ns)
				.text,
			gp_format_ns(busy->inside_ns).text, gp_format_ns(busy->possible_ns).text);
	} else if (possible_ns > SMALL_PART * (double)busy->inside_ns) {
		fprintf(out, "busy for at least %s of %s", gp_format_ns(busy->inside_ns).text,
			gp_format_ns(busy->possible_ns).text);
	} else {
		fprintf(out, "at least %s %% busy: %s of %s",
			gp_format_percent((double)busy->inside_ns, possible_ns).text,
			gp_format_ns(busy->inside_ns).text, gp_format_ns(busy->possible_ns).text);
	}
	if (busy->outside_ns > 0)
		fprintf(out, "; %s more outside that time", gp_format_ns(busy->outside_ns).text);
}

static size_t count_recorded(const struct gp_summary *summary)
{
	size_t count = 0;

	for (size_t i = 0; i < summary->model_count; i++)
		count += gp_recorded_kind(summary->models[i], "gpu");
	return count;
}

static bool is_in_part(const struct gp_summary *summary)
{
	for (size_t i = 0; i < summary->model_count; i++)
		if (summary->models[i]->gate_count > 0)
			return true;
	return false;
}

/* Whether unrecorded operations may have been launched before a recorded part. */
static bool may_know_late(const struct gp_summary *summary)
{
	for (size_t i = 0; i < summary->model_count; i++)
		for (uint32_t j = 0; j < summary->models[i]->gate_count; j++)
			if (summary->models[i]->gates[j].on &&
			    summary->models[i]->gates[j].reason != GP_GATE_KEPT)
				return true;
	return false;
}

/* With what "busy" means; one screen explains only unusual cases. */
static void print_title(const struct gp_summary *summary, const char *why)
{
	bool brief = summary->options->brief, in_part = is_in_part(summary);
	const char *recorded =
		may_know_late(summary)
			? "while recording was on and no earlier operation was running"
			: "while recording was on";

	static const char *const spans[] = {
		[GP_SPAN_ENDS_WITH_CALL] = "between first and last recorded CUDA call",
		[GP_SPAN_ENDS_WITH_OPERATION] =
			"from the first recorded CUDA call to the last operation",
		[GP_SPAN_ENDS_WITH_SIGN] =
			"from the first recorded CUDA call to the last known activity",
	};

	fputs("\nGPU busy", summary->out);
	if (!brief || in_part || why)
		fprintf(summary->out, " (%s%s%s%s)",
			brief ? "" : "at least one operation running, ",
			in_part ? recorded : spans[gp_summary_span_end(summary)], why ? "; " : "",
			why ? why : "");
	fputc('\n', summary->out);
}

static bool is_idle(const struct gp_busy *busy)
{
	return busy->possible_ns > 0 && busy->inside_ns + busy->outside_ns + busy->more_ns == 0;
}

/* The last of a run of neighboring idle devices from first on; first, unless on one screen. */
static size_t last_idle(const struct gp_summary *summary, size_t first, bool all_known)
{
	const struct gp_device_entry *entries = summary->devices.entries;
	size_t end = first;

	if (!all_known || !summary->options->brief)
		return first;
	while (end < summary->devices.count && is_idle(&summary->busy[end]) &&
	       entries[end].number == entries[first].number + (end - first))
		end++;
	return end > first ? end - 1 : first;
}

int gp_summary_print_busy(const struct gp_summary *summary)
{
	const char *why = why_not_all(summary);
	int result;

	if (summary->devices.count == 0)
		return 0;
	if (count_recorded(summary) == 0) {
		fputs("\nGPU busy: not recorded (add gpu to --trace)\n", summary->out);
		return 0;
	}
	print_title(summary, why);
	for (size_t i = 0, last; i < summary->devices.count; i = last + 1) {
		last = last_idle(summary, i, !why);
		if (last > i) {
			fprintf(summary->out, "  GPU %u-%u  idle the whole time\n",
				summary->devices.entries[i].number,
				summary->devices.entries[last].number);
			continue;
		}
		print_device(summary, i, !why);
		if (summary->basis)
			gp_summary_print_where(summary, i, !why && summary->busy[i].more_ns == 0);
		else
			fputs("\n", summary->out);
	}
	if (!summary->basis)
		return gp_summary_print_ends(summary);
	result = gp_summary_print_outliers(summary);
	gp_summary_print_kinds(summary);
	gp_summary_print_tuning(summary);
	if (result == 0)
		result = gp_summary_print_ends(summary);
	if (!summary->options->brief)
		fputs("  details   gpuprof summary --by time,idle,gap,kind,iteration,queue --top 20 FILE\n",
		      summary->out);
	return result;
}
