/*
 * gpu_sweep: the state of each device at every instant: the kinds of operations that ran, or the
 * idle cause.
 *
 * The time that counts (struct gp_busy_parts) is cut into segments of one state. All figures on the
 * use of a device's time are sums over these, so that nothing is counted twice or left out. One
 * pass over the operations in the order of their starts.
 */
#ifndef REPORT_ANALYSIS_IDLE_GPU_SWEEP_H
#define REPORT_ANALYSIS_IDLE_GPU_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include "report/analysis/idle/idle_cause.h"
#include "report/analysis/device/kernel_kinds.h"
#include "report/analysis/idle/busy.h"
#include "report/model/devices.h"
#include "report/model/model.h"

/*
 * A state: the running kinds, any of these together, or GP_STATE_IDLE + enum gp_idle_cause; 0:
 * nothing was recorded then.
 */
#define GP_STATE_COMPUTE       1u /* kernels, and graphs that were launched as a whole */
#define GP_STATE_COMMUNICATION 2u /* kernels of that kind */
#define GP_STATE_COPY          4u /* copies and memsets */
#define GP_STATE_BUSY          7u
#define GP_STATE_IDLE          8u
#define GP_STATES              (GP_STATE_IDLE + GP_IDLE_CAUSES)

/* Either function may be NULL. */
struct gp_sweep_taker {
	/*
	 * In the order of time, each from the end of the one before; two in sequence may have the
	 * same state.  Unix ns.
	 */
	void (*segment)(void *context, size_t device, unsigned state, uint64_t start_ns,
			uint64_t end_ns);
	/* After the segments of the gap.  A gap in which recording paused is several. */
	void (*gap)(void *context, const struct gp_gap *gap);
	void *context;
	/*
	 * Whether the order of the segments of a device's gap matters: where it does to no taker, there is
	 * one for each cause, of all of its time, and a gap takes little time however many calls
	 * the host made meanwhile.  NULL: it always does.
	 */
	bool (*needs_order)(void *context, size_t device, uint64_t start_ns, uint64_t end_ns);
};

/* For takers to which the order of idle segments never matters. */
bool gp_sweep_needs_no_order(void *context, size_t device, uint64_t start_ns, uint64_t end_ns);

/*
 * Sweeps over the devices of the models' gp_device_list_all(), one after the other, for all takers
 * together. Returns 0 or -ENOMEM.
 */
int gp_gpu_sweep(struct gp_model *const *models, size_t model_count, struct gp_window window,
		 struct gp_device_list *devices, const struct gp_kinds *kinds,
		 const struct gp_sweep_taker *takers, size_t taker_count);

#endif
