/*
 * energy: what the samples of --energy say about each GPU: energy and mean power of a time, and how
 * long the clocks were lowered.
 *
 * Two successive samples of a process bound a span.  Processes of one GPU have spans of the same
 * time: each time counts once.  Within a span the energy is taken as even.  The energy is that of
 * the GPU, whichever processes use it.
 */
#ifndef REPORT_ANALYSIS_DEVICE_ENERGY_H
#define REPORT_ANALYSIS_DEVICE_ENERGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/analysis/analysis.h"
#include "report/model/devices.h"

enum gp_clock_reason {
#define GP_CLOCK_REASON(NAME, bit, id, words) GP_CLOCK_REASON_##NAME,
#include "gpuprof/clock_reason.def"
#undef GP_CLOCK_REASON
	GP_CLOCK_REASONS
};

struct gp_clock_reason_row {
	uint32_t bit;
	const char *id, *words;
};

extern const struct gp_clock_reason_row gp_clock_reasons[GP_CLOCK_REASONS];

/* Whether the clocks are lowered. */
bool gp_clock_is_lowered(uint32_t reasons);

struct gp_energy_span {
	uint64_t start_ns, end_ns; /* Unix time */
	double joules;
	uint32_t power_mw, reasons; /* at the start, as is the clock */
	uint16_t clock_mhz;
};

/* One GPU that has samples. */
struct gp_gpu_energy {
	size_t device;                /* in the list of devices */
	struct gp_energy_span *spans; /* by time, not overlapping */
	uint32_t count, capacity;
	bool is_from_power;   /* the GPU does not count energy */
	uint64_t covered_ns;  /* the sum of the spans */
	uint64_t interval_ns; /* the median span */
	uint64_t lowered_ns;  /* with lowered clocks; by reason: a time may have several */
	uint64_t reason_ns[GP_CLOCK_REASONS];
	uint64_t first_lowered_ns; /* Unix time; 0 = never */
	double joules, watts;      /* in all; on average */
	double highest_watts;      /* of the samples */
	double clock_mhz, lowered_mhz,
		highest_mhz; /* means, the second while lowered; 0 = unknown */
};

struct gp_energies {
	struct gp_gpu_energy *gpus;
	size_t count;
};

/* Whether any of the models has samples. */
bool gp_energy_any(struct gp_model *const *models, size_t model_count);

/* Returns 0 or -ENOMEM; gp_energies_free() in either case. */
int gp_energies_of(struct gp_energies *energies, struct gp_model *const *models, size_t model_count,
		   const struct gp_device_list *devices);
void gp_energies_free(struct gp_energies *energies);

/* The energy of a time; NAN if samples do not cover it, except for an interval at its ends. */
double gp_gpu_energy_joules(const struct gp_gpu_energy *gpu, uint64_t start_unix_ns,
			    uint64_t end_unix_ns);

/*
 * Of the GPU's steps after the warm-up, with the time between them.  A sample may be up to an
 * interval before or after their first start and last end: that is the error.
 */
struct gp_step_energy {
	uint32_t steps; /* 0 = not known: the process of the GPU has no steps, or several use it */
	double joules, error;
};

struct gp_step_energy gp_step_energy_of(const struct gp_gpu_energy *gpu,
					const struct gp_analysis *basis,
					struct gp_model *const *models);

#endif
