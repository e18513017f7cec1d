/* The energy samples (--energy), as counters of their device; in tables, as rows. */
#include <stdio.h>

#include "report/analysis/device/energy.h"
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

/* The ids of the reasons, with a space between two. */
static void list_reasons(char *text, size_t bytes, uint32_t reasons)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < GP_CLOCK_REASONS && used < bytes; i++)
		if ((reasons & gp_clock_reasons[i].bit) != 0)
			used += (size_t)snprintf(text + used, bytes - used, "%s%s",
						 used > 0 ? " " : "", gp_clock_reasons[i].id);
}

static void tell_row(struct gp_timeline *t, const struct gp_energy *sample)
{
	char reasons[128];
	struct gp_timeline_event event = {.kind = GP_TIMELINE_ENERGY_SAMPLE,
					  .is_instant = true,
					  .start_ns = sample->time_ns,
					  .end_ns = sample->time_ns,
					  .name = reasons};

	if (!gp_walk_wants(t, &event))
		return;
	list_reasons(reasons, sizeof(reasons), sample->reasons);
	gp_walk_number(&event, "device", sample->device_id);
	gp_walk_number(&event, "power mW", sample->power_mw);
	gp_walk_number(&event, "energy mJ", sample->energy_mj);
	gp_walk_number(&event, "clock MHz", sample->clock_mhz);
	gp_walk_event(t, &event);
}

void gp_walk_energy(struct gp_timeline *t)
{
	const struct gp_model *model = t->model;
	const struct gp_energy *first = model->energies;

	if (t->slices_only)
		return;
	for (uint32_t i = 0; t->is_table && i < model->energy_count; i++)
		tell_row(t, &model->energies[i]);
	if (t->is_table)
		return;
	for (uint32_t i = 0; i < model->energy_count; i++) {
		const struct gp_energy *sample = &model->energies[i];

		if (sample->device_id != first->device_id)
			first = sample;
		if (gp_timeline_shows_moment(t, sample->time_ns))
			tell_sample(t, sample, first);
	}
}
