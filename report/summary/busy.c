/* How busy the GPUs were. */
#include "report/summary/part.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "report/analysis/analysis.h"
#include "report/base/text/format.h"
#include "report/model/process_name.h"
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

struct gp_process_name gp_summary_rank_of(const struct gp_summary *summary, size_t device)
{
	struct gp_process_name none = {""};
	size_t owner;

	if (!summary->basis || !gp_summary_has_ranks(summary))
		return none;
	owner = summary->basis->owners[device];
	return owner < summary->model_count ? gp_process_name(summary->models[owner]) : none;
}

static void print_number(const struct gp_summary *summary, size_t device)
{
	struct gp_process_name rank = gp_summary_rank_of(summary, device);
	uint32_t number = summary->devices.entries[device].number;
	char label[64];

	snprintf(label, sizeof(label), *rank.text ? "GPU %u, %s" : "GPU %u", number, rank.text);
	fprintf(summary->out, "  %-8s  ", label);
}

/* If operations are missing, busy times are lower bounds.  The caller ends the line. */
static void print_device(const struct gp_summary *summary, size_t device, bool all)
{
	const struct gp_busy *busy = &summary->busy[device];
	double possible_ns = (double)busy->possible_ns;
	FILE *out = summary->out;

	all = all && busy->more_ns == 0;
	print_number(summary, device);
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

bool gp_summary_joins_devices(const struct gp_summary *summary)
{
	bool all_known = !why_not_all(summary);
	size_t used = 0;

	/* if operations are missing, a GPU without any may have been busy */
	for (size_t i = 0; i < summary->devices.count; i++)
		used += !all_known || !is_idle(&summary->busy[i]);
	return summary->options->brief && summary->basis && used > GP_SUMMARY_DEVICES;
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

/* "rank 17", or "GPU 3" if several processes have operations there. */
static void print_owner(const struct gp_summary *summary, size_t device)
{
	size_t owner = summary->basis->owners[device];

	if (owner < summary->model_count)
		fputs(gp_process_name(summary->models[owner]).text, summary->out);
	else
		fprintf(summary->out, "GPU %u", summary->devices.entries[device].number);
}

static double share_of(const struct gp_busy *busy)
{
	return (double)busy->inside_ns / (double)busy->possible_ns;
}

/* All devices in two lines: the busy share, the least and the most busy device, the idle causes. */
static void print_together(const struct gp_summary *summary, bool all)
{
	size_t least = SIZE_MAX, most = SIZE_MAX, devices = 0;
	uint64_t state_ns[GP_STATES] = {0};
	double inside_ns = 0, possible_ns = 0;
	FILE *out = summary->out;

	for (size_t i = 0; i < summary->devices.count; i++) {
		const struct gp_busy *busy = &summary->busy[i];

		if (busy->possible_ns == 0 || is_idle(busy))
			continue; /* no recorded process has operations there */
		inside_ns += (double)busy->inside_ns;
		possible_ns += (double)busy->possible_ns;
		devices++;
		for (size_t k = 0; k < GP_STATES; k++)
			state_ns[k] += summary->basis->wheres.devices[i].state_ns[k];
		if (least == SIZE_MAX || share_of(busy) < share_of(&summary->busy[least]))
			least = i;
		if (most == SIZE_MAX || share_of(busy) > share_of(&summary->busy[most]))
			most = i;
	}
	if (devices == 0) {
		fprintf(out, "  %zu GPUs   not known\n", summary->devices.count);
		return;
	}
	fprintf(out, "  %zu GPUs   %s%s %% busy; least: ", devices, all ? "" : "at least ",
		gp_format_percent(inside_ns, possible_ns).text);
	print_owner(summary, least);
	fprintf(out, " (%s %%), most: ",
		gp_format_percent((double)summary->busy[least].inside_ns,
				  (double)summary->busy[least].possible_ns)
			.text);
	print_owner(summary, most);
	fprintf(out, " (%s %%)\n    idle    ",
		gp_format_percent((double)summary->busy[most].inside_ns,
				  (double)summary->busy[most].possible_ns)
			.text);
	gp_summary_print_causes(out, state_ns, 4);
}

/* Without a basis many GPUs are not summed up: the first ones are shown. */
static void print_each(const struct gp_summary *summary, bool all)
{
	size_t lines = 0;

	for (size_t i = 0, last; i < summary->devices.count; i = last + 1) {
		if (!summary->basis && summary->options->brief && lines++ == GP_SUMMARY_DEVICES) {
			fprintf(summary->out, "  ...       %zu more GPUs\n",
				summary->devices.count - i);
			break;
		}
		last = last_idle(summary, i, all);
		if (last > i) {
			fprintf(summary->out, "  GPU %u-%u  not used by this program\n",
				summary->devices.entries[i].number,
				summary->devices.entries[last].number);
			continue;
		}
		print_device(summary, i, all);
		if (summary->basis)
			gp_summary_print_where(summary, i, all && summary->busy[i].more_ns == 0);
		else
			fputs("\n", summary->out);
	}
}

int gp_summary_print_busy(const struct gp_summary *summary)
{
	const char *why = why_not_all(summary);

	if (summary->devices.count == 0)
		return 0;
	if (count_recorded(summary) == 0) {
		fputs("\nGPU busy: not recorded (add gpu to --trace)\n", summary->out);
		return 0;
	}
	print_title(summary, why);
	if (gp_summary_joins_devices(summary))
		print_together(summary, !why);
	else
		print_each(summary, !why);
	if (!summary->basis)
		return gp_summary_print_ends(summary);
	gp_summary_print_outliers(summary);
	gp_summary_print_kinds(summary);
	gp_summary_print_tuning(summary);
	gp_summary_print_ends(summary);
	if (!summary->options->brief)
		fputs("  details   gpuprof summary --by time,idle,gap,kind,iteration,queue --top 20 FILE\n",
		      summary->out);
	return 0;
}
