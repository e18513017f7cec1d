/* The summary's section of the energy samples (--energy). */
#include <math.h>
#include <stdio.h>

#include "report/analysis/device/energy.h"
#include "report/base/text/format.h"
#include "report/summary/part.h"

#define MOST_SINGLE 4u /* of more GPUs there is one line for all */

/* Calls take if there are samples; energies: of the GPUs that have two and more. */
static int with_energies(const struct gp_summary *summary,
			 void (*take)(const struct gp_summary *summary,
				      const struct gp_energies *energies, void *context),
			 void *context)
{
	struct gp_energies energies;

	if (!gp_energy_any(summary->models, summary->model_count))
		return 0;
	gp_energies_of(&energies, summary->models, summary->model_count, &summary->devices);
	take(summary, &energies, context);
	gp_energies_free(&energies);
	return 0;
}

static uint32_t number_of(const struct gp_summary *summary, const struct gp_gpu_energy *gpu)
{
	return summary->devices.entries[gpu->device].number;
}

/* ---- text ---- */

static void print_lowered(FILE *out, const struct gp_gpu_energy *gpu)
{
	const char *before = ": ";

	if (gpu->lowered_ns == 0)
		return;
	fprintf(out, "    clocks lowered for %s %% of the time",
		gp_format_percent((double)gpu->lowered_ns, (double)gpu->covered_ns).text);
	if (gpu->lowered_mhz > 0)
		fprintf(out, " (%.0f MHz; at most %.0f)", gpu->lowered_mhz, gpu->highest_mhz);
	for (size_t i = 0; i < GP_CLOCK_REASONS; i++) {
		if (gpu->reason_ns[i] == 0)
			continue;
		fprintf(out, "%s%s %s %%", before, gp_clock_reasons[i].words,
			gp_format_percent((double)gpu->reason_ns[i], (double)gpu->covered_ns).text);
		before = ", ";
	}
	fputs("\n", out);
}

static void print_gpu(const struct gp_summary *summary, const struct gp_gpu_energy *gpu)
{
	struct gp_step_energy step = gp_step_energy_of(gpu, summary->basis, summary->models);
	FILE *out = summary->out;

	fprintf(out, "  GPU %u: %s in %s, %.1f W on average, at most %.1f", number_of(summary, gpu),
		gp_format_joules(gpu->joules).text, gp_format_ns(gpu->covered_ns).text, gpu->watts,
		gpu->highest_watts);
	if (step.steps > 0)
		fprintf(out, "; %s per step (error %s)", gp_format_joules(step.joules).text,
			gp_format_joules(step.error).text);
	fputs("\n", out);
	print_lowered(out, gpu);
}

static void print_all(const struct gp_summary *summary, const struct gp_energies *energies)
{
	const struct gp_gpu_energy *most = &energies->gpus[0];
	double joules = 0, lowest = (double)INFINITY, highest = 0;

	for (size_t i = 0; i < energies->count; i++) {
		const struct gp_gpu_energy *gpu = &energies->gpus[i];

		joules += gpu->joules;
		lowest = fmin(lowest, gpu->watts);
		highest = fmax(highest, gpu->watts);
		if (gpu->lowered_ns > most->lowered_ns)
			most = gpu;
	}
	fprintf(summary->out,
		"  %zu GPUs: %s in all, each %.1f to %.1f W on average; --by energy\n",
		energies->count, gp_format_joules(joules).text, lowest, highest);
	if (most->lowered_ns == 0)
		return;
	fprintf(summary->out, "  GPU %u longest:\n", number_of(summary, most));
	print_lowered(summary->out, most);
}

static void print_energies(const struct gp_summary *summary, const struct gp_energies *energies,
			   void *context)
{
	(void)context;
	if (energies->count == 0) {
		fputs("\nEnergy: unknown, as the program ended before the second sample; a shorter interval may help (--energy=20ms)\n",
		      summary->out);
		return;
	}
	fprintf(summary->out, "\nEnergy, sampled every %s%s\n",
		gp_format_ns(energies->gpus[0].interval_ns).text,
		energies->gpus[0].is_from_power ? " (the sum of power: the GPU does not count it)"
						: "");
	for (size_t i = 0; energies->count <= MOST_SINGLE && i < energies->count; i++)
		print_gpu(summary, &energies->gpus[i]);
	if (energies->count > MOST_SINGLE)
		print_all(summary, energies);
}

int gp_summary_print_energy(const struct gp_summary *summary)
{
	return with_energies(summary, print_energies, NULL);
}

/* ---- the document ---- */

static void add_step(const struct gp_summary *summary, const struct gp_gpu_energy *gpu,
		     struct gp_document *document)
{
	struct gp_step_energy step = gp_step_energy_of(gpu, summary->basis, summary->models);

	if (step.steps == 0)
		return;
	gp_document_add_number(document, "steps", GP_UNIT_COUNT, step.steps);
	gp_document_add(document, "step_joules", GP_UNIT_JOULES, gp_value_real(step.joules));
	gp_document_add(document, "step_error_joules", GP_UNIT_JOULES, gp_value_real(step.error));
}

static void add_gpu(const struct gp_summary *summary, const struct gp_gpu_energy *gpu,
		    struct gp_document *document)
{
	gp_document_add_row(document);
	gp_document_add_number(document, "device", GP_UNIT_NUMBER, number_of(summary, gpu));
	gp_document_add(document, "joules", GP_UNIT_JOULES, gp_value_real(gpu->joules));
	gp_document_add(document, "watts", GP_UNIT_WATTS, gp_value_real(gpu->watts));
	gp_document_add(document, "highest_watts", GP_UNIT_WATTS,
			gp_value_real(gpu->highest_watts));
	gp_document_add_number(document, "covered_ns", GP_UNIT_NS, gpu->covered_ns);
	gp_document_add_number(document, "interval_ns", GP_UNIT_NS, gpu->interval_ns);
	gp_document_add_flag(document, "is_from_power", gpu->is_from_power);
	gp_document_add_number(document, "lowered_ns", GP_UNIT_NS, gpu->lowered_ns);
	gp_document_add(document, "clock_mhz", GP_UNIT_REAL, gp_value_real(gpu->clock_mhz));
	add_step(summary, gpu, document);
}

static void add_reasons(const struct gp_summary *summary, const struct gp_gpu_energy *gpu,
			struct gp_document *document)
{
	for (size_t i = 0; i < GP_CLOCK_REASONS; i++) {
		if (gpu->reason_ns[i] == 0)
			continue;
		gp_document_add_row(document);
		gp_document_add_text(document, "id", gp_clock_reasons[i].id);
		gp_document_add_text(document, "text", gp_clock_reasons[i].words);
		gp_document_add_number(document, "device", GP_UNIT_NUMBER, number_of(summary, gpu));
		gp_document_add_number(document, "time_ns", GP_UNIT_NS, gpu->reason_ns[i]);
	}
}

static void add_energies(const struct gp_summary *summary, const struct gp_energies *energies,
			 void *context)
{
	struct gp_document *document = context;

	if (energies->count == 0)
		return;
	gp_document_add_section(document, "energy");
	for (size_t i = 0; i < energies->count; i++)
		add_gpu(summary, &energies->gpus[i], document);
	gp_document_add_section(document, "clock_reasons");
	for (size_t i = 0; i < energies->count; i++)
		add_reasons(summary, &energies->gpus[i], document);
}

int gp_summary_add_energy(const struct gp_summary *summary, struct gp_document *document)
{
	return with_energies(summary, add_energies, document);
}
