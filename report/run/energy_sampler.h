/*
 * energy_sampler: samples power, energy and clocks of the GPUs that the processes of a run use
 * (--energy).
 *
 * A process of its own does that: NVML may take long or hang, and the launcher must answer signals.
 * It loads NVML once a process of the run names a GPU in the session (GP_SESSION_DEVICE), so a run
 * without GPU costs nothing, and an unused GPU is not woken up.  After an hour the interval grows
 * with the length of the run, so that the memory for samples does not.
 */
#ifndef REPORT_RUN_ENERGY_SAMPLER_H
#define REPORT_RUN_ENERGY_SAMPLER_H

#include <stdint.h>
#include <sys/types.h>

#include "report/finish/keep_energy.h"
#include "report/finish/session.h"

/* Zeroed = none. */
struct gp_energy_sampler {
	pid_t pid;   /* -1 = it could not be started */
	int line;    /* the process ends when it is closed */
	int samples; /* the file that it writes to, without a name */
};

/* Signals must be blocked.  A failure leaves the run without samples. */
void gp_energy_sampler_start(struct gp_energy_sampler *sampler, const struct gp_session *session,
			     uint64_t interval_ns);

/*
 * Takes the last samples, and ends the process.  The samples stay until this process ends.  Returns
 * NULL, or why there are none.
 */
const char *gp_energy_sampler_end(struct gp_energy_sampler *sampler,
				  struct gp_energy_entries *samples);

#endif
