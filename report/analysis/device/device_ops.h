/*
 * device_ops: the timed operations of a device, of all streams, contexts and processes, in the
 * order of their starts; but for copies from host to host (gp_op_is_on_host()), which keep no
 * device busy.
 */
#ifndef REPORT_ANALYSIS_DEVICE_DEVICE_OPS_H
#define REPORT_ANALYSIS_DEVICE_DEVICE_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model/devices.h"
#include "report/base/kway_merge.h"
#include "report/model/model.h"

/* An operation of one of several models. */
struct gp_op_at {
	uint32_t model; /* its index among the models */
	uint32_t op;    /* index in its ops, or GP_NONE: there is none */
};

/* Operations of one stream that stand side by side in a model. */
struct gp_op_run {
	size_t device; /* in the list of devices */
	uint32_t model, first, end;
};

struct gp_device_ops {
	struct gp_model *const *models;
	struct gp_op_run *runs;
	uint32_t run_count, run_capacity;
	uint32_t *next;             /* by run: its next operation */
	struct gp_kway_merge heads; /* of the device that is read */
};

/*
 * devices: gp_device_list_all() of the models.  Returns 0 or -ENOMEM; gp_device_ops_close() in
 * either case.
 */
int gp_device_ops_open(struct gp_device_ops *ops, struct gp_model *const *models,
		       size_t model_count, struct gp_device_list *devices);
void gp_device_ops_close(struct gp_device_ops *ops);

/*
 * Which models have timed or untimed operations on a device: their indices, rising, at most one a
 * model.  Returns how many.
 */
size_t gp_device_ops_users(const struct gp_device_ops *ops, size_t device, uint32_t *users);

/* Begin with the first operation of a device. */
void gp_device_ops_start(struct gp_device_ops *ops, size_t device);

/* False: no more. */
bool gp_device_ops_next(struct gp_device_ops *ops, struct gp_op_at *at);

static inline const struct gp_op *gp_op_of(struct gp_model *const *models, struct gp_op_at at)
{
	return at.op == GP_NONE ? NULL : &models[at.model]->ops[at.op];
}

#endif
