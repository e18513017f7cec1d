/*
 * communicators: the communicator of NCCL that an operation belongs to, by NCCL's NVTX ranges.
 *
 * A collective's range has the number of its communicator as payload, the same in all ranks. Mostly
 * the kernel is launched in that range. Kernels between ncclGroupStart() and ncclGroupEnd() are
 * launched in the latter's range: they have a communicator if all collectives of the group have the
 * same one.
 */
#ifndef REPORT_ANALYSIS_DEVICE_COMMUNICATORS_H
#define REPORT_ANALYSIS_DEVICE_COMMUNICATORS_H

#include <stdint.h>

#include "report/model/model.h"

/* 0: unknown. */
struct gp_nccl_call {
	uint64_t communicator;
	/* the message size that the program passed; 0 if one kernel runs several operations */
	uint64_t bytes;
};

struct gp_nccl_call gp_nccl_call_of(const struct gp_model *model, const struct gp_op *op);

/* The sizes of a model's communicators, by the ranges that made or ended them.  Zeroed = none. */
struct gp_communicators {
	struct gp_communicator {
		uint64_t id;
		uint32_t ranks;
	} * all;
	uint32_t count, capacity;
};

/* Returns 0 or -ENOMEM; call gp_communicators_free() in either case. */
int gp_communicators_find(struct gp_communicators *communicators, const struct gp_model *model);
void gp_communicators_free(struct gp_communicators *communicators);

/* The number of ranks of a communicator; 0: not recorded. */
uint32_t gp_communicators_ranks(const struct gp_communicators *communicators, uint64_t id);

#endif
