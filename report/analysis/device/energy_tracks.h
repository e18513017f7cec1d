/*
 * energy_tracks: the samples of --energy as values over time, for the timeline and the page.
 */
#ifndef REPORT_ANALYSIS_DEVICE_ENERGY_TRACKS_H
#define REPORT_ANALYSIS_DEVICE_ENERGY_TRACKS_H

#include <stdint.h>

#include "report/model/model.h"

enum gp_energy_track {
	GP_ENERGY_POWER,   /* mW */
	GP_ENERGY_TOTAL,   /* mJ since the first sample */
	GP_ENERGY_CLOCK,   /* Hz */
	GP_ENERGY_LOWERED, /* thousandths of a percent: all or nothing */
	GP_ENERGY_TRACKS
};

/* Levels are shown divided, with this unit. */
struct gp_energy_track_row {
	const char *name, *unit;
	unsigned divisor;
};

extern const struct gp_energy_track_row gp_energy_tracks[GP_ENERGY_TRACKS];

/* first: the device's first sample. */
uint64_t gp_energy_level(const struct gp_energy *sample, const struct gp_energy *first,
			 enum gp_energy_track track);

#endif
