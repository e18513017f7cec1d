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

/* 0: it is not known. */
uint64_t gp_communicator_of(const struct gp_model *model, const struct gp_op *op);

#endif
