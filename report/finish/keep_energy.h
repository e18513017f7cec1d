/*
 * keep_energy: stores the launcher's samples of the GPUs' energy (report/run/energy_sampler.h) in
 * the model and the trace of each process that used these GPUs while it ran.
 */
#ifndef REPORT_FINISH_KEEP_ENERGY_H
#define REPORT_FINISH_KEEP_ENERGY_H

#include "report/model/model.h"

/* A sample, as the sampler writes it; the device id is 0. */
struct gp_energy_entry {
	uint8_t uuid[16];
	struct gp_record_energy record;
};

/* By time. */
struct gp_energy_entries {
	const struct gp_energy_entry *list;
	size_t count;
};

/*
 * save_to: the trace, for appending; -1 = keep the samples in the model only.  Does nothing if the
 * model has samples.  Failures leave them out.
 */
void gp_keep_energy(struct gp_model *model, const struct gp_energy_entries *entries, int save_to);

#endif
