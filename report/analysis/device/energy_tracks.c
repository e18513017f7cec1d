#include "report/analysis/device/energy_tracks.h"

#include "report/analysis/device/energy.h"
#include "report/analysis/device/hw_metrics.h"

const struct gp_energy_track_row gp_energy_tracks[GP_ENERGY_TRACKS] = {
	[GP_ENERGY_POWER] = {"power", "W", 1000},
	[GP_ENERGY_TOTAL] = {"energy", "J", 1000},
	[GP_ENERGY_CLOCK] = {"SM clock", "MHz", 1000000},
	[GP_ENERGY_LOWERED] = {"clocks lowered", "%", 1000},
};

uint64_t gp_energy_level(const struct gp_energy *sample, const struct gp_energy *first,
			 enum gp_energy_track track)
{
	switch (track) {
	case GP_ENERGY_POWER:
		return sample->power_mw;
	case GP_ENERGY_TOTAL:
		return sample->energy_mj > first->energy_mj ? sample->energy_mj - first->energy_mj
							    : 0;
	case GP_ENERGY_CLOCK:
		return UINT64_C(1000000) * sample->clock_mhz;
	default:
		return gp_clock_is_lowered(sample->reasons) ? (uint64_t)GP_HW_ALL : 0;
	}
}
