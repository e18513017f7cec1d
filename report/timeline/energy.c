/* The energy samples (--energy), as counters of their device. */
#include "report/analysis/device/energy_tracks.h"
#include "report/timeline/walk.h"

static const enum gp_timeline_counter_kind kinds[] = {
	[GP_ENERGY_POWER] = GP_TIMELINE_POWER,
	[GP_ENERGY_TOTAL] = GP_TIMELINE_ENERGY,
	[GP_ENERGY_CLOCK] = GP_TIMELINE_CLOCK,
	[GP_ENERGY_LOWERED] = GP_TIMELINE_PERCENT,
};

static void tell_sample(struct gp_timeline *t, const struct gp_energy *sample,
			const struct gp_energy *first)
{
	for (unsigned i = 0; i < GP_ENERGY_TRACKS; i++) {
		const struct gp_energy_track_row *row = &gp_energy_tracks[i];
		struct gp_timeline_counter counter = {
			.kind = kinds[i],
			.time_ns = sample->time_ns,
			.device_id = sample->device_id,
			.name = row->name,
			.series = {{row->unit, gp_energy_level(sample, first, i)}},
			.series_count = 1,
			.changed = GP_NONE};

		gp_walk_counter(t, &counter);
	}
}

void gp_walk_energy(struct gp_timeline *t)
{
	const struct gp_model *model = t->model;
	const struct gp_energy *first = model->energies;

	if (t->slices_only || t->is_table)
		return;
	for (uint32_t i = 0; i < model->energy_count; i++) {
		const struct gp_energy *sample = &model->energies[i];

		if (sample->device_id != first->device_id)
			first = sample;
		if (gp_timeline_shows_moment(t, sample->time_ns))
			tell_sample(t, sample, first);
	}
}
