/*
 * communicators: of which communicator of NCCL's an operation is, as NCCL's NVTX ranges tell.
 *
 * A collective's range has the number of its communicator as payload, the same in all ranks.
 * Mostly the kernel is launched in that range; of those between ncclGroupStart() and ncclGroupEnd()
 * in the range of the latter: if all of the group are of one communicator, it is that one.
 */
#ifndef REPORT_ANALYSIS_DEVICE_COMMUNICATORS_H
#define REPORT_ANALYSIS_DEVICE_COMMUNICATORS_H

#include <stdint.h>

#include "report/model/model.h"

/* 0: it is not known. */
uint64_t gp_communicator_of(const struct gp_model *model, const struct gp_op *op);

#endif
