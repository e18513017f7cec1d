#include "report/summary/part.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/base/text/format.h"
#include "report/model/losses.h"
#include "report/model/process_name.h"
#include "report/model/recorded.h"

/* The events that resume and pause the recording, by enum gp_gate_reason. */
static const struct {
	const char *resumed, *paused;
} reasons[] = {
	[GP_GATE_START] = {"the start", "the start"},
	[GP_GATE_PROFILER] = {"cudaProfilerStart", "cudaProfilerStop"},
	[GP_GATE_RANGE] = {"the beginning of a range", "the end of the range"},
	[GP_GATE_TIME] = {"the end of --delay", "the end of --duration"},
	[GP_GATE_COUNT] = {"the last of --after-launches", "the last of --launches"},
	[GP_GATE_SIGNAL] = {"a signal", "a signal"},
	[GP_GATE_API] = {"gpuprof_start()", "gpuprof_stop()"},
	[GP_GATE_KEPT] = {"the start of what --keep-last kept",
			  "the start of what --keep-last kept"},
	[GP_GATE_SAMPLE] = {"a window of --sample", "its end"},
	[GP_GATE_ATTACH] = {"gpuprof attach", "gpuprof detach"},
	[GP_GATE_FULL] = {"the limit of --max-file",
			  "the limit of --max-file: nothing later is in the trace"},
};

static const char *reason_of(const struct gp_gate *gate, bool resumed)
{
	size_t count = sizeof(reasons) / sizeof(reasons[0]);

	if (!gate)
		return resumed ? "the start" : "the end";
	if (gate->reason >= count || !reasons[gate->reason].resumed)
		return "an unknown event";
	return resumed ? reasons[gate->reason].resumed : reasons[gate->reason].paused;
}

static void print_part(const struct gp_summary *summary, const struct gp_model *model,
		       const struct gp_recorded_part *part)
{
	struct gp_figure start = gp_summary_moment(summary, model->base_unix_ns + part->start_ns);
	struct gp_figure end = gp_summary_moment(summary, model->base_unix_ns + part->end_ns);

	fprintf(summary->out, "    %9s to %9s  from %s to %s\n", start.text, end.text,
		reason_of(part->resumed, true), reason_of(part->paused, false));
}

static void print_parts(const struct gp_summary *summary, const struct gp_model *model,
			uint32_t parts)
{
	size_t limit = summary->options->row_limit;
	uint32_t next = 0, printed = 0;
	struct gp_recorded_part part;

	while ((limit == 0 || printed < limit) && gp_recorded_part(model, &next, &part)) {
		print_part(summary, model, &part);
		printed++;
	}
	if (printed < parts)
		fprintf(summary->out, "    %s more (--top 0 shows all)\n",
			gp_format_count(parts - printed).text);
}

/* "226.0us of 8.201ms, in 1 part"; returns how many parts there are. */
static uint32_t print_extent(FILE *out, const struct gp_model *model)
{
	uint64_t total_ns = 0;
	uint32_t next = 0, parts = 0;
	struct gp_recorded_part part;

	for (; gp_recorded_part(model, &next, &part); parts++)
		total_ns += part.end_ns - part.start_ns;
	fprintf(out, "%s of %s, in %s %s", gp_format_ns(total_ns).text,
		gp_format_ns(model->before_ns + gp_model_end_ns(model)).text,
		gp_format_count(parts).text, parts == 1 ? "part" : "parts");
	return parts;
}

static void print_windows(const struct gp_summary *summary, const struct gp_model *model)
{
	uint32_t parts;

	fputs("  ", summary->out);
	parts = print_extent(summary->out, model);
	if (summary->model_count > 1)
		fprintf(summary->out, " (%s)", gp_process_name(model).text);
	fputs("\n", summary->out);
	print_parts(summary, model, parts);
}

/* Counts of records at the edges of the recorded parts, and of records left out by options. */
static void print_left_out(FILE *out, const struct gp_model *model)
{
	bool is_last_part = gp_recorded_is_last_part(model);
	const struct {
		uint64_t count;
		const char *meaning;
	} lines[] = {
		{model->losses.frees_outside,
		 is_last_part ? "frees of memory that was allocated before"
			      : "frees of memory that was allocated while recording was paused"},
		{model->losses.range_ends_outside,
		 is_last_part ? "ranges begun before" : "ranges begun while recording was paused"},
		{model->losses.ops_outside,
		 is_last_part ? "GPU operations launched before"
			      : "GPU operations launched while recording was paused"},
		{model->counters[GP_COUNTER_LEFT_OUT_KERNELS],
		 gp_loss_table[GP_COUNTER_LEFT_OUT_KERNELS].sentence},
		{model->counters[GP_COUNTER_LEFT_OUT_SHORT],
		 gp_loss_table[GP_COUNTER_LEFT_OUT_SHORT].sentence},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (lines[i].count > 0)
			gp_summary_print_count(out, 2, lines[i].count, lines[i].meaning);
}

static bool is_in_part(const struct gp_model *model)
{
	return model->gate_count > 0 || model->counters[GP_COUNTER_LEFT_OUT_KERNELS] > 0 ||
	       model->counters[GP_COUNTER_LEFT_OUT_SHORT] > 0;
}

void gp_summary_print_windows(const struct gp_summary *summary)
{
	bool any = false;

	for (size_t i = 0; i < summary->model_count; i++) {
		const struct gp_model *model = summary->models[i];

		if (!is_in_part(model))
			continue;
		if (!any)
			fputs("\nRecorded in part\n", summary->out);
		any = true;
		if (model->gate_count > 0)
			print_windows(summary, model);
		print_left_out(summary->out, model);
	}
}

void gp_summary_print_never(FILE *out, const struct gp_model *model)
{
	uint32_t next = 0;
	struct gp_recorded_part part;

	if (model->gate_count > 0 && gp_recorded_part(model, &next, &part)) {
		fputs("  recording was on for ", out);
		print_extent(out, model);
		fputs(" (--capture-range, --delay, ...)\n", out);
	} else if (model->gate_count > 0) {
		fputs("  recording was paused from the start to the end: the event that resumes it (--capture-range, --delay, --after-launches, --sample, --toggle-signal, gpuprof_start()) never came\n",
		      out);
	}
	if (!gp_recorded_kind(model, "gpu"))
		fputs("  launches and copies were not recorded: --trace does not contain gpu\n",
		      out);
}
