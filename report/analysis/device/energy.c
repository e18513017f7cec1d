#include "report/analysis/device/energy.h"

#include <math.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/base/stats.h"

const struct gp_clock_reason_row gp_clock_reasons[GP_CLOCK_REASONS] = {
#define GP_CLOCK_REASON(NAME, bit, id, words) [GP_CLOCK_REASON_##NAME] = {bit, id, words},
#include "gpuprof/clock_reason.def"
#undef GP_CLOCK_REASON
};

bool gp_clock_is_lowered(uint32_t reasons)
{
	uint32_t any = 0;

	for (size_t i = 0; i < GP_CLOCK_REASONS; i++)
		any |= gp_clock_reasons[i].bit;
	return (reasons & any) != 0;
}

bool gp_energy_any(struct gp_model *const *models, size_t model_count)
{
	for (size_t i = 0; i < model_count; i++)
		if (models[i]->energy_count > 0)
			return true;
	return false;
}

/* ---- spans ---- */

/* A counter that went back was reset. */
static double joules_between(const struct gp_energy *before, const struct gp_energy *after)
{
	return after->energy_mj > before->energy_mj
		       ? (double)(after->energy_mj - before->energy_mj) / 1e3
		       : 0;
}

static void add_span(struct gp_gpu_energy *gpu, const struct gp_model *model,
		     const struct gp_energy *before)
{
	gp_array_grow(&gpu->spans, &gpu->capacity, gpu->count, sizeof(*gpu->spans));
	gpu->spans[gpu->count++] = (struct gp_energy_span){
		.start_ns = model->base_unix_ns + before->time_ns,
		.end_ns = model->base_unix_ns + before[1].time_ns,
		.joules = joules_between(before, before + 1),
		.power_mw = before->power_mw,
		.reasons = before->reasons,
		.clock_mhz = before->clock_mhz,
	};
	gpu->is_from_power |= before->is_from_power;
}

GP_COMPARE_BY_TWO(compare_spans, struct gp_energy_span, start_ns, end_ns)

/*
 * Where spans overlap, the first counts.  Two processes may have the same span at slightly different
 * times, as their clocks are converted separately: one that adds less than half of itself is left
 * out.
 */
static void make_disjoint(struct gp_gpu_energy *gpu)
{
	uint64_t reached_ns = 0;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < gpu->count; i++) {
		struct gp_energy_span span = gpu->spans[i];

		if (span.end_ns <= reached_ns)
			continue;
		if (span.start_ns < reached_ns) {
			if (2 * (span.end_ns - reached_ns) < span.end_ns - span.start_ns)
				continue;
			span.joules *= (double)(span.end_ns - reached_ns) /
				       (double)(span.end_ns - span.start_ns);
			span.start_ns = reached_ns;
		}
		if (span.end_ns > span.start_ns)
			gpu->spans[kept++] = span;
		reached_ns = span.end_ns;
	}
	gpu->count = kept;
}

/* ---- sums ---- */

static void add_lowered(struct gp_gpu_energy *gpu, const struct gp_energy_span *span)
{
	uint64_t ns = span->end_ns - span->start_ns;

	if (!gp_clock_is_lowered(span->reasons))
		return;
	if (gpu->lowered_ns == 0)
		gpu->first_lowered_ns = span->start_ns;
	gpu->lowered_ns += ns;
	gpu->lowered_mhz += (double)ns * span->clock_mhz;
	for (size_t i = 0; i < GP_CLOCK_REASONS; i++)
		gpu->reason_ns[i] += (span->reasons & gp_clock_reasons[i].bit) != 0 ? ns : 0;
}

static void add_up(struct gp_gpu_energy *gpu)
{
	for (uint32_t i = 0; i < gpu->count; i++) {
		const struct gp_energy_span *span = &gpu->spans[i];
		uint64_t ns = span->end_ns - span->start_ns;

		gpu->covered_ns += ns;
		gpu->joules += span->joules;
		gpu->clock_mhz += (double)ns * span->clock_mhz;
		gpu->highest_watts = fmax(gpu->highest_watts, span->power_mw / 1e3);
		gpu->highest_mhz = fmax(gpu->highest_mhz, span->clock_mhz);
		add_lowered(gpu, span);
	}
	if (gpu->covered_ns > 0) {
		gpu->watts = gpu->joules / ((double)gpu->covered_ns / 1e9);
		gpu->clock_mhz /= (double)gpu->covered_ns;
	}
	if (gpu->lowered_ns > 0)
		gpu->lowered_mhz /= (double)gpu->lowered_ns;
}

static void find_interval(struct gp_gpu_energy *gpu)
{
	uint64_t *lengths = malloc((gpu->count + 1) * sizeof(*lengths));

	for (uint32_t i = 0; i < gpu->count; i++)
		lengths[i] = gpu->spans[i].end_ns - gpu->spans[i].start_ns;
	if (gpu->count > 0)
		gpu->interval_ns = gp_stats_select(lengths, gpu->count, gpu->count / 2);
	free(lengths);
}

static void sum_up(struct gp_gpu_energy *gpu)
{
	gp_array_sort(gpu->spans, gpu->count, sizeof(*gpu->spans), compare_spans, NULL);
	make_disjoint(gpu);
	add_up(gpu);
	find_interval(gpu);
}

/* ---- all GPUs ---- */

static bool is_in_part(const struct gp_part *part, const struct gp_energy *sample)
{
	return !part->is_one || (sample->time_ns >= part->from_ns && sample->time_ns < part->to_ns);
}

static void take_model(struct gp_energies *energies, const struct gp_model *model,
		       const struct gp_device_list *devices)
{
	for (uint32_t i = 0; i + 1 < model->energy_count; i++) {
		const struct gp_energy *before = &model->energies[i];
		size_t device;

		if (before[1].device_id != before->device_id || !is_in_part(&model->part, before))
			continue;
		device = gp_device_list_known(devices, model, before->device_id);
		if (device < devices->count)
			add_span(&energies->gpus[device], model, before);
	}
}

static void drop_empty(struct gp_energies *energies)
{
	size_t kept = 0;

	for (size_t i = 0; i < energies->count; i++)
		if (energies->gpus[i].count > 0)
			energies->gpus[kept++] = energies->gpus[i];
		else
			free(energies->gpus[i].spans);
	energies->count = kept;
}

int gp_energies_of(struct gp_energies *energies, struct gp_model *const *models, size_t model_count,
		   const struct gp_device_list *devices)
{
	*energies = (struct gp_energies){calloc(devices->count + 1, sizeof(*energies->gpus)), 0};
	energies->count = devices->count;
	for (size_t i = 0; i < energies->count; i++)
		energies->gpus[i].device = i;
	for (size_t m = 0; m < model_count; m++)
		take_model(energies, models[m], devices);
	for (size_t i = 0; i < energies->count; i++)
		sum_up(&energies->gpus[i]);
	drop_empty(energies);
	return 0;
}

void gp_energies_free(struct gp_energies *energies)
{
	for (size_t i = 0; i < energies->count; i++)
		free(energies->gpus[i].spans);
	free(energies->gpus);
	*energies = (struct gp_energies){0};
}

/* ---- a time ---- */

double gp_gpu_energy_joules(const struct gp_gpu_energy *gpu, uint64_t start_unix_ns,
			    uint64_t end_unix_ns)
{
	uint64_t covered_ns = 0;
	double joules = 0;

	for (uint32_t i = 0; i < gpu->count; i++) {
		const struct gp_energy_span *span = &gpu->spans[i];
		uint64_t from_ns = span->start_ns > start_unix_ns ? span->start_ns : start_unix_ns;
		uint64_t to_ns = span->end_ns < end_unix_ns ? span->end_ns : end_unix_ns;

		if (to_ns <= from_ns)
			continue;
		covered_ns += to_ns - from_ns;
		joules += span->joules * (double)(to_ns - from_ns) /
			  (double)(span->end_ns - span->start_ns);
	}
	if (covered_ns == 0 || covered_ns + 2 * gpu->interval_ns < end_unix_ns - start_unix_ns)
		return (double)NAN;
	return joules / (double)covered_ns * (double)(end_unix_ns - start_unix_ns);
}

/* ---- steps ---- */

struct gp_step_energy gp_step_energy_of(const struct gp_gpu_energy *gpu,
					const struct gp_analysis *basis,
					struct gp_model *const *models)
{
	size_t process = basis ? basis->owners[gpu->device] : SIZE_MAX;
	const struct gp_iterations *iterations;
	uint64_t start_ns, end_ns;
	uint32_t first = 0, count;
	double joules;

	if (process == SIZE_MAX || basis->steps[process].count == 0)
		return (struct gp_step_energy){0};
	iterations = &basis->iterations[process];
	while (first < iterations->count && basis->steps[process].parts[first] == GP_RUN_WARM_UP)
		first++;
	count = iterations->count - first;
	if (count == 0)
		return (struct gp_step_energy){0};
	start_ns = models[process]->base_unix_ns + iterations->rows[first].start_ns;
	end_ns = models[process]->base_unix_ns + iterations->rows[iterations->count - 1].end_ns;
	joules = gp_gpu_energy_joules(gpu, start_ns, end_ns);
	if (isnan(joules))
		return (struct gp_step_energy){0};
	return (struct gp_step_energy){
		.steps = count,
		.joules = joules / count,
		.error = gpu->watts * (double)gpu->interval_ns / 1e9 / count,
	};
}
